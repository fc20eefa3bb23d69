import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pino from 'pino';
import { createStartupRetry } from './startup-retry.ts';
import { UnavailableError } from './store.ts';

describe('createStartupRetry()', () => {
  const open = (waitMs?: number) => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    return { lines, retry: createStartupRetry(log, waitMs) };
  };
  const unavailable = () => new UnavailableError('Cannot reach the database');

  it('retries while a store is unavailable, and logs once', async () => {
    const { lines, retry } = open();
    let tries = 0;
    const work = async () => {
      if (++tries % 3 !== 0) throw unavailable();
      return tries;
    };
    assert.equal(await retry(work), 3);
    assert.equal(await retry(work), 6);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).msg),
      ['waiting for the stores'],
    );
  });

  it('throws the last error after the deadline', async () => {
    await assert.rejects(
      open(0).retry(() => Promise.reject(unavailable())),
      UnavailableError,
    );
  });

  it('does not retry after another error', async () => {
    let tries = 0;
    const failing = open().retry(async () => {
      tries++;
      throw new Error('The schema is newer');
    });
    await assert.rejects(failing, /newer/);
    assert.equal(tries, 1);
  });
});
