import type { Context } from '../context.ts';
import type { LeaseKind } from './ports.ts';

/** Something held for some time. */
export interface Lease {
  /** Makes it longer, when a third of its time is over: to be called again and again while at work. */
  renew(): Promise<void>;
  /** Gives it back. What is never given back ends by itself. */
  release(): Promise<void>;
}

export interface LeaseOptions {
  /** How long it lasts without being renewed, in milliseconds. */
  readonly lengthMs: number;
  /** Whether nobody else may hold one of the kind. */
  readonly isExclusive: boolean;
}

/** How many random bytes name a holder. */
const holderBytes = 12;

/**
 * Takes a lease: a note in the store, which every process on the same data sees.
 *
 * @returns `undefined` when it is exclusive and somebody else holds one
 */
export async function takeLease(
  { store, clock, random }: Pick<Context, 'store' | 'clock' | 'random'>,
  kind: LeaseKind,
  { lengthMs, isExclusive }: LeaseOptions,
): Promise<Lease | undefined> {
  const holder = Buffer.from(random(holderBytes)).toString('base64url');
  let untilMs = clock() + lengthMs;
  const isTaken = await store.write(async (tx) => {
    const nowMs = clock();
    if (isExclusive && (await tx.leaseHolders(kind, nowMs)).length > 0) return false;
    await tx.deleteEndedLeases(kind, nowMs);
    await tx.putLease({ kind, holder, untilMs });
    return true;
  });
  if (!isTaken) return undefined;
  return {
    async renew() {
      const nowMs = clock();
      if (untilMs - nowMs > (lengthMs * 2) / 3) return;
      untilMs = nowMs + lengthMs;
      await store.write((tx) => tx.putLease({ kind, holder, untilMs }));
    },
    release: () => store.write((tx) => tx.deleteLease({ kind, holder })),
  };
}
