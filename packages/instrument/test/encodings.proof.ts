import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { body, moduleOf, repeated, section, sized, vector } from '../../../test/helpers/module-bytes.ts';
import { instrument } from '../src/index.ts';

/** What instructions refer to: types, a memory, a table, a global, a tag, a data and an element segment. */
const functionType = [0x60, 0, 0];
const structure = [0x5f, 2, 0x7f, 1, 0x78, 1];
const [ofBytes, ofNumbers, ofFunctions] = [0x78, 0x7f, 0x70].map((type) => [0x5e, type, 1]) as [
  number[],
  number[],
  number[],
];

/** A module whose only function has this code: locals, instructions, `end`. */
function withCode(...code: number[]): Uint8Array {
  return moduleOf(
    [section.type, vector([functionType, structure, ofBytes, ofNumbers, ofFunctions])],
    [section.function, [1, 0]],
    [section.table, [1, 0x70, 0, 1]],
    [section.memory, [1, 0, 1]],
    [section.tag, [1, 0, 0]],
    [section.global, [1, 0x7f, 1, 0x41, 0, 0x0b]],
    [section.element, vector([[3, 0, 1, 0]])],
    [section.dataCount, [1]],
    [section.code, vector([sized([code])])],
    [section.data, [1, 1, 0]],
  );
}

/** Whether the engine accepts the input; then it must accept the output. */
function staysValid(input: Uint8Array, what: string): boolean {
  if (!WebAssembly.validate(new Uint8Array(input))) return false;
  const { bytes } = instrument(input);
  assert.ok(WebAssembly.validate(new Uint8Array(bytes)), `${what}: the output validates`);
  return true;
}

/** An unsigned LEB128 in as many bytes as it may have. */
const padded = (value: number) => [value | 0x80, 0x80, 0x80, 0x80, 0x00];

describe('instrument() on instructions', () => {
  /** Immediates that fit some instruction: zeros, alignments, a lane, block types, heap types. */
  const immediates = [
    ...Array.from({ length: 19 }, (_, length) => new Array<number>(length).fill(0)),
    ...[1, 2, 3, 4].flatMap((alignment) => [
      [alignment, 0],
      [alignment, 0, 0],
    ]),
    ...[[1], [2], [1, 0], [2, 0], [1, 1], [2, 2], [2, 0, 0], [0, 1], [3], [3, 0], [4, 0]],
    ...[[0x40, 0x0b], [0x40, 0, 0x0b], [0x70], [0x6e], [0x6c], [1, 0x7f], [0x40, 0x18, 0], [0x40, 0x07, 0, 0x0b]],
    ...[
      [0x40, 0x05, 0x0b],
      [0x40, 0x19, 0x0b],
      [0x40, 0x19, 0x09, 0, 0x0b],
    ],
    // br_on_cast to a block around it, whose result is anyref.
    ...[[3, 0, 0x6e, 0x6c]],
  ];
  const accepts = (opcode: readonly number[], what: string) =>
    // Behind `unreachable` an instruction finds the operands that it wants.
    immediates.filter(
      (immediate) =>
        staysValid(withCode(0, 0x00, ...opcode, ...immediate, 0x00, 0x0b), what) ||
        staysValid(withCode(0, 0x02, 0x6e, 0x00, ...opcode, ...immediate, 0x00, 0x0b, 0x1a, 0x0b), what),
    ).length > 0;

  it('knows every instruction of one byte that this engine knows', () => {
    const known = Array.from({ length: 0xfb }, (_, opcode) => opcode).filter((opcode) =>
      accepts([opcode], `opcode 0x${opcode.toString(16)}`),
    );
    assert.ok(known.length > 190, `${known.length} instructions`);
  });

  for (const [prefix, least] of Object.entries({ 0xfb: 31, 0xfc: 18, 0xfd: 256, 0xfe: 67 })) {
    it(`knows every instruction behind 0x${Number(prefix).toString(16)} that this engine knows`, () => {
      const known = Array.from({ length: 0x180 }, (_, opcode) => opcode).filter((opcode) => {
        const encoded = opcode < 0x80 ? [opcode] : [(opcode & 0x7f) | 0x80, opcode >> 7];
        return accepts([Number(prefix), ...encoded], `opcode ${prefix} 0x${opcode.toString(16)}`);
      });
      assert.ok(known.length >= least, `${known.length} instructions`);
    });
  }
});

