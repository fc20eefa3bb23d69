import { type ProducersField, readProducers } from './binary/producers.ts';
import { readSections, SectionId } from './binary/sections.ts';

/**
 * Lists what a module says about the languages, tools, and SDKs that made it. Empty without a `producers` section.
 *
 * @throws InstrumentError `invalid_module` if the section is malformed, and what `listSections()` throws
 */
export function listProducers(bytes: Uint8Array): readonly ProducersField[] {
  const section = readSections(bytes).find(({ id, name }) => id === SectionId.custom && name === 'producers');
  return section === undefined ? [] : readProducers(bytes, section);
}
