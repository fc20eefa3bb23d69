import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseScrape } from '../../test/helpers/prometheus-text.ts';
import { formatReadings, gatherReadings, lastingReadings } from './readings.ts';
import { createRegistry } from './registry.ts';

/** What a process tells that has committed so many transactions, with a heap of so many bytes. */
function process(name: string, committed: number, heap: number, trusted = 1) {
  const registry = createRegistry();
  registry.counter('tenon_store_transactions_total', { outcome: 'committed' }).value += committed;
  for (let at = 0; at < committed; at++) registry.histogram('tenon_store_transaction_duration_seconds', {}).observe(at);
  registry.atScrape('tenon_http_connections', () => [{ labels: {}, value: committed }]);
  registry.atScrape('nodejs_heap_size_used_bytes', () => [{ labels: {}, value: heap }]);
  registry.atScrape('tenon_store_revision_trusted', () => [{ labels: {}, value: trusted }]);
  return { process: name, readings: registry.readings() };
}

describe('gatherReadings()', () => {
  it('sums what is counted, tells the least of what holds for all, and each where a sum means nothing', () => {
    const gathered = gatherReadings([process('1', 2, 100), process('2', 40, 7, 0)]);
    const { samples, types } = parseScrape(formatReadings(gathered));
    assert.equal(samples.get('tenon_store_transactions_total{outcome="committed"}'), 42);
    assert.equal(samples.get('tenon_store_transaction_duration_seconds_count'), 42);
    assert.equal(samples.get('tenon_store_transaction_duration_seconds_bucket{le="1"}'), 4);
    assert.equal(samples.get('tenon_http_connections'), 42);
    assert.equal(samples.get('tenon_store_revision_trusted'), 0);
    assert.equal(samples.get('nodejs_heap_size_used_bytes{worker="1"}'), 100);
    assert.equal(samples.get('nodejs_heap_size_used_bytes{worker="2"}'), 7);
    assert.equal(samples.has('nodejs_heap_size_used_bytes'), false);
    assert.ok(types.has('tenon_processes'), 'also what nobody has told');
  });
});

describe('lastingReadings()', () => {
  it('keeps what only grows, and nothing that is told of each process', () => {
    const { readings } = process('1', 3, 100);
    const lasting = lastingReadings(readings);
    assert.deepEqual(lasting.tenon_store_transactions_total, readings.tenon_store_transactions_total);
    assert.deepEqual(
      lasting.tenon_store_transaction_duration_seconds,
      readings.tenon_store_transaction_duration_seconds,
    );
    assert.equal(lasting.tenon_http_connections, undefined);
    assert.equal(lasting.nodejs_eventloop_active_seconds_total, undefined);
  });
});
