import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  body,
  emptyType,
  leb,
  moduleOf,
  repeated,
  section,
  sized,
  vector,
} from '../../../test/helpers/module-bytes.ts';
import { type InstrumentOptions, type InstrumentReport, instrument } from '../src/index.ts';

const import1 = repeated(1, [0, 0, 0, 0]);
const emptyBody = [2, 0, 0x0b];
const functions = (count: number) =>
  moduleOf(
    [section.type, emptyType],
    [section.function, repeated(count, [0])],
    [section.code, repeated(count, emptyBody)],
  );
const imports = (count: number) => moduleOf([section.type, emptyType], [section.import, repeated(count, [0, 0, 0, 0])]);

/** Instruments a module that the engine accepts; it must accept the output too. */
function staysValid(input: Uint8Array, options?: InstrumentOptions): InstrumentReport & { bytes: Uint8Array } {
  assert.ok(WebAssembly.validate(new Uint8Array(input)), 'the input validates');
  const { bytes, report } = instrument(input, options);
  assert.ok(WebAssembly.validate(new Uint8Array(bytes)), 'the output validates');
  return { ...report, bytes };
}

function isRefused(input: Uint8Array, message: RegExp, code = 'unsupported_feature'): void {
  assert.ok(WebAssembly.validate(new Uint8Array(input)), 'the input validates');
  assert.throws(() => instrument(input), { code, message });
  assert.throws(() => instrument(input), { message: /\(at offset 0x[0-9a-f]+\)$/ });
}

