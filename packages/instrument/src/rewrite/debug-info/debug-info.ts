import type { Module } from '../../binary/module.ts';
import { type Section, SectionId } from '../../binary/sections.ts';
import { InstrumentError } from '../../errors.ts';
import type { InstrumentOptions } from '../../select/config.ts';
import type { OffsetMap } from '../offset-map.ts';
import { isKnownDebugSection, rewriteDebugInfo } from './rewrite-debug-info.ts';

export const debugSectionPrefix = '.debug_';

/** The contents of a debug section in the output, or why it is dropped. */
export type DebugInfo = (section: Section) => Uint8Array | string;

/** Rewrites all debug sections when the first one is needed. If one can't be rewritten, all are dropped. */
export function createDebugInfo(
  { bytes, sections }: Pick<Module, 'bytes' | 'sections'>,
  { debugInfo }: InstrumentOptions,
  offsetMap: () => OffsetMap,
): DebugInfo {
  let result: ReadonlyMap<string, Uint8Array> | string | undefined;
  return (section) => {
    if (debugInfo === 'drop') return 'the option debugInfo is "drop"';
    if (!isKnownDebugSection(section.name)) return 'it may contain offsets into the code, which moved';
    result ??= rewriteAll(bytes, sections, offsetMap);
    if (typeof result === 'string') return result;
    return result.get(section.name) ?? bytes.subarray(section.contentStart, section.end);
  };
}

function rewriteAll(
  bytes: Uint8Array,
  sections: readonly Section[],
  offsetMap: () => OffsetMap,
): ReadonlyMap<string, Uint8Array> | string {
  const debugSections = sections.filter(({ id, name }) => id === SectionId.custom && isKnownDebugSection(name));
  try {
    return rewriteDebugInfo(bytes, offsetMap(), debugSections);
  } catch (error) {
    if (!(error instanceof InstrumentError)) throw error;
    return `it belongs to debug information that can't be rewritten: ${error.message}`;
  }
}
