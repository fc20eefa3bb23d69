import { readName } from '../binary/reader.ts';
import { contentReader, readSections, type Section } from '../binary/sections.ts';
import { InstrumentError } from '../errors.ts';

/** The debug information of a module. */
export interface DebugInfo {
  /** The size of the DWARF sections in bytes; 0 without. */
  readonly dwarfBytes: number;
  /** The URL of the source map. A `data:` URL contains the map. */
  readonly sourceMapUrl: string | undefined;
  /** The URL of the file that has the DWARF sections. */
  readonly debugFileUrl: string | undefined;
}

/** Finds the debug information of a module. Throws an {@link InstrumentError} if the bytes are not a module. */
export function findDebugInfo(bytes: Uint8Array): DebugInfo {
  const sections = readSections(bytes);
  const dwarf = sections.filter(({ id, name }) => id === 0 && name.startsWith('.debug_'));
  return {
    dwarfBytes: dwarf.reduce((sum, { contentStart, end }) => sum + end - contentStart, 0),
    sourceMapUrl: urlIn(bytes, sections, 'sourceMappingURL'),
    debugFileUrl: urlIn(bytes, sections, 'external_debug_info'),
  };
}

/** https://github.com/WebAssembly/tool-conventions/blob/main/Debugging.md */
function urlIn(bytes: Uint8Array, sections: readonly Section[], name: string): string | undefined {
  const section = sections.find((each) => each.id === 0 && each.name === name);
  if (section === undefined) return undefined;
  try {
    return readName(contentReader(bytes, section), 'a URL');
  } catch (error) {
    if (error instanceof InstrumentError) return undefined;
    throw error;
  }
}

/** The text of a `data:` URL; undefined for any other URL. */
export function textOfDataUrl(url: string): string | undefined {
  const found = /^data:([^,]*),/i.exec(url);
  if (found === null) return undefined;
  const data = url.slice(found[0].length);
  try {
    if (!/;\s*base64\s*$/i.test(found[1] as string)) return decodeURIComponent(data);
    const binary = atob(decodeURIComponent(data));
    return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
