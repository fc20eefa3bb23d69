/** Builds modules byte by byte, also of millions of entries, and apart from the rewriter's own writer. */

/** An unsigned LEB128. */
export function leb(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

/** `count`, then `entry` as many times. */
export function repeated(count: number, entry: readonly number[]): Uint8Array {
  return concatenate([leb(count), Buffer.alloc(count * entry.length, Uint8Array.from(entry))]);
}

type Part = Uint8Array | readonly number[];

function concatenate(parts: readonly Part[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (part instanceof Uint8Array ? part : Uint8Array.from(part))));
}

/** How many entries there are, then the entries. */
export function vector(entries: readonly Part[]): Uint8Array {
  return concatenate([leb(entries.length) as Part].concat(entries));
}

/** The number of bytes, then the bytes. */
export function sized(parts: readonly Part[]): Uint8Array {
  return concatenate([leb(parts.reduce((total, part) => total + part.length, 0)) as Part].concat(parts));
}

/** A name: its length in bytes, then its UTF-8. */
export function text(value: string): Uint8Array {
  return sized([new TextEncoder().encode(value)]);
}

/** A custom section, to be put behind a module. */
export function customSection(name: string, contents: Part): Uint8Array {
  return concatenate([[section.custom], sized([text(name), contents])]);
}

/** A module of sections: `[id, contents]`. */
export function moduleOf(...sections: readonly (readonly [number, Part])[]): Uint8Array<ArrayBuffer> {
  const preamble = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  const parts = sections.flatMap(([id, contents]) => [Uint8Array.of(id), sized([contents])]);
  return new Uint8Array(Buffer.concat([preamble, ...parts]));
}

/** Section ids, in the order in which they stand in a module. */
export const section = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  tag: 13,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  dataCount: 12,
  code: 10,
  data: 11,
} as const;

/** `[] -> []`, alone. */
export const emptyType = [1, 0x60, 0, 0];
/** A body without locals: its size, no locals, the instructions, `end`. */
export function body(...instructions: readonly number[]): Uint8Array {
  return sized([[0, ...instructions, 0x0b]]);
}
