import type { Clock, RateLimiter } from '../domain/ports.ts';

/** The most keys that are remembered; beyond it, those that are idle are forgotten. */
const maxKeys = 100_000;

/**
 * The generic cell rate algorithm: one number a key, the time at which all that it did so far is paid for. It needs no
 * timers and no windows, at whose borders a client could do twice as much.
 *
 * @param perSecond what a key may do in the long run
 * @param burst what it may do at once
 */
export function createRateLimiter(perSecond: number, burst: number, clock: Clock): RateLimiter {
  const costMs = 1000 / perSecond;
  const paidAtMs = new Map<string, number>();

  const waitMs = (key: string, nowMs: number): number => {
    const paid = Math.max(nowMs, paidAtMs.get(key) ?? 0);
    return Math.max(0, paid + costMs - (nowMs + burst * costMs));
  };
  const forgetIdle = (nowMs: number): void => {
    for (const [key, paid] of paidAtMs) if (paid <= nowMs) paidAtMs.delete(key);
    // Everybody is busy: forgetting who came first does less harm than growing without end.
    for (const key of paidAtMs.keys()) {
      if (paidAtMs.size < maxKeys) break;
      paidAtMs.delete(key);
    }
  };
  return {
    take(key) {
      const nowMs = clock();
      const wait = waitMs(key, nowMs);
      if (wait > 0) return Math.ceil(wait / 1000);
      if (paidAtMs.size >= maxKeys) forgetIdle(nowMs);
      paidAtMs.set(key, Math.max(nowMs, paidAtMs.get(key) ?? 0) + costMs);
      return 0;
    },
    give(key) {
      const paid = paidAtMs.get(key);
      if (paid !== undefined) paidAtMs.set(key, paid - costMs);
    },
  };
}
