import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { auditEvent } from '../../test/helpers/records.ts';
import { openSqliteStore } from '../db/sqlite/store.ts';
import type { Store } from '../db/store.ts';
import { statements } from '../queries.ts';
import { clockGap, createClockCheck, maxClockGapMs, probationMs, trustClock } from './clock-gap.ts';

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const stepMs = 6 * hourMs;

describe('createClockCheck()', () => {
  let folder: string;
  let store: Store;
  let [wallMs, upMs] = [0, 0];
  const clock = () => wallMs;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-clock-'));
    store = await openSqliteStore(statements, { file: join(folder, 'tenon.db') });
    [wallMs, upMs] = [1_800_000_000_000, 5000];
    await trustClock({ store, clock });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  const process = () => createClockCheck({ store, clock }, () => upMs);
  /** Both clocks go on; a check every six hours. */
  const run = async (check: ReturnType<typeof process>, forMs: number) => {
    for (let passed = 0; passed < forMs; passed += stepMs) {
      wallMs += stepMs;
      upMs += stepMs;
      if ((await check()).isTrusted) return passed + stepMs;
    }
    return undefined;
  };

  it('trusts a clock within 14 days of the last maintenance', async () => {
    wallMs += maxClockGapMs;
    assert.deepEqual(await process()(), { isTrusted: true, gapMs: maxClockGapMs, remainingMs: 0 });
    wallMs++;
    assert.deepEqual(await process()(), { isTrusted: false, gapMs: maxClockGapMs + 1, remainingMs: probationMs });
  });

  it('trusts the clock of a server that was off for long, after a week of uptime', async () => {
    wallMs += 100 * dayMs;
    const check = process();
    assert.equal((await check()).isTrusted, false);
    assert.equal(await run(check, 30 * dayMs), probationMs);
  });

  it('continues the probation after a restart, without the downtime', async () => {
    wallMs += 100 * dayMs;
    const first = process();
    await first();
    await run(first, 3 * dayMs);
    wallMs += 5 * dayMs;
    upMs = 0;
    const second = process();
    assert.equal((await second()).remainingMs, 4 * dayMs);
    assert.equal(await run(second, 30 * dayMs), 4 * dayMs);
  });

  it('shares one probation between two processes', async () => {
    wallMs += 100 * dayMs;
    const [one, other] = [process(), process()];
    await one();
    await other();
    wallMs += hourMs;
    upMs += hourMs;
    await one();
    assert.equal((await other()).remainingMs, probationMs - hourMs);
  });

  it('ignores jumps, and restarts after one of more than 14 days or back', async () => {
    wallMs += 100 * dayMs;
    const check = process();
    await check();
    await run(check, dayMs);
    wallMs += 10 * dayMs;
    assert.equal((await check()).remainingMs, probationMs - dayMs);
    wallMs += 15 * dayMs;
    assert.equal((await check()).remainingMs, probationMs);
    await run(check, dayMs);
    wallMs -= hourMs;
    assert.equal((await check()).remainingMs, probationMs);
  });

  it('ends the probation when the clock is right again, or an operator confirms it', async () => {
    const rightMs = wallMs;
    wallMs += 400 * dayMs;
    const check = process();
    await check();
    await run(check, 6 * dayMs);
    wallMs = rightMs + 6 * dayMs;
    assert.equal((await check()).isTrusted, true);
    await trustClock({ store, clock });
    wallMs += 400 * dayMs;
    assert.equal((await check()).remainingMs, probationMs);
    await trustClock({ store, clock });
    assert.equal((await check()).isTrusted, true);
    assert.equal(await clockGap({ store, clock }), 0);
  });

  it('ignores audit events of the clock on probation without maintenance', async () => {
    const other = await openSqliteStore(statements, { file: join(folder, 'other.db') });
    const at = (atMs: number) => other.write((tx) => tx.insertAuditEvent(auditEvent({ atMs })));
    await at(wallMs);
    wallMs += 400 * dayMs;
    const check = createClockCheck({ store: other, clock }, () => upMs);
    assert.equal((await check()).isTrusted, false);
    await at(wallMs);
    assert.equal((await check()).isTrusted, false);
    await other.close();
  });
});
