import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAllowances } from '../allowances.ts';
import { type Config, loadConfig } from '../config.ts';
import { UnavailableError } from '../domain/ports.ts';
import { type AskedAllowances, askPrimary } from './ask-primary.ts';
import { countForWorker, type WorkerCounts } from './count-for-worker.ts';
import type { CountMessage } from './messages.ts';

/** Workers whose messages arrive in a later turn, as they do between processes, at one who counts. */
function workersOf(count: number, settings: Readonly<Record<string, string>>, constants: Partial<Config> = {}) {
  const counted = createAllowances({ ...loadConfig(settings, {}), ...constants }, () => 0);
  return Array.from({ length: count }, (): { readonly asked: AskedAllowances; readonly counts: WorkerCounts } => {
    const counts = countForWorker(counted, (id, answer) => setImmediate(() => asked.answered(id, answer)));
    const asked = askPrimary((message) => setImmediate(() => counts.take(message)));
    return { asked, counts };
  });
}

describe('askPrimary()', () => {
  it('allows all workers together what one may do, and takes back for all', async () => {
    const [one, two] = workersOf(2, { codeTriesPerMinute: '3' });
    assert.ok(one && two);
    const [here, there] = [one.asked.allowances.rates.codeTries, two.asked.allowances.rates.codeTries];
    assert.deepEqual([await here.take('a'), await there.take('a'), await here.take('a')], [0, 0, 0]);
    assert.deepEqual([await there.take('a'), await here.take('a')], [20, 20]);
    assert.equal(await there.take('another'), 0);
    assert.equal(await there.take('a'), 20);
    one.asked.allowances.rates.codeTries.give('a');
    assert.deepEqual([await there.take('a'), await there.take('a')], [0, 20]);
  });

  it('gives places back, once each, and those of a worker that has ended', async () => {
    const [one, two] = workersOf(2, { newsStreamsPerAccount: '2' }, { newsStreams: 4 });
    assert.ok(one && two);
    const [here, there] = [one.asked.allowances.newsStreams, two.asked.allowances.newsStreams];
    const [first, second] = [await here.take('a'), await there.take('a')];
    assert.ok(typeof first === 'function' && typeof second === 'function');
    assert.equal(await there.take('a'), 'taken by key');
    assert.deepEqual([here.taken, there.taken], [1, 1]);
    first();
    first();
    assert.equal(here.taken, 0);
    assert.equal(typeof (await here.take('a')), 'function');
    assert.equal(await here.take('a'), 'taken by key');
    for (const key of ['b', 'c']) assert.equal(typeof (await there.take(key)), 'function');
    assert.equal(await here.take('d'), 'all taken');
    two.counts.end();
    assert.equal(typeof (await here.take('a')), 'function');
    assert.equal(await here.take('a'), 'taken by key');
  });

  it('allows nothing once the primary is gone', async () => {
    const sent: CountMessage[] = [];
    const { allowances, close } = askPrimary((message) => sent.push(message));
    const open = allowances.rates.writes.take('a');
    const place = allowances.newsStreams.take('a');
    close();
    await assert.rejects(Promise.resolve(open), UnavailableError);
    await assert.rejects(Promise.resolve(place), UnavailableError);
    await assert.rejects(Promise.resolve(allowances.rates.writes.take('a')), UnavailableError);
    assert.deepEqual(
      sent.map(({ kind }) => kind),
      ['rate', 'slot', 'free'],
      'a place that may yet be given is given back',
    );
  });
});
