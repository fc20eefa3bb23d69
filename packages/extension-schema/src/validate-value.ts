import { parseJson } from './json.ts';
import { pointerTo } from './path.ts';
import { contentTypeOf, contentTypes, isNullable, resolveType, type Union, unionOf } from './types.ts';
import { isRecord, kindOf, type Plain } from './value.ts';

export { pointerTo };

/* Checks values against the types of a schema. Invalid parts of a schema allow any value. */

export { componentsOf, contentTypeOf } from './types.ts';

/** One way in which a value does not fit its type. */
export interface ValueFault {
  /** A JSON Pointer into the value (RFC 6901); empty for the whole value. */
  readonly pointer: string;
  readonly detail: string;
}

/** The maximum number of faults that are reported for one value. */
export const maxValueFaults = 20;

/** The maximum nesting depth of a value. */
const maxDepth = 200;

const [plainText, , binary] = contentTypes;

/** Checks the bytes of an input or output: decodes them by content type, and checks the value. */
export function validateBytes(bytes: Uint8Array, parameter: unknown, components: Plain): ValueFault[] {
  const contentType = contentTypeOf(parameter, components);
  if (contentType === binary) return [];
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return [{ pointer: '', detail: 'expected UTF-8 text, found other bytes' }];
  }
  const target = resolveType(parameter, components);
  const isText = isRecord(target) && (target.type === 'string' || Array.isArray(target.enum));
  if (contentType === plainText && isText) return validateValue(text, parameter, components);
  try {
    return validateValue(parseJson(text), parameter, components);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [{ pointer: '', detail: text.trim() === '' ? 'expected JSON, found no output' : 'expected JSON' }];
  }
}

/**
 * Checks a value against a type: as JSON has it, or with bytes as a Uint8Array and integers as bigints. Objects may have fields that the
 * type does not declare. A field that is not required may be null.
 *
 * @param components the result of {@link componentsOf}
 * @returns an empty array for a value that fits; otherwise at most {@link maxValueFaults}
 */
export function validateValue(value: unknown, type: unknown, components: Plain): ValueFault[] {
  const check: Check = { components, faults: [] };
  checkValue(check, value, type, undefined);
  return check.faults;
}

/** Formats a fault with its place in the value: `/user/age: expected a number`. */
export function describeValueFault({ pointer, detail }: ValueFault): string {
  return pointer === '' ? detail : `${pointer}: ${detail}`;
}

interface Check {
  readonly components: Plain;
  readonly faults: ValueFault[];
}

/** The path to a part of the value, as a linked list, since most paths are never converted to a pointer. */
interface Path {
  readonly parent: Path | undefined;
  readonly key: string | number;
  readonly depth: number;
}

function add({ faults }: Check, path: Path | undefined, detail: string): void {
  if (faults.length >= maxValueFaults) return;
  const keys: (string | number)[] = [];
  for (let node = path; node !== undefined; node = node.parent) keys.unshift(node.key);
  faults.push({ pointer: pointerTo(keys), detail });
}

function checkValue(check: Check, value: unknown, type: unknown, path: Path | undefined) {
  if (!isRecord(type) || check.faults.length >= maxValueFaults) return;
  const target = resolveType(type, check.components);
  if (!isRecord(target)) return;
  if (value === null && isNullable(type, check.components)) return;
  if (Array.isArray(target.enum)) return checkEnum(check, value, target.enum, path);
  if (isRecord(target.properties)) return checkFields(check, value, target, target.properties, path);
  if (target.additionalProperties !== undefined) return checkMap(check, value, target.additionalProperties, path);
  if (target.items !== undefined) return checkItems(check, value, target.items, path);
  const union = unionOf(target, check.components);
  const detail = union === undefined ? simpleFault(value, target) : undefined;
  if (detail !== undefined) add(check, path, detail);
  if (union !== undefined) checkValue(check, value, chooseVariant(check, value, union, path), path);
}

function inside(check: Check, path: Path | undefined, key: string | number): Path | undefined {
  const depth = (path?.depth ?? 0) + 1;
  if (depth <= maxDepth) return { parent: path, key, depth };
  add(check, path, `is nested more than ${maxDepth} deep`);
  return undefined;
}

function checkInside(check: Check, value: unknown, type: unknown, path: Path | undefined, key: string | number): void {
  const inner = inside(check, path, key);
  if (inner !== undefined) checkValue(check, value, type, inner);
}

function checkEnum(check: Check, value: unknown, words: readonly unknown[], path: Path | undefined) {
  if (words.includes(value)) return;
  const listed = words.slice(0, 20).map((word) => JSON.stringify(word));
  add(check, path, `expected one of ${listed.join(', ')}, found ${found(value)}`);
}

