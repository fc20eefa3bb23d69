import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { nameSectionOf } from './name-section.ts';
import { createFunctionNames } from './names.ts';

const bytes = wat('(module (func $first) (func $_ZN5outer5innerEv) (func) (func $constructor))');

const inner = { rawName: '_ZN5outer5innerEv', name: '_ZN5outer5innerEv' };

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
    const names = createFunctionNames(nameSectionOf(bytes), {
      demangle(rawName) {
        asked.push(rawName);
        return rawName.startsWith('_Z') ? 'outer::inner()' : undefined;
      },
    });
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(names.describe(1), { index: 1, rawName: '_ZN5outer5innerEv', name: 'outer::inner()' });
      assert.equal(names.describe(0).name, 'first');
    }
    assert.deepEqual(asked, ['_ZN5outer5innerEv', 'first']);
  });

  it('keeps the raw name where the demangler or the source lookup fails', () => {
    const fails = () => {
      throw new Error('no');
    };
    const names = createFunctionNames(nameSectionOf(bytes), { demangle: fails, source: fails });
    assert.deepEqual(names.describe(0), { index: 0, rawName: 'first', name: 'first' });
  });

  it('adds the source file and line', () => {
    const places = [{ file: 'a.c', line: 3, column: 1 }, { file: 'b.c', line: 0 }, undefined, { file: '', line: 1 }];
    const names = createFunctionNames(nameSectionOf(bytes), { source: (index) => places[index] });
    assert.deepEqual(names.describe(0), { index: 0, rawName: 'first', name: 'first', file: 'a.c', line: 3 });
    assert.deepEqual({ ...names.describe(1) }, { index: 1, ...inner, file: 'b.c' }, 'without a line');
    assert.deepEqual(Object.keys(names.describe(2)), ['index', 'rawName', 'name']);
    assert.deepEqual(Object.keys(names.describe(3)), ['index', 'rawName', 'name']);
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
