import type { AuditLinkRecord, AuditPosition } from '../db/audit-chain-records.ts';
import { StorageFullError, UnavailableError } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { chainStart, sealEvent } from './chain.ts';

/** How many events one transaction seals. */
export const sealBatchSize = 500;

type SealDeps = Pick<Deps, 'store' | 'clock' | 'random'>;

/**
 * Appends committed events to the hash chain until all are sealed. Any number of processes may seal at the same time: the head of the chain
 * is locked.
 *
 * @returns the number of sealed events
 */
export async function sealAuditEvents(deps: SealDeps, signal?: AbortSignal): Promise<number> {
  for (let sealed = 0; ; ) {
    signal?.throwIfAborted();
    if (!(await deps.store.read.isAnyAuditEventUnsealed())) return sealed;
    sealed += await sealBatch(deps);
  }
}

async function sealBatch({ store, clock, random }: SealDeps): Promise<number> {
  return store.writeLocking(async (tx) => {
    let head: AuditPosition = await tx.lockAuditHead();
    const events = await tx.takeUnsealedAuditEvents(sealBatchSize);
    const links: AuditLinkRecord[] = [];
    for (const event of events) {
      const link = sealEvent(event, head, clock(), random);
      links.push(link);
      head = link;
    }
    if (links.length === 0) return 0;
    await tx.insertAuditLinks(links);
    await tx.putAuditPosition({ kind: 'head', seq: head.seq, hash: head.hash });
    return links.length;
  });
}

/** As {@link sealAuditEvents}, but leaves events unsealed if the store can't be written. */
export async function sealIfPossible(deps: SealDeps, signal?: AbortSignal): Promise<void> {
  try {
    await sealAuditEvents(deps, signal);
  } catch (error) {
    if (!(error instanceof StorageFullError || error instanceof UnavailableError)) throw error;
  }
}

/** Reads the newest position of the chain. */
export async function readAuditHead({ store }: Pick<Deps, 'store'>): Promise<AuditPosition> {
  return (await store.read.auditPosition('head')) ?? chainStart;
}
