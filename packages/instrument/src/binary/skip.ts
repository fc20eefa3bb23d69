import { invalidModule } from '../errors.ts';
import { isAbstractHeapType, isShortValueType, unknownType } from './types.ts';

/**
 * Functions that skip parts of a function body, or read ahead in it. They run for every instruction, so they take and return plain offsets. The
 * caller's loop checks for an offset beyond the body's end. Bytes beyond the module read as undefined, which ends every
 * loop here.
 */

/** The offset after a LEB128 of at most `maxBytes` bytes. */
export function skipLeb(source: Uint8Array, start: number, maxBytes: number, functionIndex: number): number {
  let pos = start;
  while ((source[pos++] as number) >= 0x80) {
    if (pos - start >= maxBytes) {
      throw invalidModule(`Expected a LEB128 of at most ${maxBytes} bytes, found a longer one`, start, functionIndex);
    }
  }
  return pos;
}

/** The value of an unsigned LEB128 of at most 32 bits that must lie before `end`. */
export function peekU32(source: Uint8Array, start: number, end: number, functionIndex: number): number {
  const first = source[start] as number;
  if (first < 0x80 && start < end) return first;
  let value = 0;
  for (let index = 0; index < 5; index++) {
    if (start + index >= end) {
      const offset = Math.min(start, end);
      throw invalidModule('Expected an index or a count, found the end of the body', offset, functionIndex);
    }
    const byte = source[start + index] as number;
    if (index === 4 && byte > 0x0f) break;
    value |= (byte & 0x7f) << (7 * index);
    if (byte < 0x80) return value >>> 0;
  }
  throw invalidModule('Expected a LEB128 of at most 32 bits, found a longer one', start, functionIndex);
}

/** The offset after a memory argument. https://webassembly.github.io/spec/core/binary/instructions.html#memory-instructions */
export function skipMemArg(source: Uint8Array, start: number, functionIndex: number): number {
  const flags = source[start] as number;
  // Most memory arguments are two bytes: an alignment below 64, and an offset below 128.
  if (flags < 0x40 && (source[start + 1] as number) < 0x80) return start + 2;
  let pos = skipLeb(source, start, 5, functionIndex);
  if (flags & 0x40) pos = skipLeb(source, pos, 5, functionIndex);
  return skipLeb(source, pos, 10, functionIndex);
}

/**
 * The offset after a value type. Rejects unknown types, because some are prefixes (`exact`, `shared`), and the bytes after
 * them must not be read as instructions.
 */
export function skipValueType(source: Uint8Array, start: number, functionIndex: number): number {
  const byte = source[start] as number;
  if (byte === 0x63 || byte === 0x64) return skipHeapType(source, start + 1, functionIndex);
  if (isShortValueType[byte] === 1) return start + 1;
  if (start < source.length) throw unknownType(byte, 'a value type', start, functionIndex);
  throw invalidModule('Expected a value type, found the end of the bytes', source.length, functionIndex);
}

/** The offset after a heap type: the index of a type, or an abstract one. */
export function skipHeapType(source: Uint8Array, start: number, functionIndex: number): number {
  const byte = source[start] as number;
  const end = byte < 0x80 ? start + 1 : skipLeb(source, start, 5, functionIndex);
  const last = source[end - 1] as number;
  // Abstract types are negative numbers. The first byte's low seven bits are the type's code, even if the LEB128 is padded.
  const isAbstract = (last & 0x40) !== 0;
  if (isAbstract && isAbstractHeapType[byte & 0x7f] !== 1) {
    throw unknownType(byte & 0x7f, 'a heap type', start, functionIndex);
  }
  return end;
}

/** The offset after a block type: nothing, a value type, or a type index. */
export function skipBlockType(source: Uint8Array, start: number, functionIndex: number): number {
  const byte = source[start] as number;
  if (byte >= 0x80) return skipLeb(source, start, 5, functionIndex);
  return byte <= 0x40 ? start + 1 : skipValueType(source, start, functionIndex);
}
