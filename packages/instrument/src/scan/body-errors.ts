import { ImmediateKind, oneByteKinds, refusedFeature } from '../binary/opcodes.ts';
import { peekU32 } from '../binary/skip.ts';
import { type InstrumentError, invalidModule, unsupportedFeature } from '../errors.ts';

/** True: the label is the function's own, which a depth of `depth` blocks leaves as the outermost. */
export function checkLabel(label: number, depth: number, offset: number, functionIndex: number): true {
  checkLabelExists(label, depth, offset, functionIndex);
  return true;
}

/** Checks a label that is not branched to as the function's own. */
export function checkLabelExists(label: number, depth: number, offset: number, functionIndex: number): void {
  if (label > depth) throw invalidModule(`Expected a label up to ${depth}, found ${label}`, offset, functionIndex);
}

export function noSuchFunction(index: number, offset: number, functionIndex: number): InstrumentError {
  return invalidModule(`Expected the index of a function, found ${index}`, offset, functionIndex);
}

/** Names the proposal that has the opcode, if one is known to. */
export function unknownOpcode(source: Uint8Array, opAt: number, end: number, functionIndex: number): InstrumentError {
  const byte = source[opAt] as number;
  const isPrefixed = oneByteKinds[byte] === ImmediateKind.Prefix;
  const opcode = isPrefixed ? peekU32(source, opAt + 1, end, functionIndex) : byte;
  const found = isPrefixed
    ? `Found opcode 0x${byte.toString(16)} 0x${opcode.toString(16)}`
    : `Found opcode 0x${byte.toString(16)}`;
  const feature = refusedFeature(isPrefixed ? byte : -1, opcode);
  if (feature !== undefined) return unsupportedFeature(feature, found, opAt, functionIndex);
  return invalidModule(`${found}, which no instruction has`, opAt, functionIndex);
}
