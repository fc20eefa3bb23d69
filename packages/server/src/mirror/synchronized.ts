import type { Deps } from '../deps.ts';

/** How long a negative result is cached. Readiness can be requested without authentication, so requests must not load the store. */
const cacheMs = 1000;

/**
 * Returns a function that resolves to whether a mirror has completed its first synchronization. It then serves in every state of the source.
 *
 * @param mirror `undefined` for a server that is no mirror, which is always synchronized
 */
export function createSynchronizedCheck(
  { store }: Pick<Deps, 'store'>,
  mirror: object | undefined,
): () => Promise<boolean> {
  let isComplete = mirror === undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (isComplete || performance.now() - readAtMs < cacheMs) return isComplete;
    readAtMs = performance.now();
    const completedAtMs = (await store.read.mirror())?.completedAtMs ?? null;
    isComplete = completedAtMs !== null;
    return isComplete;
  };
}
