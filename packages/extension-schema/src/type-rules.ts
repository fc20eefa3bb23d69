import {
  addFault,
  addWarning,
  type Check,
  checkKeywords,
  flag,
  hasOnlyKnownKeys,
  hint,
  type Keywords,
  listOf,
  mapOf,
  oneOf,
  type Rule,
  shown,
  text,
} from './check.ts';
import type { SchemaPath } from './path.ts';
import { componentPrefix, contentTypes, formats, isSameContentType, schemaTypes } from './types.ts';
import { checkUnion } from './union-rules.ts';
import { isRecord, kindOf, type Plain } from './value.ts';

/* The rules for types: components, fields, items, and parameters. */

/** Keywords that define the structure of a type, and the `type` that each implies. */
const structures: readonly (readonly [keyword: string, type: string | undefined])[] = [
  ['$ref', undefined],
  ['enum', 'string'],
  ['properties', 'object'],
  ['items', 'array'],
  ['additionalProperties', 'object'],
  ['oneOf', 'object'],
];

const contentType: Rule = (check, value, path) => {
  if (!contentTypes.some((known) => isSameContentType(value, known))) oneOf(contentTypes)(check, value, path);
};

const reference: Rule = (check, value, path) => {
  if (typeof value !== 'string') return addFault(check, path, `expected a reference as text, found ${kindOf(value)}`);
  if (!value.startsWith(componentPrefix)) {
    return addFault(check, path, `expected a reference that begins with "${componentPrefix}", found ${shown(value)}`);
  }
  const name = value.slice(componentPrefix.length);
  if (Object.hasOwn(check.components, name)) return;
  addFault(check, path, `there is no component ${shown(name)}${hint(name, Object.keys(check.components), false)}`);
};

const enumValues: Rule = (check, value, path) => {
  listOf(text, 'values')(check, value, path);
  if (!Array.isArray(value)) return;
  if (value.length === 0) addFault(check, path, 'expected at least one value');
  const known = new Set<unknown>();
  for (const [key, item] of value.entries()) {
    if (known.has(item)) addFault(check, { parent: path, key }, `the value ${shown(item)} is repeated`);
    known.add(item);
  }
};

const discriminatorKeywords: Keywords = new Map([['propertyName', text]]);

const discriminator: Rule = (check, value, path) => {
  const isIncomplete = ({ propertyName }: Plain) => propertyName === undefined;
  checkKeywords(check, value, path, discriminatorKeywords, 'a discriminator', isIncomplete);
};

/** The type of a component, field, item or parameter. */
export const typed: Rule = (check, value, path) => checkTyped(check, value, path, typedKeywords, 'a type');
export const parameter: Rule = (check, value, path) => checkTyped(check, value, path, parameterKeywords, 'a parameter');

const typedKeywords: Keywords = new Map<string, Rule>([
  ['type', oneOf(schemaTypes)],
  ['format', text],
  ['description', text],
  ['nullable', flag],
  ['$ref', reference],
  ['enum', enumValues],
  ['properties', (check, value, path) => mapOf(typed, 'fields')(check, value, path)],
  ['required', listOf(text, 'field names')],
  ['items', (check, value, path) => typed(check, value, path)],
  ['additionalProperties', (check, value, path) => typed(check, value, path)],
  ['oneOf', (check, value, path) => listOf(typed, 'references')(check, value, path)],
  ['discriminator', discriminator],
]);

const parameterKeywords: Keywords = new Map([...typedKeywords, ['contentType', contentType]]);

