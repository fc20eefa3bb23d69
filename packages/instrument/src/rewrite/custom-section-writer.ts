import { expectEnd, readName } from '../binary/reader.ts';
import { contentReader, type Section, SectionId } from '../binary/sections.ts';
import { createWriter, writeName, writeU32 } from '../binary/writer.ts';
import { InstrumentError } from '../errors.ts';
import type { Note } from '../notes.ts';
import { readBuildId, writeNewBuildId } from './build-id.ts';
import { ruleOf } from './custom-sections.ts';
import { type DebugSections, rewriteDebugFile } from './debug-file.ts';
import { createDebugInfo, debugSectionPrefix } from './debug-info/debug-info.ts';
import type { OffsetMap } from './offset-map.ts';
import type { Parts } from './parts.ts';
import { addWritten, type Piece, sectionHeader } from './pieces.ts';
import { createFileOffsets, writeSourceMapUrl } from './source-map-section.ts';
import { type FileOffsets, rewriteSourceMap, SourceMapError } from './source-maps.ts';

/** The build ID of the input and of the output, in hexadecimal. */
export interface BuildIds {
  readonly input: string;
  readonly output: string;
}

/** Writes custom sections apart from `name` and `producers`. */
export interface CustomSectionWriter {
  /** Adds a section to the pieces. A source map waits for {@link addSourceMaps}. */
  readonly add: (section: Section) => void;
  /** Adds the sections that need the place of the code, and returns the rewritten source map of the options. */
  readonly addSourceMaps: (outputCodeStart: number) => string | undefined;
  /** Fills in the build ID. */
  readonly finish: (output: Uint8Array) => BuildIds | undefined;
  /** The debug sections of the file in the options. */
  readonly debugSections: () => DebugSections | undefined;
}

export function createCustomSectionWriter(
  pieces: Piece[],
  parts: Parts,
  offsetMap: () => OffsetMap,
): CustomSectionWriter {
  const { module, notes } = parts;
  const sourceMapSections: Section[] = [];
  const debugInfo = createDebugInfo(module, parts.options, offsetMap);
  let debugSections: DebugSections | undefined;
  let buildId: { readonly old: Uint8Array; readonly piece: Uint8Array } | undefined;

  /** Adds a section with the contents that `write` writes, unless these are malformed or `write` returns a reason. */
  function addRewritten(
    section: Section,
    write: (writer: ReturnType<typeof createWriter>) => string | undefined,
  ): void {
    const writer = createWriter(section.end - section.start + 64);
    writeName(writer, section.name);
    const reason = reasonToDrop(() => write(writer));
    if (reason === undefined) addWritten(pieces, SectionId.custom, writer);
    else noteDropped(notes, section, reason);
  }

  function addDebugSection(section: Section): void {
    const contents = debugInfo(section);
    if (typeof contents === 'string') {
      noteDropped(notes, section, contents);
      return;
    }
    const writer = createWriter(64);
    writeName(writer, section.name);
    pieces.push(sectionHeader(SectionId.custom, writer.length + contents.length));
    pieces.push(writer.bytes.subarray(0, writer.length), contents);
  }

  function addExternalDebugInfo(section: Section): void {
    const { debugFile, debugFileUrl } = parts.options;
    const rewritten =
      debugFile === undefined
        ? 'it names a file with code offsets, which is not at hand'
        : rewriteDebugFile(parts, debugFile, offsetMap);
    if (typeof rewritten === 'string') {
      noteDropped(notes, section, rewritten);
      return;
    }
    debugSections = rewritten;
    addRewritten(section, (writer) => {
      const reader = contentReader(module.bytes, section);
      const url = readName(reader, 'a URL');
      expectEnd(reader, 'the URL');
      writeName(writer, debugFileUrl ?? url);
      return undefined;
    });
  }

  function addBuildId(section: Section): string | undefined {
    if (buildId !== undefined) return 'only the first one counts';
    const old = readBuildId(module.bytes, section);
    const writer = createWriter(16);
    writeName(writer, section.name);
    writeU32(writer, old.length);
    buildId = { old, piece: new Uint8Array(old.length) };
    pieces.push(sectionHeader(SectionId.custom, writer.length + old.length));
    pieces.push(writer.bytes.subarray(0, writer.length), buildId.piece);
    return undefined;
  }

  return {
    add(section) {
      const rule = ruleOf(section.name);
      if (section.name === 'sourceMappingURL') sourceMapSections.push(section);
      else if (section.name.startsWith(debugSectionPrefix)) addDebugSection(section);
      else if (section.name === 'external_debug_info') addExternalDebugInfo(section);
      else if (section.name === 'build_id') {
        const reason = reasonToDrop(() => addBuildId(section));
        if (reason !== undefined) noteDropped(notes, section, reason);
      } else if (rule?.write !== undefined) {
        const { write } = rule;
        addRewritten(section, (writer) => {
          write(writer, parts, offsetMap, section);
          return undefined;
        });
      } else if (rule?.treatment === 'dropped') noteDropped(notes, section, rule.reason);
      else pieces.push(module.bytes.subarray(section.start, section.end));
    },

    addSourceMaps(outputCodeStart) {
      let offsets: FileOffsets | undefined;
      const fileOffsets = () => (offsets ??= createFileOffsets(parts, offsetMap(), outputCodeStart));
      const { sourceMap, sourceMapUrl } = parts.options;
      let rewritten: string | undefined;
      const reason = reasonToDrop(() => {
        rewritten = sourceMap === undefined ? undefined : rewriteSourceMap(sourceMap, fileOffsets());
        return undefined;
      });
      if (reason !== undefined) {
        notes.push({ code: 'source_map_dropped', message: `The given source map was dropped: ${reason}` });
      }
      for (const section of sourceMapSections) {
        addRewritten(section, (writer) =>
          writeSourceMapUrl(writer, module, section, fileOffsets, rewritten, sourceMapUrl),
        );
      }
      return rewritten;
    },

    finish(output) {
      if (buildId === undefined) return undefined;
      const { old, piece } = buildId;
      const before = pieces.slice(0, pieces.indexOf(piece));
      const start = before.reduce((total, { length }) => total + length, 0);
      const id = output.subarray(start, start + piece.length);
      writeNewBuildId(id, old, output);
      return { input: toHex(old), output: toHex(id) };
    },

    debugSections: () => debugSections,
  };
}

/** What `write` returns, or how the contents that it reads are malformed. */
function reasonToDrop(write: () => string | undefined): string | undefined {
  try {
    return write();
  } catch (error) {
    if (error instanceof InstrumentError || error instanceof SourceMapError) return `it is malformed: ${error.message}`;
    throw error;
  }
}

export function noteDropped(notes: Note[], section: Section, reason: string): void {
  const message = `Custom section ${JSON.stringify(section.name)} was dropped: ${reason}`;
  notes.push({ code: 'section_dropped', message, section: section.name, offset: section.start });
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
