import { skipBytes } from '../../binary/reader.ts';
import { peekFixed, putFixed, readFixed } from '../../debug-info/numbers.ts';
import { invalidModule } from '../../errors.ts';
import { outputOffset, outputStart } from '../offset-map.ts';
import { type DebugSections, patchedContents, requireDebugSection } from './debug-sections.ts';
import { type ListRequests, requestedLists } from './list-requests.ts';

/**
 * Moves the addresses in the lists of DWARF 4 and before: `.debug_ranges`, or `.debug_loc`, whose entries have an expression.
 * An entry is a pair of distances from a base address. The lengths stay.
 */
export function rewriteFixedLists(
  sections: DebugSections,
  name: '.debug_ranges' | '.debug_loc',
  requests: ListRequests,
): void {
  if (requests.numbers.length === 0) return;
  const reader = requireDebugSection(sections, name, 0);
  const { bytes, offset: start, end } = reader;
  const output = patchedContents(sections, name);
  /** The end of the lists so far, and the base that the last one has from its first entry on; -1 if it changes. */
  let doneUntil = 0;
  let doneBase = -1;
  for (const { offset, unit, isStart } of requestedLists(requests)) {
    if (offset < doneUntil) {
      // The tail of another list, which may be shared.
      if (unit.input === doneBase) continue;
      throw invalidModule(`Expected lists in ${name} that don't overlap`, start + offset);
    }
    reader.offset = Math.min(start + offset, end);
    const { addressSize } = unit;
    let base = unit.input;
    let outputBase = unit.output;
    doneBase = base;
    for (;;) {
      const at = reader.offset;
      const isSelection = isAllOnes(bytes, at, addressSize);
      const low = readFixed(reader, addressSize, 'the start of a range');
      const high = readFixed(reader, addressSize, 'the end of a range');
      if (low === 0 && high === 0) break;
      if (isSelection) {
        base = high;
        outputBase = base <= sections.codeEnd ? outputStart(sections.code, base) : base;
        doneBase = -1;
        putFixed(output, at - start + addressSize, addressSize, outputBase);
        continue;
      }
      if (Math.max(low, high) + base <= sections.codeEnd) {
        const moveLow = isStart || low === 0 ? outputStart : outputOffset;
        const newLow = (low === 0 ? outputBase : moveLow(sections.code, base + low)) - outputBase;
        const newHigh = (high === 0 ? outputBase : outputOffset(sections.code, base + high)) - outputBase;
        if (
          newLow < 0 ||
          newHigh < 0 ||
          newHigh >= 2 ** (8 * addressSize) ||
          (newLow === 0 && newHigh === 0 && high !== 0)
        ) {
          throw invalidModule(`Expected a range behind its base in ${name}`, at);
        }
        putFixed(output, at - start, addressSize, newLow);
        putFixed(output, at - start + addressSize, addressSize, newHigh);
      }
      if (name === '.debug_loc') skipBytes(reader, readFixed(reader, 2, 'the length of a location'), 'a location');
    }
    doneUntil = reader.offset - start;
  }
}

function isAllOnes(bytes: Uint8Array, at: number, size: number): boolean {
  return peekFixed(bytes, at, 4) === 0xffff_ffff && (size === 4 || peekFixed(bytes, at + 4, 4) === 0xffff_ffff);
}
