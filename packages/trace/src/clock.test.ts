import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAnchor, systemClock, toNano } from './clock.ts';

describe('toNano()', () => {
  it('keeps nanoseconds of large readings', () => {
    assert.equal(toNano(0.000001), 1n);
    assert.equal(toNano(86_400_000 + 0.125), 86_400_000_125_000n);
    assert.equal(toNano(1_784_000_000_123.5), 1_784_000_000_123_500_000n);
    assert.equal(toNano(-1.5), -1_500_000n);
  });
});

describe('createAnchor()', () => {
  it('takes the origin that the host knows, to a fraction of a millisecond', () => {
    const anchor = createAnchor({ now: () => 50, wallNow: () => 1_784_000_000_050, timeOrigin: 1_784_000_000_000.25 });
    assert.equal(anchor.originUnixNano(), 1_784_000_000_000_250_000n);
  });

  it('finds the origin where the host does not know it', () => {
    const anchor = createAnchor({ now: () => 50, wallNow: () => 1_784_000_000_050 });
    assert.equal(anchor.originUnixNano(), 1_784_000_000_000_000_000n);
  });

  it('believes the wall clock once the two have parted', () => {
    let wall = 1_784_000_000_000;
    const anchor = createAnchor({ now: () => 0, wallNow: () => wall, timeOrigin: wall });
    wall += 10;
    assert.equal(anchor.originUnixNano(), 1_784_000_000_000_000_000n);
    wall += 1;
    assert.equal(anchor.originUnixNano(), 1_784_000_000_011_000_000n);
  });

  it('agrees with the wall clock of the host', () => {
    const clock = systemClock();
    const before = BigInt(Date.now() - 20) * 1_000_000n;
    const found = createAnchor(clock).originUnixNano() + toNano(clock.now());
    const after = BigInt(Date.now() + 20) * 1_000_000n;
    assert.ok(before <= found && found <= after, `${before} <= ${found} <= ${after}`);
  });
});