describe("instrument() at the engines' limits", () => {
  it('takes functions up to the last, and refuses what would pass 1,000,000', () => {
    assert.equal(staysValid(functions(999_998)).tracedFunctions, 999_998);
    isRefused(functions(999_999), /1,000,001 functions/);
    assert.deepEqual(instrument(functions(999_999), { allowed: [] }).report.addedImports, []);
  });

  it('takes imports as long as there is a function index for each of their wrappers', () => {
    assert.equal(staysValid(imports(100_000)).tracedFunctions, 100_000);
    isRefused(imports(500_000), /1,000,002 functions/);
  });

  it('adds types up to 1,000,000', () => {
    const withTypes = (count: number) =>
      moduleOf(
        [section.type, repeated(count, [0x60, 0, 0])],
        [section.function, [1, 0]],
        [section.code, vector([emptyBody])],
      );
    staysValid(withTypes(999_999));
    isRefused(withTypes(1_000_000), /1,000,001 types/);
  });

  it('adds globals up to 1,000,000', () => {
    const withGlobals = (count: number) =>
      moduleOf(
        [section.type, emptyType],
        [section.import, import1],
        [section.memory, [1, 0, 1]],
        [section.global, repeated(count, [0x7f, 0, 0x41, 0, 0x0b])],
        [section.export, [1, 1, 0x6d, 2, 0]],
      );
    staysValid(withGlobals(999_999));
    isRefused(withGlobals(1_000_000), /1,000,001 globals/);
  });

  it('takes as many tags and element segments as engines do', () => {
    staysValid(
      moduleOf(
        [section.type, emptyType],
        [section.function, [1, 0]],
        [section.tag, repeated(1_000_000, [0, 0])],
        [section.element, repeated(1_000_000, [1, 0, 1, 0])],
        [section.code, vector([emptyBody])],
      ),
    );
  });

  it('takes 1,000 parameters, 1,000 results and 50,000 locals', () => {
    const { tracedFunctions } = staysValid(
      moduleOf(
        [section.type, vector([[0x60], repeated(1_000, [0x7f]), repeated(1_000, [0x7f])]).with(0, 1)],
        [section.import, import1],
        [section.function, [2, 0, 0]],
        // 49,000 locals beside the parameters.
        [section.code, vector([body(0x00, 0x0f), sized([[1, ...leb(49_000), 0x7f, 0x00, 0x0f, 0x0b]])])],
      ),
    );
    assert.equal(tracedFunctions, 3);
  });

  it('takes a million nested blocks, and half a million returns in as many', () => {
    const withBody = (code: Uint8Array) =>
      moduleOf([section.type, emptyType], [section.function, [1, 0]], [section.code, vector([sized([[0], code])])]);
    const nested = (count: number, ...opening: number[]) =>
      Buffer.concat([Buffer.alloc(count * opening.length, Uint8Array.from(opening)), Buffer.alloc(count + 1, 0x0b)]);
    staysValid(withBody(nested(1_000_000, 0x02, 0x40)));
    staysValid(withBody(nested(500_000, 0x02, 0x40, 0x0f)));
  });

  it('takes 100,000 memories, each grown by the module and by its host', () => {
    const count = 100_000;
    const indices = Array.from({ length: count }, (_, index) => index);
    const names = indices.map((index) => Buffer.from(index.toString(36)));
    const { addedImports } = staysValid(
      moduleOf(
        [section.type, emptyType],
        [section.import, import1],
        [section.function, [1, 0]],
        [section.memory, repeated(count, [0, 1])],
        [section.export, vector(names.map((name, index) => [name.length, ...name, 2, ...leb(index)]))],
        [
          section.code,
          vector([sized([[0], indices.flatMap((index) => [0x41, 0, 0x40, ...leb(index), 0x1a]), [0x0b]])]),
        ],
      ),
    );
    assert.deepEqual(addedImports, ['enter', 'exit', 'memory-grow']);
  });

  it('traces a function that grows to the very limit of a body, and none that was beyond it before', () => {
    const withBody = (size: number) =>
      moduleOf(
        [section.type, emptyType],
        [section.function, [1, 0]],
        [section.code, vector([sized([[0], Buffer.alloc(size - 2, 0x01), [0x0b]])])],
      );
    // Each call of a hook takes four bytes: i32.const 2, call 0.
    assert.equal(staysValid(withBody(7_654_321 - 8)).tracedFunctions, 1);
    assert.equal(staysValid(withBody(7_654_321 - 7)).tracedFunctions, 0);
    const beyond = withBody(7_654_322);
    assert.ok(!WebAssembly.validate(new Uint8Array(beyond)));
    assert.ok(instrument(beyond).bytes.length >= beyond.length);
  });

  it('leaves a function untraced that would grow too big, and says so however often the code is read', () => {
    // The memory can grow, for all that its declaration tells; that nothing grows it shows only at the end of the code.
    const input = moduleOf(
      [section.type, emptyType],
      [section.function, [2, 0, 0]],
      [section.memory, [1, 0, 1]],
      [section.code, vector([sized([[0], Buffer.alloc(7_654_318, 0x01), [0x0b]]), emptyBody])],
    );
    const { tracedFunctions, notes } = staysValid(input);
    assert.equal(tracedFunctions, 1);
    assert.deepEqual(
      notes.map((note) => note.code === 'function_left_untraced' && note.functionIndex),
      [0],
    );
  });

  it('says so of the last function that was to be traced, too', () => {
    const tooBig = sized([[0], Buffer.alloc(7_654_318, 0x01), [0x0b]]);
    const growing = sized([[0, 0x41, 1, 0x40, 0, 0x1a, 0x0b]]); // i32.const 1, memory.grow, drop
    const types = [section.type, emptyType] as const;
    const alone = moduleOf(types, [section.function, [1, 0]], [section.code, vector([tooBig])]);
    const besideGrowth = moduleOf(
      types,
      [section.function, [2, 0, 0]],
      [section.memory, [1, 0, 1]],
      [section.export, [1, 1, 0x61, 0, 0]],
      [section.code, vector([tooBig, growing])],
    );
    const aloneResult = instrument(alone);
    assert.ok(Buffer.from(alone).equals(aloneResult.bytes));
    for (const { report } of [aloneResult, instrument(besideGrowth, { allowed: ['a'] })]) {
      assert.equal(report.tracedFunctions, 0);
      assert.deepEqual(
        report.notes.map((note) => note.code === 'function_left_untraced' && note.functionIndex),
        [0],
      );
    }
  });
});

describe('instrument() on small modules that ask for large ones', () => {
  it('refuses imports whose parameters would be handed over a hundred million times', () => {
    const type = vector([[0x60], repeated(1_000, [0x7f]), [0]]).with(0, 1);
    isRefused(
      moduleOf([section.type, type], [section.import, repeated(100_000, [0, 0, 0, 0])]),
      /bytes of wrappers.*302,400,000/,
      'module_too_complex',
    );
  });

  it('keeps the output within a multiple of the input where each instruction grows', () => {
    const tailCalls = Buffer.alloc(1_200_000, Uint8Array.of(0x12, 0x00));
    const input = moduleOf(
      [section.type, emptyType],
      [section.import, import1],
      [section.function, repeated(4, [0])],
      [section.code, vector(new Array<Uint8Array>(4).fill(sized([[0], tailCalls, [0x0b]])))],
    );
    const { bytes } = staysValid(input);
    assert.ok(bytes.length < 13 * input.length, `${bytes.length} bytes from ${input.length}`);
  });
});
