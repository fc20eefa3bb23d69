import { type ByteReader, expectEnd, readCount, readerOver, readName } from '../binary/reader.ts';
import type { Section } from '../binary/sections.ts';
import { type ByteWriter, writeName, writeU32 } from '../binary/writer.ts';
import { InstrumentError, invalidModule } from '../errors.ts';
import { maxProducersBytes } from '../limits.ts';
import type { Note } from '../notes.ts';
import { version } from '../version.ts';

interface Field {
  readonly name: string;
  readonly values: { readonly name: string; readonly version: string }[];
}

/**
 * Writes the contents of a `producers` section that names Tenon among the tools.
 * https://github.com/WebAssembly/tool-conventions/blob/main/ProducersSection.md
 */
export function writeProducers(
  writer: ByteWriter,
  bytes: Uint8Array,
  section: Section | undefined,
  notes: Note[],
): void {
  const fields = section === undefined ? [] : readProducers(bytes, section, notes);
  let processedBy = fields.find(({ name }) => name === 'processed-by');
  if (processedBy === undefined) {
    processedBy = { name: 'processed-by', values: [] };
    fields.push(processedBy);
  }
  if (!processedBy.values.some(({ name }) => name === 'tenon')) processedBy.values.push({ name: 'tenon', version });
  writeU32(writer, fields.length);
  for (const { name, values } of fields) {
    writeName(writer, name);
    writeU32(writer, values.length);
    for (const value of values) {
      writeName(writer, value.name);
      writeName(writer, value.version);
    }
  }
}

function readProducers(bytes: Uint8Array, section: Section, notes: Note[]): Field[] {
  const reader = readerOver(bytes, section.contentStart, section.end);
  try {
    const size = section.end - section.contentStart;
    if (size > maxProducersBytes) {
      throw invalidModule(`Expected at most ${maxProducersBytes} bytes, found ${size}`, section.contentStart);
    }
    const fields = Array.from({ length: readCount(reader, 'the number of fields', 2) }, () => readField(reader));
    expectEnd(reader, 'the producers section');
    return fields;
  } catch (error) {
    if (!(error instanceof InstrumentError) || error.offset === undefined) throw error;
    const message = `The producers section is malformed and is replaced: ${error.message}`;
    notes.push({ code: 'section_malformed', message, section: 'producers', offset: error.offset });
    return [];
  }
}

function readField(reader: ByteReader): Field {
  const name = readName(reader, 'the name of a field');
  const values = Array.from({ length: readCount(reader, 'the number of values', 2) }, () => ({
    name: readName(reader, 'the name of a tool'),
    version: readName(reader, 'the version of a tool'),
  }));
  return { name, values };
}
