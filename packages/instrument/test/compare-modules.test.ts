import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { compareModules, InstrumentError } from '../src/index.ts';
import { samples } from './support/samples.ts';

const base = `(module
  (import "env" "log" (func $log (param i32)))
  (memory (export "memory") 1)
  (table 2 funcref)
  (elem (i32.const 0) func $helper $run)
  (func $helper (param i32) (call $log (local.get 0)))
  (func $run (export "run") (call $helper (i32.const 1)))
  (func $other (export "other") (result i32) (i32.const 7)))`;

const names = (list: { readonly items: readonly { readonly name: string }[] }) => list.items.map(({ name }) => name);

function functionsOf(before: Uint8Array, after: Uint8Array) {
  const { added, removed, changed, unchanged } = compareModules(before, after).functions;
  return { added: names(added), removed: names(removed), changed: names(changed), unchanged };
}

describe('compareModules()', () => {
  it('finds no difference between equal modules', async () => {
    for (const [name, bytes] of Object.entries({ ...(await samples()), base: wat(base) })) {
      const { functions, imports, exports, sections, after } = compareModules(bytes, bytes);
      const { added, removed, changed, unchanged } = functions;
      const lists = [added, removed, changed, ...Object.values(imports), ...Object.values(exports), sections];
      assert.ok(
        lists.every(({ total }) => total === 0),
        name,
      );
      assert.equal(unchanged, after.functionCount - after.importedFunctionCount, name);
    }
  });

  it('does not count functions as changed whose indices and types only moved', () => {
    const moved = wat(
      base
        .replace('(memory', '(type (func (param f64 f64))) (import "env" "more" (func $more (param f32)))\n(memory')
        .replace('(func $helper', '(func $new (param i64 i64) (call $more (f32.const 1)))\n(func $helper'),
    );
    const result = compareModules(wat(base), moved);
    assert.deepEqual(functionsOf(wat(base), moved), { added: ['new'], removed: [], changed: [], unchanged: 3 });
    assert.deepEqual(result.imports.added.items, [{ name: 'env.more', kind: 'function', type: '(f32) → ()' }]);
    assert.ok(!names(result.sections).includes('element'));
  });

  it('lists changed functions by the size of their change, and removed ones', () => {
    const changed = wat(
      base
        .replace('(i32.const 7)', '(i32.add (i32.const 7) (i32.mul (i32.const 2) (i32.const 3)))')
        .replace('(call $helper (i32.const 1))', '(call $helper (i32.const 2))')
        .replace('(func $helper (param', '(func $gone)\n(func $helper (param'),
    );
    assert.deepEqual(functionsOf(wat(base), changed), {
      added: ['gone'],
      removed: [],
      changed: ['other', 'run'],
      unchanged: 1,
    });
    assert.deepEqual(functionsOf(changed, wat(base)).removed, ['gone']);
    const { items } = compareModules(wat(base), changed).functions.changed;
    assert.deepEqual(items[0], { name: 'other', bytes: 10, bytesBefore: 4 });
  });

  it('notices a call of another function, and an export and an element that refer to another one', () => {
    const twins = (text: string) =>
      wat(`(module (table 1 funcref) (func $a (nop)) (func $b (drop (i32.const 1))) ${text})`);
    const before = twins('(func $c (call $a)) (export "x" (func $a)) (elem (i32.const 0) func $a)');
    const after = twins('(func $c (call $b)) (export "x" (func $b)) (elem (i32.const 0) func $b)');
    const { functions, exports, sections } = compareModules(before, after);
    assert.deepEqual(names(functions.changed), ['c']);
    assert.deepEqual(names(exports.changed), ['x']);
    assert.ok(names(sections).includes('element'));
  });

  it('does not trust names: a body under another name is a change', () => {
    const before = wat('(module (func $safe (nop)) (func $evil (unreachable)) (func (export "run") (call $safe)))');
    const after = wat('(module (func $evil (nop)) (func $safe (unreachable)) (func (export "run") (call $safe)))');
    assert.deepEqual(functionsOf(before, after).changed.sort(), ['evil', 'safe']);
  });

  it('pairs functions without names by their code', () => {
    const unnamed = (text: string) =>
      wat(`(module (func (nop)) ${text} (func (call 0)) (func (export "run") (drop (i32.const 1))))`, { names: false });
    const inserted = `(module (func (drop (i64.const 5))) (func (nop)) (func (call 1))
      (func (export "run") (drop (i32.const 1))))`;
    assert.deepEqual(functionsOf(unnamed(''), wat(inserted, { names: false })), {
      added: ['func[0]'],
      removed: [],
      changed: [],
      unchanged: 3,
    });
    const changed = inserted.replace('5', '6');
    assert.deepEqual(functionsOf(wat(inserted, { names: false }), wat(changed, { names: false })).changed, ['func[0]']);
  });

  it('compares a module with names and one without by code', () => {
    const { unchanged, changed } = compareModules(wat(base), wat(base, { names: false })).functions;
    assert.deepEqual([unchanged, changed.total], [3, 0]);
  });

  it('pairs functions that share a name, and those whose names differ by the hash of the compiler', () => {
    const rust = (hash: string, text: string) =>
      wat(`(module (func $_ZN4core3fmt17h${hash}E (nop)) (func $_ZN4core3fmt17hffff456789abcdefE ${text}))`);
    const [one, other] = [rust('0123456789abcdef', '(unreachable)'), rust('fedcba9876543210', '(drop (i32.const 1))')];
    assert.deepEqual(functionsOf(one, other), {
      added: [],
      removed: [],
      changed: ['_ZN4core3fmt17hffff456789abcdefE'],
      unchanged: 1,
    });
  });

  it('compares types, memories, features and custom sections', () => {
    const before = wat('(module (memory 1) (func (export "run") (param i32)))');
    const after = wat(
      `(module (memory 2 9) (data (i32.const 0) "secret")
        (func (export "run") (param i64) (drop (i32.extend8_s (i32.const 1)))))`,
    );
    const result = compareModules(before, after);
    assert.deepEqual(result.exports.changed.items, [
      { name: 'run', kind: 'function', type: '(i64) → ()', before: { kind: 'function', type: '(i32) → ()' } },
    ]);
    assert.deepEqual([result.before?.features, result.after.features], [[], ['sign-extension']]);
    assert.deepEqual(
      [result.before?.memories.items[0]?.minimumPages, result.after.memories.items[0]?.minimumPages],
      [1, 2],
    );
    assert.deepEqual(result.sections.items.find(({ name }) => name === 'data')?.bytesBefore, null);
  });

  it('describes a single module as added', () => {
    const { before, after, functions, exports } = compareModules(undefined, wat(base));
    assert.equal(before, null);
    assert.equal(after.functionCount, 4);
    assert.deepEqual(names(functions.added), ['helper', 'run', 'other']);
    assert.deepEqual(names(exports.added), ['memory', 'run', 'other']);
  });

  it('shortens lists and texts', () => {
    const many = Array.from({ length: 500 }, (_, at) => `(func (export "${'x'.repeat(300)}${at}"))`).join('');
    const { exports, functions } = compareModules(undefined, wat(`(module ${many})`), { maxItems: 7, maxText: 20 });
    assert.deepEqual([exports.added.total, exports.added.items.length], [500, 7]);
    assert.deepEqual([functions.added.total, functions.added.items.length], [500, 7]);
    assert.equal(exports.added.items[0]?.name, `${'x'.repeat(19)}…`);
  });

  it('compares 100,000 functions of one name in seconds', () => {
    const functions = Array.from({ length: 100_000 }, (_, at) => `(func (drop (i32.const ${at})))`);
    const before = wat(`(module ${functions.join('\n')})`, { names: false });
    const after = wat(`(module ${functions.toReversed().join('\n')})`, { names: false });
    const startMs = performance.now();
    assert.deepEqual(compareModules(before, after).functions.unchanged, 100_000);
    assert.ok(performance.now() - startMs < 30_000);
  });

  it('rejects other bytes', () => {
    assert.throws(() => compareModules(wat(base), Uint8Array.of(1, 2, 3)), InstrumentError);
    assert.throws(() => compareModules(Uint8Array.of(1, 2, 3), wat(base)), InstrumentError);
  });
});