function checkFields(check: Check, value: unknown, type: Plain, fields: Plain, path: Path | undefined) {
  if (!isRecord(value)) return add(check, path, `expected an object, found ${found(value)}`);
  const required = new Set<unknown>(Array.isArray(type.required) ? type.required : []);
  for (const [name, field] of Object.entries(fields)) {
    const entry = Object.hasOwn(value, name) ? value[name] : undefined;
    // Many languages write null for a missing field.
    const isMissing = entry === undefined || (entry === null && !required.has(name));
    if (!isMissing) checkInside(check, entry, field, path, name);
    else if (required.has(name)) add(check, path, missing(name));
  }
}

/** Returns the variant that an object says it is; reports an object that says none. */
function chooseVariant(
  check: Check,
  value: unknown,
  { discriminator, variants }: Union,
  path: Path | undefined,
): unknown {
  const chosen = isRecord(value) && Object.hasOwn(value, discriminator) ? value[discriminator] : undefined;
  const variant = variants.find(({ values }) => values.some((known) => known === chosen));
  if (variant !== undefined) return check.components[variant.name];
  if (!isRecord(value)) add(check, path, `expected an object, found ${found(value)}`);
  else if (chosen === undefined) add(check, path, missing(discriminator));
  else checkInside(check, chosen, { enum: variants.flatMap(({ values }) => values) }, path, discriminator);
  return undefined;
}

function missing(field: string): string {
  return `expected the field ${JSON.stringify(field)}, which is missing`;
}

function checkMap(check: Check, value: unknown, type: unknown, path: Path | undefined) {
  if (!isRecord(value)) return add(check, path, `expected an object, found ${found(value)}`);
  for (const [name, entry] of Object.entries(value)) checkInside(check, entry, type, path, name);
}

function checkItems(check: Check, value: unknown, type: unknown, path: Path | undefined) {
  if (!Array.isArray(value)) return add(check, path, `expected a list, found ${found(value)}`);
  for (const [index, item] of value.entries()) {
    if (check.faults.length >= maxValueFaults) return;
    checkInside(check, item, type, path, index);
  }
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const dateTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** What does not fit, for a type without structure; `undefined` for a value that fits. */
function simpleFault(value: unknown, { type, format }: Plain): string | undefined {
  const expected = (isRight: boolean, what: string) =>
    isRight ? undefined : `expected ${what}, found ${found(value)}`;
  switch (type) {
    case 'string':
      if (typeof value !== 'string') return expected(false, 'text');
      if (format === 'date-time') return expected(dateTime.test(value), 'a date and time (RFC 3339)');
      return format === 'byte' ? expected(base64.test(value), 'base64') : undefined;
    case 'buffer':
      return expected(value instanceof Uint8Array || (typeof value === 'string' && base64.test(value)), 'base64');
    case 'integer':
      return integerFault(value, format);
    case 'number':
      return expected(isNumeric(value) && Number.isFinite(Number(value)), 'a number');
    case 'boolean':
      return expected(typeof value === 'boolean', 'true or false');
    case 'object':
      return expected(isRecord(value), 'an object');
    case 'array':
      return expected(Array.isArray(value), 'a list');
    default:
      return undefined;
  }
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function integerFault(value: unknown, format: unknown): string | undefined {
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return `expected an integer, found ${found(value)}`;
  const [, sign, bits] = /^(u?)int(8|16|32|64)$/.exec(String(format)) ?? [];
  const range = bits === undefined ? safeIntegers : rangeOf(sign === 'u', Number(bits));
  const exact = typeof value === 'bigint' ? value : BigInt(value as number);
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value);
  if (exact < range.least || exact > range.most) {
    return `expected an integer from ${range.least} to ${range.most}, found ${shownInteger(exact) ?? 'one of more than 40 digits'}`;
  }
  return isRounded ? `expected a bigint, because numbers beyond 2^53 are rounded, found ${value}` : undefined;
}

/** An integer without a format is a JavaScript number. */
const safeIntegers = { least: BigInt(Number.MIN_SAFE_INTEGER), most: BigInt(Number.MAX_SAFE_INTEGER) };

function rangeOf(isUnsigned: boolean, bits: number): typeof safeIntegers {
  const half = 1n << BigInt(bits - 1);
  return isUnsigned ? { least: 0n, most: half * 2n - 1n } : { least: -half, most: half - 1n };
}

const shownBelow = 10n ** 40n;

/** Returns `undefined` for an integer of more than 40 digits, which is slow to convert to text. */
function shownInteger(value: bigint): string | undefined {
  return value > -shownBelow && value < shownBelow ? String(value) : undefined;
}

/** Names what was found. Texts are shortened, since values are untrusted. */
function found(value: unknown): string {
  if (typeof value === 'string')
    return value.length > 60 ? `${JSON.stringify(value.slice(0, 60))}…` : JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') {
    const digits = shownInteger(value);
    return digits === undefined ? 'an integer of more than 40 digits' : `${digits}n`;
  }
  return value === null ? 'null' : value === undefined ? 'undefined' : kindOf(value);
}
