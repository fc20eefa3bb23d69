import { type ByteReader, readU64 } from '../../binary/reader.ts';
import { AttributeForm, formEncoding } from '../../debug-info/forms.ts';
import { readFixed } from '../../debug-info/numbers.ts';
import { readUnit, type Unit, UnitType } from '../../debug-info/units.ts';
import { invalidModule, tooComplex } from '../../errors.ts';
import type { AddressTable, MovedAddress } from './addresses.ts';
import { Role } from './attributes.ts';
import { type DebugSections, patchedContents, readDebugSection, requireDebugSection } from './debug-sections.ts';
import {
  type Entry,
  type EntryContext,
  moveAddress,
  moveDistance,
  type OpenUnit,
  readIndex,
  resolveForm,
  rewriteAttribute,
  splitUnit,
} from './entry-attributes.ts';
import { createPlanCache, type EntryPlan, type FindPlans, findPlan, roleStep, skipValue } from './entry-plans.ts';
import type { References } from './references.ts';

/**
 * Moves all addresses in the entries of `.debug_info` or `.debug_types`, in place, and collects what they refer to. Entries
 * keep their length, so references between them stay.
 */
export function rewriteEntries(
  sections: DebugSections,
  name: '.debug_info' | '.debug_types',
  addresses: AddressTable,
  references: References,
): void {
  const reader = readDebugSection(sections, name);
  if (reader === undefined) return;
  const findPlans = createPlanCache(requireDebugSection(sections, '.debug_abbrev', reader.offset));
  const output = patchedContents(sections, name);
  const context = { sections, addresses, references, output, sectionStart: reader.offset };
  const spend = limitSteps(reader);
  while (reader.offset < reader.end) {
    const unit = readUnit(reader, name === '.debug_types');
    if (unit.type !== UnitType.compile && unit.type !== UnitType.partial && unit.type !== UnitType.type) {
      throw splitUnit(unit.start);
    }
    rewriteUnit(context, unit, findPlans, spend);
  }
}

const maxStepsPerByte = 16;

/** Limits the steps of all plans: an entry of one byte may have thousands of attributes that take no bytes. */
function limitSteps({ offset, end }: ByteReader): (plan: EntryPlan) => void {
  const maxSteps = 1_000_000 + maxStepsPerByte * (end - offset);
  let total = 0;
  return ({ steps }) => {
    total += steps.length;
    if (total > maxSteps) throw tooComplex('steps of reading debug information', total, maxSteps, offset);
  };
}

function rewriteUnit(context: EntryContext, unit: Unit, findPlans: FindPlans, spend: (plan: EntryPlan) => void): void {
  const { bytes } = context.sections;
  const { end } = unit;
  const plans = findPlans(unit);
  const entry: Entry = { isStart: false, low: undefined, distances: [] };
  let open: OpenUnit | undefined;
  let at = unit.entriesStart;
  while (at < end) {
    const codeAt = at;
    let code = bytes[at++] as number;
    if (code === 0) continue;
    if (code >= 0x80) {
      const reader: ByteReader = { bytes, offset: codeAt, end };
      code = readU64(reader, "an abbreviation's code");
      at = reader.offset;
    }
    const plan = plans.plans[code] ?? findPlan(plans, code, unit, codeAt);
    spend(plan);
    open ??= openUnit(context, unit, plan, at);
    at = rewriteEntry(context, open, entry, plan, at);
    if (at > end) throw invalidModule('Expected an entry inside its unit, found a longer one', codeAt);
  }
}

/** Rewrites an entry and returns the offset after it. */
function rewriteEntry(context: EntryContext, open: OpenUnit, entry: Entry, plan: EntryPlan, start: number): number {
  const { bytes } = context.sections;
  const { end } = open.unit;
  const { steps } = plan;
  entry.isStart = plan.isStart;
  let at = start;
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index] as number;
    if (step >= 0) at += step;
    else if (step !== roleStep) at = skipValue(bytes, at, end, step);
    else {
      const [role, form, constant] = [steps[index + 1], steps[index + 2], steps[index + 3]] as [number, number, number];
      at = rewriteAttribute(context, open, entry, role, form, constant, at);
      index += 3;
    }
  }
  if (entry.distances.length > 0) {
    for (const distance of entry.distances) moveDistance(context, entry.low, distance);
    entry.distances.length = 0;
  }
  entry.low = undefined;
  return at;
}

/** The values of a unit's first entry that others depend on. */
function openUnit(context: EntryContext, unit: Unit, { steps }: EntryPlan, start: number): OpenUnit {
  const { sections, references, addresses } = context;
  const reader: ByteReader = { bytes: sections.bytes, offset: start, end: unit.end };
  const found = new Map<number, { readonly form: number; readonly at: number }>();
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index] as number;
    if (step !== roleStep) {
      reader.offset = skipValue(reader.bytes, reader.offset, unit.end, step);
      continue;
    }
    const role = steps[index + 1] as number;
    const form = resolveForm(reader, steps[index + 2] as number);
    found.set(role, { form, at: reader.offset });
    reader.offset = skipValue(reader.bytes, reader.offset, unit.end, formEncoding(form, unit, reader.offset));
    index += 3;
  }
  const baseOf = (role: number): number => {
    const place = found.get(role);
    if (place === undefined) return -1;
    return readFixed({ ...reader, offset: place.at }, unit.offsetSize, 'the offset of a table');
  };
  const bases = {
    addressSize: unit.addressSize,
    addresses: baseOf(Role.addressesBase),
    ranges: baseOf(Role.rangesBase),
    locations: baseOf(Role.locationsBase),
  };
  let low: MovedAddress = { input: 0, output: 0 };
  const lowPlace = found.get(Role.lowPc);
  if (lowPlace !== undefined) {
    const { form, at } = lowPlace;
    const place: ByteReader = { ...reader, offset: at };
    if (form === AttributeForm.addr)
      low = moveAddress(sections, readFixed(place, unit.addressSize, 'an address'), true);
    else low = addresses(bases.addresses, readIndex(place, form), true, at);
  }
  const base = { input: low.input, output: low.output, ...bases };
  references.ranges.units.push(base);
  return { unit, base };
}
