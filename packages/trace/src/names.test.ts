import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { nameSectionOf } from './name-section.ts';
import { createFunctionNames } from './names.ts';

const bytes = wat('(module (func $first) (func $_ZN5outer5innerEv) (func) (func $constructor))');

describe('createFunctionNames()', () => {
  for (const [kind, module] of [
    ['bytes', bytes],
    ['an ArrayBuffer', bytes.slice().buffer],
    ['a module', new WebAssembly.Module(bytes as BufferSource)],
  ] as const) {
    it(`finds the names of ${kind}`, () => {
      const names = createFunctionNames(nameSectionOf(module));
      const found = [0, 1, 3, 2].map((index) => names.describe(index).rawName);
      assert.deepEqual(found, ['first', '_ZN5outer5innerEv', 'constructor', 'func[2]']);
    });
  }

  it('demangles each name once, and keeps the raw one', () => {
    const asked: string[] = [];
    const names = createFunctionNames(nameSectionOf(bytes), (rawName) => {
      asked.push(rawName);
      return rawName.startsWith('_Z') ? 'outer::inner()' : undefined;
    });
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(names.describe(1), { index: 1, rawName: '_ZN5outer5innerEv', name: 'outer::inner()' });
      assert.equal(names.describe(0).name, 'first');
    }
    assert.deepEqual(asked, ['_ZN5outer5innerEv', 'first']);
  });

  it('keeps the raw name where the demangler fails', () => {
    const names = createFunctionNames(nameSectionOf(bytes), () => {
      throw new Error('no');
    });
    assert.equal(names.describe(0).name, 'first');
  });

  it('reads no further than where a section is damaged', () => {
    const section = nameSectionOf(bytes)() ?? new Uint8Array();
    for (let length = 0; length < section.length; length++) {
      const names = createFunctionNames(() => section.subarray(0, length));
      for (const index of [0, 1, 2, 3]) {
        const { rawName } = names.describe(index);
        assert.ok(['first', '_ZN5outer5innerEv', 'constructor', `func[${index}]`].includes(rawName), rawName);
      }
    }
    const endless = new Uint8Array([1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    assert.equal(createFunctionNames(() => endless).describe(0).rawName, 'func[0]');
  });
});
