import type { ByteReader } from '../../binary/reader.ts';
import { type Abbreviation, readAbbreviations } from '../../debug-info/abbreviations.ts';
import { AttributeForm, Encoding, formEncoding, type UnitFormat } from '../../debug-info/forms.ts';
import type { Unit } from '../../debug-info/units.ts';
import { invalidModule, tooComplex } from '../../errors.ts';
import { roleOf } from './attributes.ts';

/** How the entries of an abbreviation are read. */
export interface EntryPlan {
  /** Whether the entry is a function or a unit, to which prologues belong. */
  readonly isStart: boolean;
  /**
   * Steps: a number ≥ 0 of bytes to skip, or an {@link Encoding}, or `role` followed by a {@link Role}, a form and an implicit
   * constant.
   */
  readonly steps: readonly number[];
}

export const roleStep = -100;

/** The plans of a unit, made when an entry needs them. */
export interface EntryPlans {
  readonly abbreviations: ReadonlyMap<number, Abbreviation>;
  readonly plans: (EntryPlan | undefined)[];
  readonly plansOfLargeCodes: Map<number, EntryPlan>;
}

/** Plans are kept in an array up to this code; linkers and compilers count from 1. */
const maxCode = 0x1_0000;

/** Finds the plans of units. */
export type FindPlans = (unit: Unit) => EntryPlans;

const maxTables = 64;

/** Tables are shared between units, mostly neighbours. Reading overlapping tables again and again is refused. */
export function createPlanCache(abbreviations: ByteReader): FindPlans {
  const { bytes, offset: start, end } = abbreviations;
  const cache = new Map<string, EntryPlans>();
  let bytesLeft = 8 * (end - start) + 1024;
  return ({ version, addressSize, offsetSize, abbreviationsOffset, start: unitStart }) => {
    const key = `${abbreviationsOffset} ${version} ${addressSize} ${offsetSize}`;
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    if (abbreviationsOffset >= end - start) {
      throw invalidModule(`Expected the offset of abbreviations, found ${abbreviationsOffset}`, unitStart);
    }
    const reader: ByteReader = { bytes, offset: start + abbreviationsOffset, end };
    const plans = {
      abbreviations: readAbbreviations(reader),
      plans: [],
      plansOfLargeCodes: new Map<number, EntryPlan>(),
    };
    bytesLeft -= reader.offset - start - abbreviationsOffset;
    if (bytesLeft < 0) throw tooComplex('bytes of abbreviations', 9 * (end - start), 8 * (end - start), unitStart);
    if (cache.size >= maxTables) cache.clear();
    cache.set(key, plans);
    return plans;
  };
}

export function findPlan(
  { abbreviations, plans, plansOfLargeCodes }: EntryPlans,
  code: number,
  unit: UnitFormat,
  at: number,
): EntryPlan {
  const known = code < maxCode ? plans[code] : plansOfLargeCodes.get(code);
  if (known !== undefined) return known;
  const abbreviation = abbreviations.get(code);
  if (abbreviation === undefined) throw invalidModule(`Expected the code of an abbreviation, found ${code}`, at);
  const plan = planEntry(abbreviation, unit, at);
  if (code < maxCode) plans[code] = plan;
  else plansOfLargeCodes.set(code, plan);
  return plan;
}

const startTags = new Set([
  0x11, // compile_unit
  0x2e, // subprogram
  0x3c, // partial_unit
]);

function planEntry({ tag, attributes }: Abbreviation, unit: UnitFormat, at: number): EntryPlan {
  const steps: number[] = [];
  let fixedBytes = 0;
  const endFixed = () => {
    if (fixedBytes > 0) steps.push(fixedBytes);
    fixedBytes = 0;
  };
  for (const { name, form, constant } of attributes) {
    const role = roleOf(name);
    const encoding = formEncoding(form, unit, at);
    if (role !== 0 || form === AttributeForm.indirect || refersToCode(form)) {
      endFixed();
      steps.push(roleStep, role, form, constant);
    } else if (encoding >= 0) fixedBytes += encoding;
    else {
      endFixed();
      steps.push(encoding);
    }
  }
  endFixed();
  return { isStart: startTags.has(tag), steps };
}

/** Whether a form is an address or the offset of something, which an unknown attribute must not have. */
export function refersToCode(form: number): boolean {
  return codeForms.has(form);
}

const codeForms = new Set<number>([
  AttributeForm.addr,
  AttributeForm.addrx,
  AttributeForm.addrx1,
  AttributeForm.addrx2,
  AttributeForm.addrx3,
  AttributeForm.addrx4,
  AttributeForm.secOffset,
  AttributeForm.loclistx,
  AttributeForm.rnglistx,
]);

/** Skips a value and returns the offset after it, which may lie behind `end`. */
export function skipValue(bytes: Uint8Array, start: number, end: number, encoding: number): number {
  let at = start;
  if (encoding >= 0) return at + encoding;
  if (encoding === Encoding.leb) {
    while ((bytes[at++] as number) >= 0x80);
    return at;
  }
  if (encoding === Encoding.text) {
    const found = bytes.indexOf(0, at);
    return found === -1 ? end + 1 : found + 1;
  }
  let length = 0;
  if (encoding === Encoding.blockLeb) {
    let scale = 1;
    let byte: number;
    do {
      byte = bytes[at++] as number;
      length += (byte & 0x7f) * scale;
      scale *= 0x80;
    } while (byte >= 0x80 && at <= end);
  } else {
    const size = encoding === Encoding.block1 ? 1 : encoding === Encoding.block2 ? 2 : 4;
    for (let index = size - 1; index >= 0; index--) length = length * 256 + (bytes[at + index] as number);
    at += size;
  }
  return at + length;
}
