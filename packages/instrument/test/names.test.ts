import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { instrument } from '../src/index.ts';
import { customSection, splitModule } from './support/sections.ts';
import { functionNames } from './support/trace.ts';

const source = `(module
  (import "env" "log" (func $log (param i32)))
  (func $first (param $x i32) (local $y i32) (block $out (loop $again (br_if $out (local.get $x)))))
  (func $second (export "two") (result i32) (return (i32.const 2)))
  (func))`;

/** Local or label names: function index → index → name. */
function indirectNames(bytes: Uint8Array, id: number): Record<number, Record<number, string>> {
  const contents = splitModule(bytes).subsections(id);
  if (contents === undefined) return {};
  const names: Record<number, Record<number, string>> = {};
  for (let functions = contents.u32(); functions > 0; functions--) {
    const index = contents.u32();
    const own: Record<number, string> = {};
    names[index] = own;
    for (let count = contents.u32(); count > 0; count--) {
      const key = contents.u32();
      own[key] = contents.name();
    }
  }
  return names;
}

describe('instrument() on the name section', () => {
  it('keeps names, shifts their indices, and names what it adds', () => {
    const { bytes } = instrument(wat(source));
    assert.deepEqual(
      [...functionNames(bytes)],
      [
        [0, 'log'],
        [1, 'dylibso:observe/instrument.enter'],
        [2, 'dylibso:observe/instrument.exit'],
        [3, 'first'],
        [4, 'second'],
        [5, 'func[3]'],
        [6, 'tenon.call(env.log)'],
      ],
    );
  });

  it('makes names from the export, else the import, else the index in the input', () => {
    const { bytes } = instrument(wat(source, { names: false }));
    assert.deepEqual(
      [...functionNames(bytes).values()].filter((name) => !name.includes('dylibso')),
      ['env.log', 'func[1]', 'two', 'func[3]', 'tenon.call(env.log)'],
    );
  });

  it('makes up no names for what is not traced', () => {
    const { bytes } = instrument(wat(source, { names: false }), { allowed: ['two'] });
    assert.deepEqual([...functionNames(bytes).values()].slice(-1), ['two']);
  });

  it('moves the names of locals with their functions', () => {
    const { bytes } = instrument(wat(source));
    assert.deepEqual(indirectNames(bytes, 2)[3], { 0: 'x', 1: 'y' });
  });

  it('moves the names of labels by the blocks that it adds', () => {
    // Function 1 (first) and function 2 (second): only the second returns, so only it gets a block.
    const labels = Uint8Array.of(3, 14, 2, 1, 2, 0, 1, 0x61, 1, 1, 0x62, 2, 1, 0, 1, 0x63);
    const input = splitModule(wat(source)).withNameSubsection(labels);
    const { bytes, report } = instrument(input);
    assert.deepEqual(report.notes, []);
    assert.deepEqual(indirectNames(bytes, 3), { 3: { 0: 'a', 1: 'b' }, 4: { 1: 'c' } });
  });

  it('moves the names of labels by the checks of fuel', () => {
    const labels = Uint8Array.of(3, 9, 1, 0, 2, 0, 1, 0x61, 1, 1, 0x62);
    const input = splitModule(wat('(module (func $f (call $f) (loop (nop)) (block)))')).withNameSubsection(labels);
    const { bytes } = instrument(input, { trace: false, fuel: 9 });
    assert.deepEqual(indirectNames(bytes, 3), { 0: { 1: 'a', 3: 'b' } });
  });

  it('keeps subsections of everything but functions byte for byte, in their order', () => {
    const map = [2, 0, 1, 0x61, 3, 1, 0x62];
    const indirect = [1, 0, ...map];
    // Types, tables, memories, globals, element and data segments, fields, tags, and one that no one has named yet.
    const others: [number, number[]][] = [
      ...[4, 5, 6, 7, 8, 9].map((id): [number, number[]] => [id, map]),
      [10, indirect],
      [11, map],
      [99, [0xff]],
    ];
    const subsections = others.flatMap(([id, contents]) => [id, contents.length, ...contents]);
    const input = splitModule(wat(source)).withNameSubsection(Uint8Array.from(subsections));
    const { bytes, report } = instrument(input);
    assert.deepEqual(report.notes, []);
    const section = customSection(bytes, 'name') ?? new Uint8Array();
    assert.deepEqual([...section.slice(-subsections.length)], subsections);
    assert.equal(functionNames(bytes).get(3), 'first');
  });

  it('names every function that is traced, also behind the names of a section that knows only some', () => {
    const parts = splitModule(wat(source, { names: false }));
    const contents = Uint8Array.of(1, 4, 1, 1, 1, 0x61);
    const { bytes } = instrument(parts.withCustom('name', contents));
    assert.deepEqual(
      [...functionNames(bytes)].filter(([, name]) => !name.includes('dylibso')),
      [
        [0, 'env.log'],
        [3, 'a'],
        [4, 'two'],
        [5, 'func[3]'],
        [6, 'tenon.call(env.log)'],
      ],
    );
  });

  it('replaces a malformed section by a good one, and notes it', () => {
    const parts = splitModule(wat(source, { names: false }));
    for (const contents of [[1, 200], [1, 3, 5, 1, 9], [0xff], [1, 2, 0x80, 0x80]]) {
      const input = parts.withCustom('name', Uint8Array.from(contents));
      assert.ok(WebAssembly.validate(new Uint8Array(input)));
      const { bytes, report } = instrument(input);
      assert.equal(functionNames(bytes).get(4), 'two');
      assert.equal(report.notes[0]?.code, 'section_malformed');
      assert.match(report.notes[0]?.message ?? '', /\(at offset 0x[0-9a-f]+\)$/);
    }
  });

  it('notes how many function names are of no use, and keeps the others', () => {
    const parts = splitModule(wat('(module (func) (func))', { names: false }));
    // Of function 0 "a"; of 0 again "b"; of 1 what is not UTF-8; of 9, which there is not, "c".
    const map = [4, 0, 1, 0x61, 0, 1, 0x62, 1, 1, 0xff, 9, 1, 0x63];
    const { bytes, report } = instrument(parts.withCustom('name', Uint8Array.from([1, map.length, ...map])));
    assert.deepEqual([functionNames(bytes).get(2), functionNames(bytes).get(3)], ['a', 'func[1]']);
    assert.deepEqual(
      report.notes.map(({ code }) => code),
      ['section_malformed'],
    );
    assert.match(report.notes[0]?.message ?? '', /3 function names are dropped/);
  });

  it('keeps a name that is not ASCII', () => {
    const parts = splitModule(wat('(module (func) (func))', { names: false }));
    const name = new TextEncoder().encode('größe→∞');
    const contents = Uint8Array.from([1, name.length + 3, 1, 1, name.length, ...name]);
    const { bytes } = instrument(parts.withCustom('name', contents));
    assert.equal(functionNames(bytes).get(3), 'größe→∞');
    assert.equal(functionNames(bytes).get(2), 'func[0]');
  });
});

