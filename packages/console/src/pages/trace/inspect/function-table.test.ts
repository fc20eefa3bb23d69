import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buffersOf, createFunctionTable, nameAt, shownNameAt, sourceAt } from './function-table.ts';

describe('createFunctionTable()', () => {
  it('holds names of every kind, where they come from, and sizes', () => {
    const functions = [
      { name: 'env.log', nameSource: 'import' },
      { name: '', nameSource: 'name-section', bodyBytes: 3 },
      { name: '__proto__', nameSource: 'export', bodyBytes: 70_000 },
      { name: 'größer → 𝒻', nameSource: 'name-section', bodyBytes: 4_000_000_000 },
      { name: '\ufeffstart', nameSource: 'name-section', bodyBytes: 2 },
      { name: 'func[5]', nameSource: 'none', bodyBytes: 2 },
    ] as const;
    const table = createFunctionTable(functions);
    assert.equal(table.count, 6);
    assert.equal(table.importedCount, 1);
    functions.forEach((entry, index) => {
      assert.equal(nameAt(table, index), entry.name);
      assert.equal(sourceAt(table, index), entry.nameSource);
      assert.equal(table.bodyBytes[index], 'bodyBytes' in entry ? entry.bodyBytes : 0);
    });
  });

  it('makes room for names of any length', () => {
    const names = Array.from({ length: 300 }, (_, index) => '𝒻'.repeat((index * 37) % 500));
    const table = createFunctionTable(names.map((name) => ({ name, nameSource: 'name-section', bodyBytes: 1 })));
    assert.deepEqual(
      names.map((_, index) => nameAt(table, index)),
      names,
    );
  });

  it('holds names as people write them beside those of the module, where they are others', () => {
    const functions = ['_Z1fi', 'main'].map((name) => ({ name, nameSource: 'name-section', bodyBytes: 1 }) as const);
    const table = createFunctionTable(functions, (name) => (name === '_Z1fi' ? 'f(int)' : name));
    assert.deepEqual([nameAt(table, 0), shownNameAt(table, 0)], ['_Z1fi', 'f(int)']);
    assert.deepEqual([nameAt(table, 1), shownNameAt(table, 1)], ['main', 'main']);
    assert.equal(buffersOf(table).length, 6);
    const plain = createFunctionTable(functions);
    assert.equal(plain.shownNames, plain.names);
    assert.equal(buffersOf(plain).length, 4);
    assert.equal(structuredClone(plain, { transfer: buffersOf(plain) }).names.bytes.length, 9);
  });

  it('holds none', () => {
    assert.equal(createFunctionTable([]).names.bytes.length, 0);
  });
});
