import { fromBase64, parseJson, stringifyJson } from './json.ts';
import { contentTypeOf, contentTypes, resolveType, type Union, unionOf } from './types.ts';
import { describeValueFault, type ValueFault, validateValue } from './validate-value.ts';
import { isRecord, type Plain } from './value.ts';

/*
 * Inputs and outputs of plugins between bytes and values of JavaScript: `int64` and `uint64` are bigints, buffers are byte arrays, dates
 * stay text. Without bytes, a nullable text or buffer is null.
 */

const [plainText, , binary] = contentTypes;

/** Thrown for a value that does not fit its type. The message has the path: `/items/3/price: expected a number, found "7"`. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
  readonly faults: readonly ValueFault[];

  constructor(first: ValueFault, ...others: readonly ValueFault[]) {
    super(describeValueFault(first) + (others.length === 0 ? '' : ` (and ${others.length} more)`));
    this.faults = [first, ...others];
  }
}

/** @throws ValueError for a value that does not fit the type */
export function encodeValue(value: unknown, parameter: unknown, components: Plain): Uint8Array {
  const contentType = contentTypeOf(parameter, components);
  const target = resolveType(parameter, components);
  if (value === null && contentType !== 'application/json' && isNullable(parameter, target)) return new Uint8Array();
  if (contentType === binary) {
    if (value instanceof Uint8Array) return value;
    throw wrong('expected a Uint8Array');
  }
  requireNone(validateValue(value, parameter, components));
  if (contentType === plainText && isText(target) && typeof value === 'string') {
    if (!value.isWellFormed()) throw wrong('expected well-formed text, found half of a surrogate pair');
    return new TextEncoder().encode(value);
  }
  return boundedByStack(() => new TextEncoder().encode(stringifyJson(value)));
}

/** @throws ValueError for bytes that are not a value of the type */
export function decodeValue(bytes: Uint8Array, parameter: unknown, components: Plain): unknown {
  const contentType = contentTypeOf(parameter, components);
  const target = resolveType(parameter, components);
  if (bytes.length === 0 && contentType !== 'application/json' && isNullable(parameter, target)) return null;
  if (contentType === binary) return bytes.slice();
  const text = textOf(bytes);
  const value = contentType === plainText && isText(target) ? text : boundedByStack(() => jsonOf(text));
  requireNone(validateValue(value, parameter, components));
  return boundedByStack(() => convert(value, parameter, components));
}

function isNullable(...types: readonly unknown[]): boolean {
  return types.some((type) => isRecord(type) && type.nullable === true);
}

/** Whether text/plain has the text itself. It has other types as JSON. */
function isText(target: unknown): boolean {
  return isRecord(target) && (target.type === 'string' || Array.isArray(target.enum));
}

function wrong(detail: string): ValueError {
  return new ValueError({ pointer: '', detail });
}

function requireNone([first, ...others]: readonly ValueFault[]): void {
  if (first !== undefined) throw new ValueError(first, ...others);
}

/** The parts of a value that have no type may be nested deeply, or be cyclic. */
function boundedByStack<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw wrong('is nested too deeply');
    throw error;
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw wrong('expected UTF-8 text, found other bytes');
  }
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw wrong(text.trim() === '' ? 'expected JSON, found no bytes' : 'expected JSON');
  }
}

/** Converts a valid value as JSON has it. Objects and lists are changed in place. */
function convert(value: unknown, type: unknown, components: Plain): unknown {
  const target = resolveType(type, components);
  if (!isRecord(target)) return withoutBigints(value);
  if (typeof value !== 'object' || value === null) return convertScalar(value, target);
  const union = unionOf(target, components);
  if (union !== undefined) return convert(value, components[variantOf(value, union)], components);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = convert(item, target.items, components);
    return value;
  }
  const fields = isRecord(target.properties) ? target.properties : undefined;
  const required = new Set<unknown>(Array.isArray(target.required) ? target.required : []);
  for (const [name, entry] of Object.entries(value)) {
    const isField = fields !== undefined && Object.hasOwn(fields, name);
    const field = isField ? fields[name] : target.additionalProperties;
    const isAbsent =
      entry === null && isField && !required.has(name) && !isNullable(field, resolveType(field, components));
    if (isAbsent) Reflect.deleteProperty(value, name);
    else setField(value, name, convert(entry, field, components));
  }
  return value;
}

function variantOf(value: object, { discriminator, variants }: Union): string {
  const chosen: unknown = Reflect.get(value, discriminator);
  return variants.find(({ values }) => values.some((known) => known === chosen))?.name ?? '';
}

function convertScalar(value: unknown, { type, format }: Plain): unknown {
  if (type === 'integer' && (format === 'int64' || format === 'uint64')) return BigInt(value as number | bigint);
  if (typeof value === 'bigint') return Number(value);
  return type === 'buffer' && typeof value === 'string' ? fromBase64(value) : value;
}

/** Values without a type are as `JSON.parse` returns them. */
function withoutBigints(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'object' && value !== null) {
    for (const [name, entry] of Object.entries(value)) setField(value, name, withoutBigints(entry));
  }
  return value;
}

/** Sets a field of any name: an assignment to `__proto__` would set the prototype. */
function setField(object: object, name: string, value: unknown): void {
  if (name !== '__proto__') Reflect.set(object, name, value);
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
