import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AuditPosition } from '../db/audit-chain-records.ts';
import type { Deps } from '../deps.ts';
import { readAuditHead, sealAuditEvents } from './seal.ts';
import { verifyAuditChain } from './verify-chain.ts';

/** How often the sealer looks for committed events, in milliseconds. */
const pollMs = 1000;

/** How often the sealer verifies the newest links, in milliseconds, and how many. `tenon admin verify` verifies all. */
const verifyIntervalMs = 60 * 60_000;
const verifiedLinks = 10_000;

/** The longest pause while the store can't be written, in milliseconds. */
const maxPauseMs = 60_000;

export interface SealerDeps {
  readonly deps: Pick<Deps, 'store' | 'clock' | 'random'>;
  readonly log: Logger;
}

/** Appends committed events to the hash chain until it is stopped. */
export type AuditSealer = ReturnType<typeof startAuditSealer>;

export function startAuditSealer({ deps, log }: SealerDeps) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const state = { head: undefined as AuditPosition | undefined, faults: 0 };
  let verifiedAtMs = Number.NEGATIVE_INFINITY;
  let failures = 0;
  let knownRevision: number | undefined;

  const seal = async (): Promise<void> => {
    const revision = deps.store.revision();
    if (revision === knownRevision) return; // nothing was committed since
    await sealAuditEvents(deps, signal);
    state.head = await readAuditHead(deps);
    knownRevision = revision;
  };
  const verify = async (): Promise<void> => {
    if (performance.now() - verifiedAtMs < verifyIntervalMs) return;
    const { faults } = await verifyAuditChain(deps, { newest: verifiedLinks, signal });
    verifiedAtMs = performance.now();
    state.faults = faults.length;
    const [first] = faults;
    if (first !== undefined) log.error({ ...first, faults: faults.length }, 'audit chain: broken');
  };
  const run = async (): Promise<void> => {
    for (;;) {
      try {
        await seal();
        await verify();
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (++failures === 1) log.warn({ err: error }, 'audit chain: cannot seal');
      }
      await sleep(Math.min(maxPauseMs, pollMs * 2 ** failures), undefined, { ref: false, signal });
    }
  };
  const ended = run().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'audit chain: stopped');
  });
  return {
    /** The head, and the number of faults of the last verification, as this process knows them. */
    state: state as Readonly<typeof state>,
    async stop(): Promise<void> {
      stopping.abort();
      await ended;
    },
  };
}
