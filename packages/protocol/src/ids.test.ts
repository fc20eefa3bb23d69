import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type IdKind, idPrefixes, isId, newId } from './ids.ts';

describe('newId()', () => {
  it('makes ids that isId() takes, of their own kind only', () => {
    for (const kind of Object.keys(idPrefixes) as IdKind[]) {
      const id: string = newId(kind);
      for (const other of Object.keys(idPrefixes) as IdKind[])
        assert.equal(isId(other, id), other === kind, `${id} as ${other}`);
    }
  });

  it('makes ids that sort by time', async () => {
    const first = newId('app');
    await new Promise((resolve) => setTimeout(resolve, 2));
    assert.ok(first < newId('app'));
  });
});

describe('isId()', () => {
  it('takes the ids that hosts in the field know', () => {
    assert.ok(isId('extensionPoint', 'ext_01j29hxk3mfpq8ad68ha6hbsex'));
  });

  it('refuses malformed ones', () => {
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
