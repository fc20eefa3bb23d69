import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listProducers } from '@tenon/instrument';

const text = (value: string) => [value.length, ...Buffer.from(value)];

/** A module with one custom section. */
function moduleWith(name: string, contents: readonly number[]): Uint8Array {
  const section = [...text(name), ...contents];
  return Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0, section.length, ...section]);
}

describe('listProducers()', () => {
  it('lists the fields of the section in their order', () => {
    const fields = [
      2,
      ...text('language'),
      1,
      ...text('C'),
      0,
      ...text('processed-by'),
      1,
      ...text('clang'),
      ...text('20'),
    ];
    assert.deepEqual(listProducers(moduleWith('producers', fields)), [
      { name: 'language', values: [{ name: 'C', version: '' }] },
      { name: 'processed-by', values: [{ name: 'clang', version: '20' }] },
    ]);
    assert.deepEqual(listProducers(moduleWith('other', fields)), []);
  });

  it('rejects a section that is cut off, too long, or has huge counts', () => {
    for (const contents of [[], [1], [0xff, 0xff, 0xff, 0xff, 0x0f], [1, ...text('sdk'), 9], [0, 0], [1, 1, 0xff, 0]]) {
      assert.throws(() => listProducers(moduleWith('producers', contents)), { code: 'invalid_module' }, `${contents}`);
    }
  });
});