describe('instrument() on custom sections', () => {
  const parts = splitModule(wat(source));

  it('copies the others byte for byte', () => {
    const contents = Uint8Array.of(1, 2, 3);
    const { bytes, report } = instrument(parts.withCustom('my-data', contents));
    assert.deepEqual(customSection(bytes, 'my-data'), contents);
    assert.deepEqual(report.notes, []);
  });

  it('names itself in the producers section, beside those that were there', () => {
    const text = (section: Uint8Array | undefined) => new TextDecoder().decode(section);
    assert.match(text(customSection(instrument(wat(source)).bytes, 'producers')), /processed-by.*tenon.*0\.1\.0/);
    // One field, `language`, with one value, `C` version `11`.
    const c = Uint8Array.from([1, 8, ...new TextEncoder().encode('language'), 1, 1, 0x43, 2, 0x31, 0x31]);
    const both = text(customSection(instrument(parts.withCustom('producers', c)).bytes, 'producers'));
    assert.match(both, /language.*C.*11.*processed-by.*tenon/s);
    const { report } = instrument(parts.withCustom('producers', Uint8Array.of(9)));
    assert.deepEqual(
      report.notes.map(({ code }) => code),
      ['section_malformed'],
    );
  });

  it('refuses object files', () => {
    for (const name of ['linking', 'reloc.CODE']) {
      assert.throws(() => instrument(parts.withCustom(name, Uint8Array.of(2))), { code: 'relocatable_object' });
    }
    const object = wat('(module (func $f (export "f") (call $f)))', { relocatable: true });
    assert.throws(() => instrument(object), { code: 'relocatable_object' });
  });
});
