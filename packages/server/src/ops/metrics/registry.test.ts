import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseScrape } from '../../../test/helpers/prometheus-text.ts';
import { createRegistry } from './registry.ts';

describe('createRegistry()', () => {
  it('writes a counter from its first use, and shares it between equal labels', () => {
    const registry = createRegistry();
    const committed = registry.counter('tenon_store_transactions_total', { outcome: 'committed' });
    assert.match(registry.text(), /^tenon_store_transactions_total\{outcome="committed"\} 0$/m);
    committed.value += 2;
    registry.counter('tenon_store_transactions_total', { outcome: 'committed' }).value++;
    registry.counter('tenon_store_transactions_total', { outcome: 'failed' }).value++;
    const { samples } = parseScrape(registry.text());
    assert.equal(samples.get('tenon_store_transactions_total{outcome="committed"}'), 3);
    assert.equal(samples.get('tenon_store_transactions_total{outcome="failed"}'), 1);
  });

  it('counts a value in the bucket of an equal bound, and in every larger one', () => {
    const registry = createRegistry();
    const durations = registry.histogram('tenon_store_transaction_duration_seconds', {});
    for (const seconds of [0.0001, 0.001, 0.0011, 31]) durations.observe(seconds);
    const { samples } = parseScrape(registry.text());
    const bucket = (le: string) => samples.get(`tenon_store_transaction_duration_seconds_bucket{le="${le}"}`);
    assert.deepEqual(['0.0005', '0.001', '0.0025', '30', '+Inf'].map(bucket), [1, 2, 3, 3, 4]);
    assert.equal(samples.get('tenon_store_transaction_duration_seconds_count'), 4);
    assert.ok(Math.abs(Number(samples.get('tenon_store_transaction_duration_seconds_sum')) - 31.0022) < 1e-9);
  });

  it('reads values at each scrape that are counted elsewhere', () => {
    const registry = createRegistry();
    let open = 0;
    registry.atScrape('tenon_http_connections', () => [{ labels: {}, value: open }]);
    open = 7;
    assert.match(registry.text(), /^tenon_http_connections 7$/m);
    open = 5;
    assert.match(registry.text(), /^tenon_http_connections 5$/m);
  });

  it('escapes characters that would end a label', () => {
    const registry = createRegistry();
    registry.counter('tenon_changes_total', { action: 'a"b\\c\nd' }).value++;
    assert.match(registry.text(), /^tenon_changes_total\{action="a\\"b\\\\c\\nd"\} 1$/m);
    parseScrape(registry.text());
  });
});
