import {
  type AppId,
  type ContentAddress,
  type ExtensionPointId,
  isContentAddress,
  maxLoadedAddresses,
  type UserId,
} from '@tenon/protocol';
import type { CredentialId } from '../auth/last-used-log.ts';
import { addToSketch, type Sketch, type SketchEntry } from './sketch.ts';
import { addAgent } from './usage-detail.ts';
import { reduceUserAgent } from './user-agent.ts';

/** What a request got: a binding list, or a content. */
export type UsageTarget =
  | {
      readonly kind: 'list';
      readonly appId: AppId;
      readonly extensionPointId: ExtensionPointId;
      /** `undefined` for lists of which too many were requested. */
      readonly guestKey: string | undefined;
    }
  | {
      readonly kind: 'content';
      readonly address: ContentAddress;
      readonly userId: UserId;
      /** The application that the token is restricted to. */
      readonly tokenAppId: AppId | null;
    };

/** Equal requests of a token. */
export interface Requests {
  readonly target: UsageTarget;
  readonly credential: CredentialId;
  readonly sketched: SketchEntry;
  readonly count: number;
  /** The time of the last one. */
  readonly lastMs: number;
  /** The `user-agent`. */
  readonly agent: string | undefined;
  /** The `tenon-loaded` header. */
  readonly loaded: string | string[] | undefined;
}

/** The requests for a list, or those of a token for a content, in an hour. */
export interface Tally {
  readonly target: UsageTarget;
  readonly hourMs: number;
  count: number;
  lastMs: number;
  readonly tokens: Sketch;
  /** Some of the tokens, to find the guests that a content was fetched for. */
  readonly credentials: Set<CredentialId>;
  readonly agents: Map<string, number>;
  /** Reports by content address. */
  readonly loaded: Map<ContentAddress, { count: number; lastMs: number }>;
}

/** How many tokens a tally remembers besides the sketch. */
const maxCredentials = 100;

/** How many contents a tally has reports of. */
const maxLoaded = 64;

/** Adds up requests by hour and target, in bounded memory. */
export class UsageBatch {
  readonly tallies = new Map<string, Tally>();
  /** Requests that were not counted, because there were too many targets. */
  dropped = 0;
  readonly #maxTallies: number;

  /** @param maxTallies the maximum number of lists and contents; as many extension points are counted without their lists */
  constructor(maxTallies: number) {
    this.#maxTallies = maxTallies;
  }

  add(hourMs: number, requests: Requests): void {
    const tally = this.#tallyOf(hourMs, requests);
    if (tally === undefined) {
      this.dropped += requests.count;
      return;
    }
    const { count, lastMs } = requests;
    tally.count += count;
    tally.lastMs = Math.max(tally.lastMs, lastMs);
    addToSketch(tally.tokens, requests.sketched);
    if (tally.credentials.size < maxCredentials) tally.credentials.add(requests.credential);
    addAgent(tally.agents, reduceUserAgent(requests.agent), count);
    for (const address of loadedAddresses(requests.loaded)) {
      const known = tally.loaded.get(address);
      if (known !== undefined) {
        known.count += count;
        known.lastMs = Math.max(known.lastMs, lastMs);
      } else if (tally.loaded.size < maxLoaded) tally.loaded.set(address, { count, lastMs });
    }
  }

  #tallyOf(hourMs: number, { target, credential, lastMs }: Requests): Tally | undefined {
    const key = `${hourMs} ${target.kind === 'list' ? `${target.extensionPointId} ${target.guestKey}` : `${credential} ${target.address}`}`;
    const known = this.tallies.get(key);
    if (known !== undefined) return known;
    if (this.tallies.size < this.#maxTallies) return this.#insert(key, hourMs, target, lastMs);
    if (target.kind === 'content') return undefined;
    const folded = `${hourMs} ${target.extensionPointId}`;
    const ofPoint = this.tallies.get(folded);
    if (ofPoint !== undefined || this.tallies.size >= 2 * this.#maxTallies) return ofPoint;
    return this.#insert(folded, hourMs, { ...target, guestKey: undefined }, lastMs);
  }

  #insert(key: string, hourMs: number, target: UsageTarget, lastMs: number): Tally {
    const sums = { count: 0, lastMs, tokens: new Map(), credentials: new Set<CredentialId>() };
    const tally: Tally = { target, hourMs, ...sums, agents: new Map(), loaded: new Map() };
    this.tallies.set(key, tally);
    return tally;
  }
}

/** A longer header of loaded versions is ignored. */
export const maxLoadedLength = maxLoadedAddresses * 50;

/** Parses `tenon-loaded`. A malformed header has no addresses. */
export function loadedAddresses(header: string | string[] | undefined): readonly ContentAddress[] {
  if (typeof header !== 'string' || header.length > maxLoadedLength) return [];
  const addresses = [...new Set(header.split(',').map((part) => part.trim()))];
  return addresses.length <= maxLoadedAddresses && addresses.every(isContentAddress) ? addresses : [];
}
