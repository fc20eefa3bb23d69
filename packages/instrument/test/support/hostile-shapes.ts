import {
  body,
  emptyType,
  leb,
  moduleOf,
  repeated,
  section,
  sized,
  vector,
} from '../../../../test/helpers/module-bytes.ts';
import type { InstrumentOptions } from '../../src/index.ts';

/** Input that grows with `size`, in the one thing by which it strains the rewriter. All of it validates. */
export interface HostileShape {
  readonly bytes: Uint8Array;
  readonly options?: InstrumentOptions;
}

const oneImport = repeated(1, [0, 0, 0, 0]);
const count = (size: number) => Array.from({ length: size }, (_, index) => index);

/** A module of one type, one import and functions with these bodies. */
function withBodies(bodies: readonly Uint8Array[], ...more: [number, Uint8Array | readonly number[]][]): Uint8Array {
  return moduleOf(
    [section.type, emptyType],
    [section.import, oneImport],
    [section.function, repeated(bodies.length, [0])],
    ...more,
    [section.code, vector(bodies)],
  );
}

function repeatedCode(times: number, ...instructions: number[]): Uint8Array {
  return Buffer.alloc(times * instructions.length, Uint8Array.from(instructions));
}

const functions = (size: number) => withBodies(new Array<Uint8Array>(size).fill(body()));

export const hostileShapes: Readonly<Record<string, (size: number) => HostileShape>> = {
  'imports, each with a wrapper': (size) => ({
    bytes: moduleOf([section.type, emptyType], [section.import, repeated(size, [0, 0, 0, 0])]),
  }),
  'functions that return early': (size) => ({ bytes: withBodies(new Array<Uint8Array>(size).fill(body(0x0f))) }),
  'functions that an exception can pass': (size) => ({
    bytes: withBodies(new Array<Uint8Array>(size).fill(body(0x10, 0)), [section.tag, [1, 0, 0]]),
  }),
  'exports of one function': (size) => ({
    bytes: withBodies(
      [body()],
      [
        section.export,
        vector(count(size).map((index) => [8, ...Buffer.from(index.toString(36).padStart(8, '-')), 0, 1])),
      ],
    ),
  }),
  'nested blocks with returns': (size) => ({
    bytes: withBodies([sized([[0], repeatedCode(size, 0x02, 0x40, 0x0f), repeatedCode(size + 1, 0x0b)])]),
  }),
  'tail calls of an import': (size) => ({
    bytes: withBodies([sized([[0], repeatedCode(size, 0x12, 0x00), [0x0b]])]),
  }),
  'labels of branch tables': (size) => ({
    bytes: withBodies([
      sized([
        [0],
        ...new Array<Uint8Array>(Math.ceil(size / 60_000)).fill(
          Buffer.concat([Uint8Array.from([0x41, 0, 0x0e, ...leb(60_000)]), Buffer.alloc(60_001)]),
        ),
        [0x0b],
      ]),
    ]),
  }),
  'memories that are grown': (size) => ({
    bytes: withBodies(
      [sized([[0], count(size).flatMap((index) => [0x41, 0, 0x40, ...leb(index), 0x1a]), [0x0b]])],
      [section.memory, repeated(size, [0, 1])],
      [
        section.export,
        vector(count(size).map((index) => [8, ...Buffer.from(index.toString(36).padStart(8, '-')), 2, ...leb(index)])),
      ],
    ),
  }),
  'element segments': (size) => ({
    bytes: withBodies([body()], [section.element, repeated(size, [1, 0, 1, 0])]),
  }),
  'types of several results': (size) => ({
    bytes: moduleOf(
      [
        section.type,
        vector(count(size).map((index) => [0x60, 0, 17, ...count(17).map((bit) => 0x7f - ((index >> bit) & 1))])),
      ],
      [section.function, vector(count(size).map(leb))],
      [section.code, repeated(size, [4, 0, 0x00, 0x0f, 0x0b])],
    ),
  }),
  'custom sections that are dropped': (size) => ({
    bytes: moduleOf(...new Array<[number, number[]]>(size).fill([0, [7, ...Buffer.from('.debug_')]])),
  }),
  'names of locals': (size) => ({
    bytes: moduleOf(
      [section.type, emptyType],
      [section.function, [1, 0]],
      [section.code, vector([body()])],
      [
        section.custom,
        Buffer.concat([
          Uint8Array.of(4, ...Buffer.from('name'), 2),
          sized([[1, 0], vector(count(size).map((index) => [...leb(index), 1, 0x61]))]),
        ]),
      ],
    ),
  }),
  'banned names that no function has': (size) => ({
    bytes: functions(size),
    options: { banned: count(Math.min(size, 20_000)).map((index) => `no such name ${index}`) },
  }),
  'patterns with many stars': (size) => ({
    bytes: functions(size),
    options: { patterns: true, banned: count(50).map((index) => `${'*a'.repeat(50)}${index}`) },
  }),
};