describe('instrument() on numbers that are longer than they have to be', () => {
  const forms: Record<string, number[]> = {
    'the block type of nothing': [0, 0x02, 0xc0, 0x7f, 0x0b, 0x0b],
    'a type index as a block type': [0, 0x02, ...padded(0), 0x0b, 0x0b],
    'a heap type in a block type': [0, 0x02, 0x63, 0xf0, 0x7f, 0xd0, 0x70, 0x0b, 0x1a, 0x0b],
    'a heap type of ref.null': [0, 0xd0, 0xf0, 0xff, 0xff, 0xff, 0x7f, 0x1a, 0x0b],
    'a heap type of a local': [1, 1, 0x63, 0xf0, 0x7f, 0x0b],
    'heap types of ref.test': [0, 0xd0, 0x6e, 0xfb, 0x15, 0xec, 0x7f, 0x1a, 0x0b],
    'label and types of br_on_cast': [
      ...[0, 0x02, 0x6e, 0xd0, 0x6e, 0xfb, 0x18, 0x03, ...padded(0), 0xee, 0x7f, 0xec, 0x7f, 0x0b, 0x1a, 0x0b],
    ],
    'alignment, memory and offset': [0, 0x41, 0, 0x28, 0xc2, 0x80, 0x00, ...padded(0), ...padded(9), 0x1a, 0x0b],
    'an opcode behind a prefix': [0, 0x43, 0, 0, 0, 0, 0xfc, ...padded(0), 0x1a, 0x0b],
    'an i64': [0, 0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x1a, 0x0b],
    'counts of locals': [...padded(1), ...padded(1), 0x7f, 0x0b],
    'a count of types': [0, 0x41, 0, 0x41, 0, 0x41, 0, 0x1c, ...padded(1), 0x7f, 0x1a, 0x0b],
    'a count of catches and their labels': [0, 0x02, 0x40, 0x1f, 0x40, ...padded(1), 2, ...padded(0), 0x0b, 0x0b, 0x0b],
    'labels of a branch table': [0, 0x41, 0, 0x0e, ...padded(1), ...padded(0), ...padded(0), 0x0b],
    'a type and a table': [0, 0x41, 0, 0x11, ...padded(0), ...padded(0), 0x0b],
  };
  for (const [what, code] of Object.entries(forms)) {
    it(`takes ${what}`, () => {
      assert.ok(staysValid(withCode(...code), what));
    });
  }

  it('takes the counts, sizes and flags of sections, and heap types in them', () => {
    const type = [0x60, ...padded(0), ...padded(2), 0x63, 0xf0, 0x7f, 0x7f];
    const code = vector([sized([[0, 0xd0, 0x70, 0x41, 0, 0x0f, 0x0b]])]);
    const input = moduleOf(
      [section.type, Uint8Array.from([...padded(1), ...type])],
      [section.function, [...padded(1), ...padded(0)]],
      [section.table, [1, 0x40, 0, 0x70, 0, 1, 0xd0, 0xf0, 0x7f, 0x0b]],
      [section.export, [...padded(1), ...padded(1), 0x66, 0, ...padded(0)]],
      [section.element, [...padded(1), ...padded(0), 0x41, ...padded(0), 0x0b, ...padded(1), ...padded(0)]],
      [section.code, code],
    );
    assert.ok(staysValid(input, 'sections'));
  });
});

describe('instrument() on modules with hardly anything in them', () => {
  const modules: Record<string, Uint8Array> = {
    nothing: moduleOf(),
    'empty sections': moduleOf([section.type, [0]], [section.function, [0]], [section.code, [0]]),
    'an empty recursion group': moduleOf([section.type, [1, 0x4e, 0]]),
    'no element segments': moduleOf([section.element, [0]]),
    'an imported tag': moduleOf(
      [section.type, vector([functionType])],
      [section.import, [1, 1, 0x61, 1, 0x62, 4, 0, 0]],
    ),
    'one final function type': moduleOf(
      [section.type, [1, 0x4f, 0, ...functionType]],
      [section.function, [1, 0]],
      [section.code, vector([body()])],
    ),
    'a hundred empty bodies': moduleOf(
      [section.type, vector([functionType])],
      [section.function, repeated(100, [0])],
      [section.code, repeated(100, [2, 0, 0x0b])],
    ),
  };
  for (const [what, input] of Object.entries(modules)) {
    it(`takes ${what}`, () => {
      assert.ok(staysValid(input, what));
    });
  }
});
