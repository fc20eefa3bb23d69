import { readSections, SectionId } from './binary/sections.ts';

/** A section of a module. */
export interface SectionDescription {
  /** For a custom section its name, else what the specification calls the section. */
  readonly name: string;
  readonly isCustom: boolean;
  /** Size with its header. */
  readonly bytes: number;
}

/** Lists the sections of a module in its order, without reading their contents. Throws what `describeModule()` throws for them. */
export function listSections(bytes: Uint8Array): readonly SectionDescription[] {
  return readSections(bytes).map(({ id, name, start, end }) => ({
    name,
    isCustom: id === SectionId.custom,
    bytes: end - start,
  }));
}
