import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy, translateError } from './errors.ts';

/** The longest pause between two attempts. Commits take about as long, so a waiting process soon meets a gap. */
const maxPauseMs = 10;

/**
 * Runs something synchronous on the database until no other process is in its way. SQLite's own waiting would block the
 * thread, and all requests with it; this lets them go on.
 *
 * @param waitMs how long to go on trying
 * @throws UnavailableError when the database stays busy, ConflictError and StorageFullError as SQLite tells them
 */
export async function whenFree<T>(run: () => T, waitMs: number): Promise<T> {
  const endMs = performance.now() + waitMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return run();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= endMs) throw translateError(error);
    }
    await sleep(Math.min(1 + attempt / 8, maxPauseMs));
  }
}
