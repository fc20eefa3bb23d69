import { body, leb, moduleOf, repeated, section, sized, vector } from '../../../../test/helpers/module-bytes.ts';

const values = (count: number): number[] => [...leb(count), ...new Array<number>(count).fill(0x7f)];
const wide = (parameters: number, results: number): number[] => [0x60, ...values(parameters), ...values(results)];
const structure = (fields: number): number[] => [
  0x5f,
  ...leb(fields),
  ...new Array<number[]>(fields).fill([0x7f, 1]).flat(),
];
const times = (count: number, ...instructions: number[]): Uint8Array =>
  Buffer.alloc(count * instructions.length, Uint8Array.from(instructions));

type Section = [number, Uint8Array | readonly number[]];

/** A module of these types, and of functions of type 0 with this body. */
function withBodies(
  types: readonly (readonly number[])[],
  count: number,
  bytes: Uint8Array,
  ...more: Section[]
): Uint8Array {
  return moduleOf([section.type, vector(types)], [section.function, repeated(count, [0])], ...more, [
    section.code,
    Buffer.concat([Uint8Array.from(leb(count)), ...new Array<Uint8Array>(count).fill(bytes)]),
  ]);
}

/** A module of one function with these instructions, of which none is reached. */
function withCode(
  types: readonly (readonly number[])[],
  code: readonly (Uint8Array | readonly number[])[],
  ...more: Section[]
) {
  return withBodies(types, 1, sized([[0, 0x00], ...code, [0x0b]]), ...more);
}

const none = [0x60, 0, 0];
const oneTag: Section = [section.tag, [1, 0, 1]];

/**
 * Small modules that engines take long to validate, by what it is that takes them long. Each has about `count` times the thing, and an
 * engine does more than a thousand steps for each.
 */
export const slowModules: Readonly<Record<string, (count: number) => Uint8Array>> = {
  'locals of many functions': (count) => withBodies([none], count, sized([[1, ...leb(50_000), 0x7f, 0x0b]])),
  'parameters of many functions': (count) => withBodies([wide(1_000, 0)], count, body()),
  'calls with many arguments': (count) => withCode([wide(1_000, 1_000)], [times(count, 0x10, 0)]),
  'tail calls with many arguments': (count) => withCode([wide(1_000, 0)], [times(count, 0x12, 0)]),
  'indirect calls with many arguments': (count) =>
    withCode([none, wide(1_000, 1_000)], [times(count, 0x11, 1, 0), [0x00]], [section.table, [1, 0x70, 0, 0]]),
  'indirect tail calls with many arguments': (count) =>
    withCode([none, wide(1_000, 0)], [times(count, 0x13, 1, 0)], [section.table, [1, 0x70, 0, 0]]),
  'calls of references with many arguments': (count) => withCode([none, wide(1_000, 0)], [times(count, 0x00, 0x14, 1)]),
  'tail calls of references with many arguments': (count) =>
    withCode([none, wide(1_000, 0)], [times(count, 0x00, 0x15, 1)]),
  'returns of many results': (count) => withCode([wide(0, 1_000)], [times(count, 0x0f)]),
  'branches with many results': (count) => withCode([wide(0, 1_000)], [times(count, 0x0c, 0)]),
  'branch tables with many results': (count) => withCode([wide(0, 1_000)], [times(count, 0x0e, 0, 0)]),
  'blocks with many parameters and results': (count) =>
    withCode([none, wide(1_000, 1_000)], [times(count, 0x02, 1, 0x00, 0x0b, 0x00)]),
  'branches out of a wide block': (count) =>
    withCode([none, wide(0, 1_000)], [[0x02, 1, 0x00], times(count, 0x0c, 0), [0x0b, 0x00]]),
  'branches out of a wide block of a late type': (count) =>
    withCode(
      [...new Array<number[]>(200).fill(none), wide(0, 1_000)],
      [[0x02, 0xc8, 1, 0x00], times(count, 0x0c, 0), [0x0b, 0x00]],
    ),
  'tries with many results, and branches out of one': (count) =>
    withCode([none, wide(0, 1_000)], [[0x06, 1, 0x00], times(count, 0x0c, 0), [0x19, 0x00, 0x0b, 0x00]]),
  'branch tables in deep nesting': (count) =>
    withCode([none], [times(count, 0x02, 0x40), [0x00], times(count, 0x0e, 0, 0), times(count, 0x0b)]),
  'throws of a wide tag': (count) => withCode([none, wide(1_000, 0)], [times(count, 0x08, 0)], oneTag),
  'catches of a wide tag': (count) =>
    withCode([none, wide(1_000, 0)], [[0x06, 0x40, 0x00], times(count, 0x07, 0, 0x00), [0x0b]], oneTag),
  'catch clauses of a wide tag': (count) =>
    withCode(
      [none, wide(1_000, 0), wide(0, 1_000)],
      [[0x02, 2, 0x1f, 0x40, ...leb(count)], times(count, 0, 0, 0), [0x0b, 0x00, 0x0b, 0x00]],
      oneTag,
    ),
  'structures of many fields': (count) => withCode([none, structure(10_000)], [times(count, 0xfb, 0, 1, 0x1a)]),
  'structures of many defaults': (count) => withCode([none, structure(10_000)], [times(count, 0xfb, 1, 1, 0x1a)]),
  'arrays of many elements': (count) => withCode([none, [0x5e, 0x7f, 1]], [times(count, 0xfb, 8, 1, 0x90, 0x4e, 0x1a)]),
  'structures of many defaults in constants': (count) =>
    moduleOf(
      [section.type, vector([none, structure(10_000)])],
      [section.function, [1, 0]],
      [section.element, Buffer.concat([Uint8Array.from([1, 5, 0x6d, ...leb(count)]), times(count, 0xfb, 1, 1, 0x0b)])],
      [section.code, vector([body()])],
    ),
};
