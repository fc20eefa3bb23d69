import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createIdSource } from './ids.ts';

describe('createIdSource()', () => {
  it('gives ids of the lengths that trace context wants, none twice', () => {
    const ids = createIdSource();
    const spanIds = Array.from({ length: 10_000 }, () => ids.spanId());
    const traceIds = Array.from({ length: 1_000 }, () => ids.traceId());
    for (const id of spanIds) assert.match(id, /^[0-9a-f]{16}$/);
    for (const id of traceIds) assert.match(id, /^[0-9a-f]{32}$/);
    assert.equal(new Set(spanIds).size, spanIds.length);
    assert.equal(new Set(traceIds).size, traceIds.length);
  });

  it('uses every random byte once', () => {
    let next = 0;
    const ids = createIdSource((bytes) => {
      for (let index = 0; index < bytes.length; index++) bytes[index] = next++;
    });
    assert.equal(ids.spanId(), '0001020304050607');
    assert.equal(ids.traceId(), '08090a0b0c0d0e0f1011121314151617');
  });

  it('gives no id of zeros, not even from a source of zeros', () => {
    const ids = createIdSource(() => {});
    assert.equal(ids.spanId(), '0000000000000001');
    assert.equal(ids.traceId(), '00000000000000000000000000000001');
  });
});