function checkTyped(
  check: Check,
  value: unknown,
  path: SchemaPath | undefined,
  keywords: Keywords,
  what: string,
): void {
  if (isRecord(value)) tolerate(check, value, path, keywords);
  const isIncomplete = (type: Plain) =>
    type.type === undefined && !structures.some(([key]) => Object.hasOwn(type, key));
  if (!checkKeywords(check, value, path, keywords, what, isIncomplete)) return;
  const at = (key: string): SchemaPath => ({ parent: path, key });
  const [made, other] = structures.filter(([keyword]) => Object.hasOwn(value, keyword));
  if (isIncomplete(value) && hasOnlyKnownKeys(value, keywords)) {
    const offered = structures.map(([keyword]) => `"${keyword}"`).join(', ');
    addFault(check, path, `${what} needs a "type", or one of ${offered}`);
  }
  if (made !== undefined && other !== undefined) {
    addFault(check, at(other[0]), `"${other[0]}" can't be combined with "${made[0]}"`, 'key');
  }
  if (made?.[0] !== '$ref') checkType(check, value, path, made);
  if (made?.[0] === 'oneOf') checkUnion(check, value, path);
  checkRequired(check, value, at('required'));
}

/** Content types that mean a known one. */
const otherContentTypes: ReadonlyMap<unknown, (typeof contentTypes)[number]> = new Map([
  ['text/plain', 'text/plain; charset=utf-8'],
  ['application/octet-stream', 'application/x-binary'],
]);

/** Rewrites what existing documents have and other tools accept, with a warning for each. */
function tolerate(check: Check, value: Plain, path: SchemaPath | undefined, keywords: Keywords): void {
  const warn = (key: string, detail: string, part?: 'key') => addWarning(check, { parent: path, key }, detail, part);
  const drop = (key: string, detail: string) => {
    warn(key, `${detail}, so it is ignored`, 'key');
    delete value[key];
  };
  if (typeof value.enum === 'string') {
    warn('enum', `expected a list of values, found text: read as [${shown(value.enum)}]`);
    value.enum = [value.enum];
  }
  if (Object.hasOwn(value, 'discriminator') && !Object.hasOwn(value, 'oneOf')) {
    drop('discriminator', '"discriminator" needs "oneOf"');
  }
  if (typeof value.discriminator === 'string') {
    warn('discriminator', `expected an object, found text: read as { propertyName: ${shown(value.discriminator)} }`);
    value.discriminator = Object.assign(Object.create(null), { propertyName: value.discriminator });
  }
  const known = keywords.has('contentType') ? otherContentTypes.get(value.contentType) : undefined;
  if (known !== undefined) {
    warn('contentType', `expected "${known}": read as that`);
    value.contentType = known;
  }
  if (typeof value.additionalProperties === 'boolean') {
    drop('additionalProperties', '"additionalProperties" is the type of a map\'s values');
    if (!structures.some(([key]) => Object.hasOwn(value, key))) value.type ??= 'object';
  }
  if (typeof value.required === 'boolean') {
    drop('required', '"required" belongs to the object that has the field, as a list of names');
  } else if (Array.isArray(value.required) && value.properties === undefined) {
    drop('required', '"required" needs "properties"');
  }
  for (const key of ['type', 'format']) {
    if (Object.hasOwn(value, '$ref') && Object.hasOwn(value, key)) drop(key, `the component has the "${key}"`);
  }
}

function checkType(
  check: Check,
  value: Plain,
  path: SchemaPath | undefined,
  made: (typeof structures)[number] | undefined,
): void {
  const { type = made?.[1], format } = value;
  const isType = schemaTypes.some((known) => known === type);
  if (isType && made !== undefined && type !== made[1]) {
    addFault(check, { parent: path, key: 'type' }, `with "${made[0]}" the type is "${made[1]}", not "${type}"`);
  }
  if (typeof format !== 'string' || !isType) return;
  const known = formats.get(type) ?? [];
  if (known.includes(format)) return;
  const detail =
    known.length === 0
      ? `the type "${type}" has no formats`
      : `the type "${type}" has no format ${shown(format)}${hint(format, known)}`;
  addFault(check, { parent: path, key: 'format' }, detail);
}

function checkRequired(check: Check, value: Plain, path: SchemaPath): void {
  const { required, properties } = value;
  if (!Array.isArray(required) || !isRecord(properties)) return;
  for (const [key, name] of required.entries()) {
    if (typeof name !== 'string' || Object.hasOwn(properties, name)) continue;
    const detail = `there is no field ${shown(name)}${hint(name, Object.keys(properties), false)}`;
    addFault(check, { parent: path, key }, detail);
  }
}
