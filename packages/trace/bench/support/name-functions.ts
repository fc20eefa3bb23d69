import { listFunctions } from '@tenon/instrument';

/**
 * Gives the functions of a module names, `f` and their index, where none has any: packages ship their modules without, and
 * what has no name can be neither allowed nor banned.
 */
export function nameFunctions(bytes: Uint8Array): Uint8Array {
  const { functions } = listFunctions(bytes);
  if (functions.some(({ nameSource }) => nameSource === 'name-section')) return bytes;
  const entries = functions.flatMap(({ index }) => [...leb(index), ...text(`f${index}`)]);
  const names = [...leb(functions.length), ...entries];
  // https://webassembly.github.io/spec/core/appendix/custom.html#name-section
  const section = [...text('name'), 1, ...leb(names.length), ...names];
  const header = [0, ...leb(section.length)];
  const named = new Uint8Array(bytes.length + header.length + section.length);
  named.set(bytes);
  named.set(header, bytes.length);
  named.set(section, bytes.length + header.length);
  return named;
}

function text(value: string): number[] {
  return [...leb(value.length), ...new TextEncoder().encode(value)];
}

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}
