import { readCount, viewOf } from '../binary/reader.ts';
import { contentReader, type Section } from '../binary/sections.ts';
import { type ByteWriter, reserve, writeByte, writeRange, writeU32 } from '../binary/writer.ts';
import { invalidModule } from '../errors.ts';
import type { OffsetMapContext } from './create-offset-map.ts';
import { definitionIndex } from './layout.ts';

/**
 * Writes the functions that have an `annotate` attribute: function indices of four bytes each, as LLVM writes them.
 *
 * Throws `invalid_module` for a malformed section, which is legal in a custom section.
 */
export function writeAnnotatedFunctions(
  writer: ByteWriter,
  { module, layout }: OffsetMapContext,
  section: Section,
): void {
  const { offset: start, end } = contentReader(module.bytes, section);
  if ((end - start) % 4 !== 0) throw invalidModule(`Expected indices of 4 bytes, found ${end - start} bytes`, start);
  const source = viewOf(module.bytes);
  reserve(writer, end - start);
  const target = viewOf(writer.bytes);
  for (let offset = start; offset < end; offset += 4) {
    const index = source.getUint32(offset, true);
    if (index >= layout.functionCount) throw invalidModule(`Expected the index of a function, found ${index}`, offset);
    target.setUint32(writer.length, definitionIndex(layout, index), true);
    writer.length += 4;
  }
}

/** Lets the engine choose. */
const defaultHint = 0;

/** Writes one byte for each function that is not imported; added functions get no hint. */
export function writeCompilationHints(
  writer: ByteWriter,
  { module, layout, generated }: OffsetMapContext,
  section: Section,
): void {
  const reader = contentReader(module.bytes, section);
  const start = reader.offset;
  const count = readCount(reader, 'the number of hints');
  const expected = layout.functionCount - layout.importCount;
  if (count !== expected || reader.end - reader.offset !== expected) {
    throw invalidModule(`Expected a hint for each of ${expected} functions, found ${count}`, start);
  }
  writeU32(writer, count + generated.length);
  writeRange(writer, reader.bytes, reader.offset, reader.end);
  for (let added = 0; added < generated.length; added++) writeByte(writer, defaultHint);
}
