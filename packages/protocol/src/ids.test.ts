import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type IdKind, idPrefixes, isId, newId } from './ids.ts';

describe('newId()', () => {
  it('creates ids that isId() accepts, only for their own kind', () => {
    for (const kind of Object.keys(idPrefixes) as IdKind[]) {
      const id: string = newId(kind);
      for (const other of Object.keys(idPrefixes) as IdKind[])
        assert.equal(isId(other, id), other === kind, `${id} as ${other}`);
    }
  });

  it('creates ids that sort by time', async () => {
    const first = newId('app');
    await new Promise((resolve) => setTimeout(resolve, 2));
    assert.ok(first < newId('app'));
  });

  it('creates ids that sort in the order of their creation, also within a millisecond', () => {
    const made = Array.from({ length: 10_000 }, () => newId('version'));
    assert.deepEqual(made.toSorted(), made);
    assert.equal(new Set(made).size, made.length);
  });

  it('creates UUIDs of version 7 with the current time', () => {
    const digits = '0123456789abcdefghjkmnpqrstvwxyz';
    const beforeMs = Date.now();
    const suffix = newId('app').slice('app_'.length);
    const uuid = [...suffix].reduce((bits, digit) => (bits << 5n) | BigInt(digits.indexOf(digit)), 0n);
    const ms = Number(uuid >> 80n);
    assert.ok(ms >= beforeMs && ms <= Date.now() + 1000, String(ms));
    assert.equal((uuid >> 76n) & 0xfn, 7n);
    assert.equal((uuid >> 62n) & 0b11n, 0b10n);
  });
});

describe('isId()', () => {
  it('accepts ids that existing hosts use', () => {
    assert.ok(isId('extensionPoint', 'ext_01j29hxk3mfpq8ad68ha6hbsex'));
  });

  it('rejects malformed ids', () => {
    for (const text of [
      '',
      'ext_',
      'ext_01J29HXK3MFPQ8AD68HA6HBSEX',
      'ext_81j29hxk3mfpq8ad68ha6hbsex',
      'ext_01j29hxk3mfpq8ad68ha6hbse',
      "ext_'; drop table apps; --12345",
    ]) {
      assert.ok(!isId('extensionPoint', text), text);
    }
  });
});
