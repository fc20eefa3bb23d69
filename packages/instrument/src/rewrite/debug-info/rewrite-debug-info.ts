import type { Section } from '../../binary/sections.ts';
import { peekFixed, putFixed } from '../../debug-info/numbers.ts';
import { invalidModule } from '../../errors.ts';
import { type OffsetMap, outputOffset } from '../offset-map.ts';
import { createAddressTable, rewriteAddressRanges } from './addresses.ts';
import { createDebugSections, type DebugSections, patchedContents, requireDebugSection } from './debug-sections.ts';
import { rewriteEntries } from './entries.ts';
import { rewriteFixedLists } from './fixed-lists.ts';
import { rewriteLinePrograms } from './line-programs.ts';
import { rewriteListTables } from './list-tables.ts';
import { type NumberList, sortUnique } from './number-list.ts';
import { createReferences } from './references.ts';

/** Debug sections that contain no code offsets: the entries that some refer to stay where they are. */
const unchanged = new Set(
  ['abbrev', 'str', 'line_str', 'str_offsets', 'names', 'pubnames', 'pubtypes', 'gnu_pubnames', 'gnu_pubtypes'].concat([
    'macinfo',
    'macro',
    'gdb_scripts',
  ]),
);

const rewritten = new Set(
  ['info', 'types', 'line', 'addr', 'aranges', 'ranges', 'rnglists'].concat(['loc', 'loclists']),
);

/** Whether the rewriter knows the debug section. */
export function isKnownDebugSection(name: string): boolean {
  if (!name.startsWith('.debug_')) return false;
  const rest = name.slice('.debug_'.length);
  return unchanged.has(rest) || rewritten.has(rest);
}

/**
 * Rewrites the DWARF of a module for the output's code, and returns the contents of the sections that change, by name. Throws
 * an {@link InstrumentError} for what it can't rewrite.
 *
 * - Entries keep their length: addresses and distances are replaced in place.
 * - Line programs, `.debug_rnglists` and `.debug_loclists` change their length, so offsets of them follow.
 * - Expressions stay: they name locals and globals, which only get more, and data.
 */
export function rewriteDebugInfo(
  bytes: Uint8Array,
  code: OffsetMap,
  debugSections: readonly Section[],
): ReadonlyMap<string, Uint8Array> {
  const sections = createDebugSections(bytes, code, debugSections);
  const addresses = createAddressTable(sections);
  const references = createReferences();
  rewriteEntries(sections, '.debug_info', addresses, references);
  const typeReferences = createReferences();
  rewriteEntries(sections, '.debug_types', addresses, typeReferences);
  for (const { fixedRanges, fixedLocations } of [references, typeReferences]) {
    rewriteFixedLists(sections, '.debug_ranges', fixedRanges);
    rewriteFixedLists(sections, '.debug_loc', fixedLocations);
  }
  const lines = rewriteLinePrograms(sections);
  const ranges = rewriteListTables(sections, '.debug_rnglists', references.ranges, addresses);
  const locations = rewriteListTables(sections, '.debug_loclists', references.locations, addresses);
  moveOffsets(sections, '.debug_info', references.linePlaces, lines);
  moveOffsets(sections, '.debug_info', references.rangePlaces, ranges);
  moveOffsets(sections, '.debug_info', references.locationPlaces, locations);
  moveOffsets(sections, '.debug_types', typeReferences.linePlaces, lines);
  moveMacroHeaders(sections, references.macroPlaces, lines);
  rewriteAddressRanges(sections);
  return sections.contents;
}

/** Replaces offsets of a section whose parts moved. */
function moveOffsets(sections: DebugSections, name: string, places: NumberList, moved: OffsetMap | undefined): void {
  if (places.length === 0) return;
  const section = sections.byName.get(name) as Section;
  const output = patchedContents(sections, name);
  for (const place of sortUnique(places)) {
    const at = Math.floor(place / 2);
    const size = place % 2 === 1 ? 8 : 4;
    const offset = peekFixed(sections.bytes, section.contentStart + at, size);
    if (moved === undefined || offset > (moved.inputs[moved.length - 1] as number)) {
      throw invalidModule(`Expected the offset of a table, found ${offset}`, section.contentStart + at);
    }
    putFixed(output, at, size, outputOffset(moved, offset));
  }
}

/** Macro units name a line table in their header. */
function moveMacroHeaders(sections: DebugSections, places: NumberList, lines: OffsetMap | undefined): void {
  if (places.length === 0) return;
  const info = sections.byName.get('.debug_info') as Section;
  const { bytes, offset: start, end } = requireDebugSection(sections, '.debug_macro', info.start);
  const headers: NumberList = { values: new Float64Array(places.length), length: 0 };
  for (const place of sortUnique(places)) {
    const at = info.contentStart + Math.floor(place / 2);
    const header = start + peekFixed(bytes, at, place % 2 === 1 ? 8 : 4);
    if (header + 11 > end) throw invalidModule('Expected the offset of macros', at);
    const flags = bytes[header + 2] as number;
    if ((flags & 2) !== 0) headers.values[headers.length++] = 2 * (header + 3 - start) + (flags & 1);
  }
  moveOffsets(sections, '.debug_macro', headers, lines);
}
