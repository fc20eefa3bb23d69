import type { Module } from '../binary/module.ts';
import { expectEnd, readName } from '../binary/reader.ts';
import { contentReader, findSection, type Section, SectionId } from '../binary/sections.ts';
import { type ByteWriter, writeName } from '../binary/writer.ts';
import { textOfDataUrl } from '../debug-info/find-debug-info.ts';
import type { OffsetMapContext } from './create-offset-map.ts';
import { type OffsetMap, outputOffset } from './offset-map.ts';
import { type FileOffsets, rewriteSourceMap, SourceMapError } from './source-maps.ts';

/** The offsets of the code sections' contents in the files, and where the functions of the input end in the output. */
export function createFileOffsets({ module }: OffsetMapContext, map: OffsetMap, outputCodeStart: number): FileOffsets {
  const section = findSection(module.sections, SectionId.code);
  const inputStart = section?.contentStart ?? module.bytes.length;
  const inputEnd = section?.end ?? module.bytes.length;
  const outputEnd = outputCodeStart + (map.outputs[map.length - 1] as number);
  return {
    addedCodeStart: outputEnd,
    toOutput(offset) {
      if (offset < inputStart) return Math.min(offset, outputCodeStart);
      if (offset >= inputEnd) return outputEnd + offset - inputEnd;
      return outputCodeStart + outputOffset(map, offset - inputStart);
    },
  };
}

/**
 * Writes the contents of `sourceMappingURL`: a `data:` URL with the rewritten map; otherwise `newUrl` or the same URL, if the
 * caller gets the rewritten map `given`. Returns a reason if the section must be dropped.
 */
export function writeSourceMapUrl(
  writer: ByteWriter,
  module: Module,
  section: Section,
  offsets: () => FileOffsets,
  given: string | undefined,
  newUrl: string | undefined,
): string | undefined {
  const reader = contentReader(module.bytes, section);
  const url = readName(reader, 'a URL');
  expectEnd(reader, 'the URL');
  if (/^data:/i.test(url)) {
    const text = textOfDataUrl(url);
    if (text === undefined) throw new SourceMapError('the data: URL can not be decoded');
    writeName(writer, dataUrlOf(rewriteSourceMap(text, offsets())));
    return undefined;
  }
  if (given === undefined) return 'its source map, which contains offsets into the code, is not at hand';
  writeName(writer, newUrl === 'data:' ? dataUrlOf(given) : (newUrl ?? url));
  return undefined;
}

function dataUrlOf(json: string): string {
  const bytes = new TextEncoder().encode(json);
  const chunk = 0x8000;
  let binary = '';
  for (let at = 0; at < bytes.length; at += chunk) binary += String.fromCharCode(...bytes.subarray(at, at + chunk));
  return `data:application/json;base64,${btoa(binary)}`;
}
