import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  /** How long to poll; far longer than any test takes, since the machine may be busy. */
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
  /** What the error says after the timeout. */
  readonly message?: string | (() => string);
}

/**
 * Polls until a condition holds.
 *
 * @returns the first value that is not `undefined`, `null` or `false`
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 180_000, intervalMs = 10, message = 'the condition did not hold' }: UntilOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  for (const endsAt = performance.now() + timeoutMs; ; await sleep(intervalMs)) {
    const value = await condition();
    if (value !== undefined && value !== null && value !== false) return value as Exclude<T, undefined | null | false>;
    if (performance.now() > endsAt) {
      assert.fail(`Timed out after ${timeoutMs} ms: ${typeof message === 'string' ? message : message()}`);
    }
  }
}
