import { randomBytes } from 'node:crypto';
import { type ContentAddress, newId, type UserId } from '@tenon/protocol';
import type { Actor } from '../../src/auth/access.ts';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import { createStoredContents } from '../../src/blobs/stored-contents.ts';
import { createCache } from '../../src/cache/cache.ts';
import { blobKey } from '../../src/db/blob-key.ts';
import type { AppRecord, ExtensionPointRecord, GuestRecord, PluginRecord, TokenRecord } from '../../src/db/records.ts';
import type { Store } from '../../src/db/store.ts';
import { unrestricted } from '../../src/db/trust-records.ts';
import type { Deps } from '../../src/deps.ts';
import { publish } from '../../src/plugins/publish.ts';
import { accountServices } from '../helpers/account-services.ts';
import { anyModule } from '../helpers/any-module.ts';
import { bytesOf } from '../helpers/bytes.ts';
import { someTimeMs } from '../helpers/records.ts';
import type { Backend } from './backend.ts';

/** The steps of a publish before those of the blob store. */
export const stepsBeforeBlob = ['hold', 'commit of the hold'] as const;

/** The steps of a publish after those of the blob store. */
export const stepsAfterBlob = ['transaction', 'commit', 'look', 'answer'] as const;

/** Who publishes what where. */
export interface Stage {
  readonly userId: UserId;
  readonly app: AppRecord;
  readonly extensionPoint: ExtensionPointRecord;
  readonly guest: GuestRecord;
}

/** A publish that was answered. */
export interface Acknowledged {
  readonly number: number;
  readonly contentAddress: ContentAddress;
}

export interface Publisher {
  readonly store: Store;
  readonly blobs: BlobStore;
  /** Publishes `pluginBytes(name, round)` as the next version of the plugin of that name. */
  publish(name: string, round: number): Promise<Acknowledged>;
  publishBytes(name: string, bytes: Uint8Array): Promise<Acknowledged>;
  /** Deletes the plugin of that name with all its versions. */
  remove(name: string): Promise<void>;
  plugin(name: string): Promise<PluginRecord | undefined>;
  /** The bytes of a content, unchecked; `undefined` when it has no row, or no object. */
  open(address: ContentAddress): Promise<AsyncIterable<Uint8Array> | undefined>;
  close(): Promise<void>;
}

/** What is published under a name in one round, and never else. */
export function pluginBytes(name: string, round: number): Uint8Array {
  const seed = [...name].reduce((hash, character) => Math.imul(hash, 31) + character.charCodeAt(0), round);
  return bytesOf(seed, 100_000);
}

/**
 * Opens stores and makes the domain's publish work on them.
 *
 * @param onStep called with the name of each step of a publish, before it is made
 */
export async function openPublisher(
  backend: Backend,
  location: string,
  stage: Stage,
  onStep?: (step: string) => void,
): Promise<Publisher> {
  const store = await backend.openStore(location);
  const blobs = await backend.openBlobs(location, onStep);
  const deps: Deps = {
    store: onStep === undefined ? store : watchedStore(store, onStep),
    blobs,
    contents: createStoredContents({ store, blobs }),
    checker: anyModule,
    cache: createCache(store),
    clock: () => someTimeMs,
    random: randomBytes,
    ...accountServices(),
  };
  const { userId, app, extensionPoint, guest } = stage;
  const token: TokenRecord = {
    id: newId('token'),
    userId,
    name: 'publisher',
    secretHash: randomBytes(32).toString('hex'),
    scopes: ['publish'],
    appId: null,
    sessionId: null,
    createdAtMs: someTimeMs,
    expiresAtMs: Number.MAX_SAFE_INTEGER,
    lastUsedAtMs: null,
    ...unrestricted,
  };
  await store.write((tx) => tx.insertToken(token));
  const actor: Actor = {
    userId,
    tokenId: token.id,
    scopes: ['publish'],
    appId: null,
    sessionId: null,
    hasPasskey: false,
    expiresAtMs: Infinity,
    ...unrestricted,
  };
  const access = { actor, app, extensionPoint, role: 'guest', guests: [guest], hasMoreGuests: false } as const;
  const publishBytes: Publisher['publishBytes'] = async (name, bytes) => {
    const { plugin } = await publish(deps, actor, access, { userId, name }, { bytes });
    onStep?.('answer');
    return { number: plugin.newest.number, contentAddress: plugin.newest.contentAddress };
  };
  return {
    store,
    blobs,
    publish: (name, round) => publishBytes(name, pluginBytes(name, round)),
    publishBytes,
    remove: (name) => store.write((tx) => tx.deletePlugin({ extensionPointId: extensionPoint.id, userId, name })),
    plugin: (name) => store.read.plugin({ extensionPointId: extensionPoint.id, userId, name }),
    async open(address) {
      const row = await store.read.blob(address);
      return row && blobs.open(blobKey(row));
    },
    async close() {
      await blobs.close();
      await store.close();
    },
  };
}

/** Of the two transactions of a publish the first holds the bytes' row, and the second makes the version. */
function watchedStore(store: Store, onStep: (step: string) => void): Store {
  let isHeld = false;
  return {
    ...store,
    async write(work) {
      const [begin, commit] = isHeld ? (['transaction', 'commit'] as const) : (['hold', 'commit of the hold'] as const);
      onStep(begin);
      const result = await store.write(async (tx) => {
        const answer = await work(tx);
        onStep(commit);
        return answer;
      });
      if (isHeld) onStep('look');
      isHeld = !isHeld;
      return result;
    },
  };
}
