import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pino from 'pino';
import { UnavailableError } from './domain/ports.ts';
import { startPatiently } from './start-patiently.ts';

describe('startPatiently()', () => {
  const open = (waitMs?: number) => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    return { lines, patiently: startPatiently(log, waitMs) };
  };
  const away = () => new UnavailableError('Cannot get to the database: gone');

  it('does again what failed because a store was away, and says so once', async () => {
    const { lines, patiently } = open();
    let tries = 0;
    const work = async () => {
      if (++tries % 3 !== 0) throw away();
      return tries;
    };
    assert.equal(await patiently(work), 3);
    assert.equal(await patiently(work), 6);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).msg),
      ['waiting for the stores'],
    );
  });

  it('throws what is said last when the time is over', async () => {
    await assert.rejects(
      open(0).patiently(() => Promise.reject(away())),
      UnavailableError,
    );
  });

  it('does nothing again that failed for another reason', async () => {
    let tries = 0;
    const failing = open().patiently(async () => {
      tries++;
      throw new Error('The schema is newer');
    });
    await assert.rejects(failing, /newer/);
    assert.equal(tries, 1);
  });
});
