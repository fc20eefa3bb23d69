import type { LeaseKind } from '../db/blob-records.ts';
import type { Deps } from '../deps.ts';

/** A lock that expires unless it is renewed. */
export interface Lease {
  /** The unique id of its holder. */
  readonly holder: string;
  /** Renews the lease if a third of its time has passed. Call it often during the work. */
  renew(): Promise<void>;
  /** Releases the lease before it expires. */
  release(): Promise<void>;
}

interface LeaseOptions {
  /** After how long the lease expires if it is not renewed. */
  readonly lengthMs: number;
  /** Whether only one holder may have a lease of this kind. */
  readonly isExclusive: boolean;
}

/** The length of a holder's random id. */
const holderBytes = 12;

/**
 * Takes a lease. It is stored in the database, so that it holds for all processes on the same data.
 *
 * @returns `undefined` if the lease is exclusive and there is another holder
 */
export async function takeLease(
  { store, clock, random }: Pick<Deps, 'store' | 'clock' | 'random'>,
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
    holder,
    async renew() {
      const nowMs = clock();
      if (untilMs - nowMs > (lengthMs * 2) / 3) return;
      untilMs = nowMs + lengthMs;
      await store.write((tx) => tx.putLease({ kind, holder, untilMs }));
    },
    release: () => store.write((tx) => tx.deleteLease({ kind, holder })),
  };
}
