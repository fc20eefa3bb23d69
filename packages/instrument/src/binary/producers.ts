import { invalidModule } from '../errors.ts';
import { maxProducersBytes } from '../limits.ts';
import { type ByteReader, expectEnd, readCount, readerOver, readName } from './reader.ts';
import type { Section } from './sections.ts';

/** A field of the `producers` section: `language`, `processed-by`, or `sdk`. */
export interface ProducersField {
  readonly name: string;
  readonly values: readonly ProducersValue[];
}

export interface ProducersValue {
  readonly name: string;
  readonly version: string;
}

/**
 * Reads the contents of a `producers` section.
 * https://github.com/WebAssembly/tool-conventions/blob/main/ProducersSection.md
 *
 * @throws InstrumentError `invalid_module`
 */
export function readProducers(bytes: Uint8Array, { contentStart, end }: Section): readonly ProducersField[] {
  const reader = readerOver(bytes, contentStart, end);
  const size = end - contentStart;
  if (size > maxProducersBytes) {
    throw invalidModule(`Expected at most ${maxProducersBytes} bytes, found ${size}`, contentStart);
  }
  const fields = Array.from({ length: readCount(reader, 'the number of fields', 2) }, () => readField(reader));
  expectEnd(reader, 'the producers section');
  return fields;
}

function readField(reader: ByteReader): ProducersField {
  const name = readName(reader, 'the name of a field');
  const values = Array.from({ length: readCount(reader, 'the number of values', 2) }, () => ({
    name: readName(reader, 'the name of a tool'),
    version: readName(reader, 'the version of a tool'),
  }));
  return { name, values };
}
