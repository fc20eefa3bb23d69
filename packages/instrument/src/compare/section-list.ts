import { readU32 } from '../binary/reader.ts';
import { contentReader, type Section, SectionId } from '../binary/sections.ts';
import { type ChangedSection, type ComparisonLimits, type Shortened, shorten, shortenText } from './comparison.ts';
import { isSameRange, type Side } from './functions.ts';

/**
 * Lists the sections whose contents differ by more than the numbering of functions and types.
 *
 * @param hasSameCode whether all function bodies are the same
 */
export function compareSections(
  before: Side,
  after: Side,
  hasSameCode: boolean,
  limits: ComparisonLimits,
): Shortened<ChangedSection> {
  const [left, right] = [keyed(before), keyed(after)];
  const keys = [...new Set([...right.keys(), ...left.keys()])];
  const changed = keys.flatMap((key): ChangedSection[] => {
    const [one, other] = [left.get(key), right.get(key)];
    if (one !== undefined && other !== undefined && isSameSection(before, one, after, other, hasSameCode)) return [];
    const { name, id } = (other ?? one) as Section;
    return [{ name, isCustom: id === SectionId.custom, bytesBefore: sizeOf(one), bytes: sizeOf(other) }];
  });
  return shorten(changed, limits, (section) => ({ ...section, name: shortenText(section.name, limits) }));
}

/** Sections by what identifies them. Custom sections of one name correspond in their order. */
function keyed({ module }: Side): Map<string, Section> {
  const counts = new Map<string, number>();
  return new Map(
    module.sections.map((section) => {
      const name = `${section.id} ${section.name}`;
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      return [`${name} ${count}`, section];
    }),
  );
}

function isSameSection(before: Side, left: Section, after: Side, right: Section, hasSameCode: boolean): boolean {
  if (left.id === SectionId.code) return hasSameCode;
  const [sites, otherSites] = [before.sites.ofSections.get(left.id), after.sites.ofSections.get(right.id)];
  if (sites !== undefined && otherSites !== undefined) return isSameRange(before, sites, after, otherSites);
  if (left.id === SectionId.start) return startId(before, left) === startId(after, right);
  const length = left.end - left.contentStart;
  if (length !== right.end - right.contentStart) return false;
  const [bytes, otherBytes] = [before.module.bytes, after.module.bytes];
  for (let at = 0; at < length; at++) {
    if (bytes[left.contentStart + at] !== otherBytes[right.contentStart + at]) return false;
  }
  return true;
}

function startId({ module, functionIds }: Side, section: Section): number | undefined {
  return functionIds[readU32(contentReader(module.bytes, section), 'the index of the start function')];
}

function sizeOf(section: Section | undefined): number | null {
  return section === undefined ? null : section.end - section.start;
}
