import { type ProducersField, readProducers } from '../binary/producers.ts';
import type { Section } from '../binary/sections.ts';
import { type ByteWriter, writeName, writeU32 } from '../binary/writer.ts';
import { InstrumentError } from '../errors.ts';
import type { Note } from '../notes.ts';
import { version } from '../version.ts';

const processedBy = 'processed-by';

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
  const present = section === undefined ? [] : readOrReplace(bytes, section, notes);
  const fields = withTenon(present);
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

function withTenon(fields: readonly ProducersField[]): readonly ProducersField[] {
  const ours = { name: 'tenon', version };
  if (!fields.some(({ name }) => name === processedBy)) return [...fields, { name: processedBy, values: [ours] }];
  // Only the first field of a name counts.
  const first = fields.findIndex(({ name }) => name === processedBy);
  return fields.map((field, index) =>
    index === first && !field.values.some(({ name }) => name === 'tenon')
      ? { ...field, values: [...field.values, ours] }
      : field,
  );
}

function readOrReplace(bytes: Uint8Array, section: Section, notes: Note[]): readonly ProducersField[] {
  try {
    return readProducers(bytes, section);
  } catch (error) {
    if (!(error instanceof InstrumentError) || error.offset === undefined) throw error;
    const message = `The producers section is malformed and is replaced: ${error.message}`;
    notes.push({ code: 'section_malformed', message, section: 'producers', offset: error.offset });
    return [];
  }
}
