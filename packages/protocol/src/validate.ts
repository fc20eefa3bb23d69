import type { Static, TSchema } from 'typebox';
import { displayNamePattern } from './names.ts';

/*
 * Validates JSON values against the schemas of this package. It supports only the keywords of JSON Schema that they use. TypeBox would take
 * ten times as long to load as everything else that a server needs to respond. The tests compare the two.
 */

export interface Fault {
  /** A JSON Pointer such as `/name`; empty for the value itself. */
  readonly pointer: string;
  /** A predicate that completes a sentence about the field: `is required`. */
  readonly detail: string;
}

/** The check of an array or object stops at this number of faults. */
const maxFaults = 100;

type Schema = Readonly<Record<string, unknown>>;
type Found = Fault & {
  /** The expected type, for a value of another type. */
  readonly expected?: string;
};

export function isValid<const T extends TSchema>(schema: T, value: unknown): value is Static<T> {
  return check(schema as Schema, value, '').length === 0;
}

/** Returns the faults of a value, in the order of the schema's fields. */
export function faultsOf(schema: TSchema, value: unknown): readonly Fault[] {
  return check(schema as Schema, value, '').map(({ pointer, detail }) => ({ pointer, detail }));
}

function check(schema: Schema, value: unknown, pointer: string): readonly Found[] {
  const { anyOf, allOf, type } = schema as { anyOf?: readonly Schema[]; allOf?: readonly Schema[]; type?: string };
  if (anyOf !== undefined) return checkUnion(anyOf, value, pointer);
  if (allOf !== undefined) return allOf.flatMap((part) => check(part, value, pointer));
  if ('const' in schema) {
    return value === schema.const ? [] : [wrongType(pointer, JSON.stringify(schema.const))];
  }
  const { enum: allowed } = schema as { enum?: readonly unknown[] };
  if (allowed !== undefined && !allowed.includes(value)) {
    return [{ pointer, detail: `must be one of ${allowed.map((one) => JSON.stringify(one)).join(', ')}` }];
  }
  if (type === undefined) return [];
  if (!isOfType(type, value)) return [wrongType(pointer, typeNames[type] ?? `a ${type}`)];
  if (typeof value === 'string') return checkString(schema, value, pointer);
  if (typeof value === 'number') return checkNumber(schema, value, pointer);
  if (Array.isArray(value)) return checkArray(schema, value, pointer);
  return typeof value === 'object' && value !== null ? checkObject(schema, value, pointer) : [];
}

const typeNames: Readonly<Record<string, string>> = {
  array: 'an array',
  integer: 'an integer',
  null: 'null',
  object: 'an object',
};

function wrongType(pointer: string, expected: string): Found {
  return { pointer, detail: `must be ${expected}`, expected };
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

/** Reports the faults inside a value if its type is right for one of the schemas, and otherwise the expected types. */
function checkUnion(schemas: readonly Schema[], value: unknown, pointer: string): readonly Found[] {
  const branches = schemas.map((schema) => check(schema, value, pointer));
  if (branches.some((faults) => faults.length === 0)) return [];
  const all = branches.flat();
  const inner = all.filter((fault) => fault.pointer !== pointer || fault.expected === undefined);
  if (inner.length > 0) return inner;
  return [wrongType(pointer, all.map(({ expected }) => expected).join(' or '))];
}

const patternFaults = new Map([
  ['\\S', 'must not be blank'],
  [displayNamePattern, 'must contain a visible character and no bidirectional control characters'],
]);
const patterns = new Map<string, RegExp>();

function matches(pattern: string, text: string): boolean {
  let expression = patterns.get(pattern);
  if (expression === undefined) {
    expression = new RegExp(pattern, 'u');
    patterns.set(pattern, expression);
  }
  return expression.test(text);
}

interface StringSchema {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

/** RFC 3339 §5.6, without leap seconds. */
const dateTime = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

function isDateTime(text: string): boolean {
  const [, year, month, day] = dateTime.exec(text) ?? [];
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) <= lastDay && !Number.isNaN(Date.parse(text));
}

function checkString(schema: StringSchema, value: string, pointer: string): readonly Found[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  const faults: Found[] = [];
  // The limits count code points. Counting them is necessary only if the number of code units doesn't decide.
  const length = value.length > maxLength || value.length < 2 * minLength ? [...value].length : value.length;
  if (length < minLength) faults.push({ pointer, detail: `must have at least ${count(minLength, 'character')}` });
  if (length > maxLength) faults.push({ pointer, detail: `must have at most ${count(maxLength, 'character')}` });
  if (pattern !== undefined && !matches(pattern, value)) {
    faults.push({ pointer, detail: patternFaults.get(pattern) ?? `must match ${pattern}` });
  }
  if (format === 'date-time' && !isDateTime(value)) {
    faults.push({ pointer, detail: 'must be a time such as 2026-01-31T12:00:00Z' });
  }
  return faults;
}

function count(number: number, unit: string): string {
  return `${number.toLocaleString('en')} ${unit}${number === 1 ? '' : 's'}`;
}

interface NumberSchema {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

function checkNumber({ minimum, maximum, exclusiveMinimum }: NumberSchema, value: number, pointer: string): Found[] {
  const faults: Found[] = [];
  if (minimum !== undefined && value < minimum) faults.push({ pointer, detail: `must be at least ${minimum}` });
  if (maximum !== undefined && value > maximum) faults.push({ pointer, detail: `must be at most ${maximum}` });
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
    faults.push({ pointer, detail: `must be above ${exclusiveMinimum}` });
  }
  return faults;
}

interface ArraySchema {
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
}

function checkArray(schema: ArraySchema, value: readonly unknown[], pointer: string): readonly Found[] {
  const { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems } = schema;
  if (value.length > maxItems) return [{ pointer, detail: `must have at most ${count(maxItems, 'item')}` }];
  const faults: Found[] = [];
  if (value.length < minItems) faults.push({ pointer, detail: `must have at least ${count(minItems, 'item')}` });
  if (uniqueItems && new Set(value.map((item) => JSON.stringify(item))).size < value.length) {
    faults.push({ pointer, detail: 'must not have an item twice' });
  }
  for (let index = 0; index < value.length && faults.length < maxFaults; index++) {
    faults.push(...check(items, value[index], `${pointer}/${index}`));
  }
  return faults;
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}

function checkObject(schema: ObjectSchema, value: object, pointer: string): readonly Found[] {
  const { properties = {}, required = [], patternProperties = {}, additionalProperties } = schema;
  const faults: Found[] = [];
  for (const name of required) {
    if (!Object.hasOwn(value, name)) faults.push({ pointer: `${pointer}/${escaped(name)}`, detail: 'is required' });
  }
  for (const [name, property] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name)) continue;
    faults.push(...check(property, (value as Schema)[name], `${pointer}/${escaped(name)}`));
  }
  const byPattern = Object.entries(patternProperties);
  if (byPattern.length === 0 && additionalProperties !== false) return faults;
  for (const [name, member] of Object.entries(value)) {
    if (faults.length >= maxFaults) break;
    const matching = byPattern.filter(([pattern]) => matches(pattern, name));
    const inner = `${pointer}/${escaped(name)}`;
    for (const [, property] of matching) faults.push(...check(property, member, inner));
    if (additionalProperties === false && matching.length === 0 && !Object.hasOwn(properties, name)) {
      faults.push({ pointer: inner, detail: 'is not a known field' });
    }
  }
  return faults;
}

/** Escapes a name for a JSON Pointer (RFC 6901 §3). */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
