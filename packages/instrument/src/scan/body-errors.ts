import { ImmediateKind, oneByteKinds } from '../binary/opcodes.ts';
import { refusedFeature } from '../binary/refused-opcodes.ts';
import { peekU32 } from '../binary/skip.ts';
import { type InstrumentError, invalidModule, unsupportedFeature } from '../errors.ts';

/** At a nesting of `depth` blocks, the function's own label has the index `depth`. */
export function checkLabel(label: number, depth: number, offset: number, functionIndex: number): void {
  if (label > depth) throw invalidModule(`Expected a label up to ${depth}, found ${label}`, offset, functionIndex);
}

export function noSuchFunction(index: number, offset: number, functionIndex: number): InstrumentError {
  return invalidModule(`Expected the index of a function, found ${index}`, offset, functionIndex);
}

/** An error for an unknown opcode, which names its proposal if that is known. */
export function unknownOpcode(source: Uint8Array, opAt: number, end: number, functionIndex: number): InstrumentError {
  const byte = source[opAt] as number;
  const isPrefixed = oneByteKinds[byte] === ImmediateKind.Prefix;
  const opcode = isPrefixed ? peekU32(source, opAt + 1, end, functionIndex) : byte;
  const found = isPrefixed
    ? `Found opcode 0x${byte.toString(16)} 0x${opcode.toString(16)}`
    : `Found opcode 0x${byte.toString(16)}`;
  const feature = refusedFeature(isPrefixed ? byte : undefined, opcode);
  if (feature !== undefined) return unsupportedFeature(feature, found, opAt, functionIndex);
  return invalidModule(`${found}, which no instruction has`, opAt, functionIndex);
}
