import {
  addFault,
  type Check,
  checkKeywords,
  type FoundFault,
  flag,
  hint,
  isIdentifier,
  isKnown,
  type Keywords,
  listOf,
  mapOf,
  notIdentifier,
  oneOf,
  type Rule,
  shown,
  text,
} from './check.ts';
import type { SchemaPath } from './path.ts';
import { isRecord, kindOf, type Plain } from './value.ts';

/*
 * The rules of the two versions of XTP's schema format: https://docs.xtp.dylibso.com/docs/concepts/xtp-schema. XTP's published JSON Schema
 * requires a `type` besides `properties` or `enum`, and a `contentType`. XTP's own tools don't, and existing documents omit them, so they
 * are optional here. An unknown key is a fault unless it begins with `x-`. See docs/reference/extension-point-schema.md.
 */

export const schemaVersions = ['v0', 'v1-draft'] as const;
export const schemaTypes = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'buffer'] as const;
export const contentTypes = ['text/plain; charset=utf-8', 'application/json', 'application/x-binary'] as const;

export const formats: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['string', ['date-time', 'byte']],
  ['integer', ['uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'uint64', 'int64']],
  ['number', ['float', 'double']],
]);

/** Keywords that define the structure of a type, and the `type` that each implies. */
const structures: readonly (readonly [keyword: string, type: string | undefined])[] = [
  ['$ref', undefined],
  ['enum', 'string'],
  ['properties', 'object'],
  ['items', 'array'],
  ['additionalProperties', 'object'],
];

export const componentPrefix = '#/components/schemas/';

const contentType: Rule = (check, value, path) => {
  if (!contentTypes.some((known) => isSameContentType(value, known))) oneOf(contentTypes)(check, value, path);
};

/** Whether two content types are equal, ignoring case and white space (RFC 9110 §8.3.1). */
export function isSameContentType(value: unknown, known: string): boolean {
  const normal = (given: string) =>
    given
      .toLowerCase()
      .replace(/\s*;\s*/g, ';')
      .trim();
  return typeof value === 'string' && value.length <= 100 && normal(value) === normal(known);
}

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

/** The type of a component, field, item or parameter. */
const typed: Rule = (check, value, path) => checkTyped(check, value, path, typedKeywords, 'a type');
const parameter: Rule = (check, value, path) => checkTyped(check, value, path, parameterKeywords, 'a parameter');

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
]);

const parameterKeywords: Keywords = new Map([...typedKeywords, ['contentType', contentType]]);

function checkTyped(
  check: Check,
  value: unknown,
  path: SchemaPath | undefined,
  keywords: Keywords,
  what: string,
): void {
  if (!checkKeywords(check, value, path, keywords, what)) return;
  const at = (key: string): SchemaPath => ({ parent: path, key });
  const [made, other] = structures.filter(([keyword]) => Object.hasOwn(value, keyword));
  const hasOnlyKnownKeys = Object.keys(value).every((key) => isKnown(keywords, key));
  if (made === undefined && value.type === undefined && hasOnlyKnownKeys) {
    addFault(
      check,
      path,
      `${what} needs a "type", or one of ${structures.map(([keyword]) => `"${keyword}"`).join(', ')}`,
    );
  }
  if (made !== undefined && other !== undefined) {
    addFault(check, at(other[0]), `"${other[0]}" can't be combined with "${made[0]}"`, 'key');
  }
  if (made?.[0] === '$ref') {
    for (const key of ['type', 'format']) {
      if (Object.hasOwn(value, key)) addFault(check, at(key), `"${key}" can't be combined with "$ref"`, 'key');
    }
  } else {
    checkType(check, value, path, made);
  }
  checkRequired(check, value, at('required'));
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
  if (!Array.isArray(required)) return;
  if (properties === undefined) addFault(check, path, '"required" needs "properties"', 'key');
  if (!isRecord(properties)) return;
  for (const [key, name] of required.entries()) {
    if (typeof name !== 'string' || Object.hasOwn(properties, name)) continue;
    const detail = `there is no field ${shown(name)}${hint(name, Object.keys(properties), false)}`;
    addFault(check, { parent: path, key }, detail);
  }
}

const codeSampleKeywords: Keywords = new Map([
  ['lang', text],
  ['source', text],
  ['label', text],
]);

const codeSample: Rule = (check, value, path) => {
  if (!checkKeywords(check, value, path, codeSampleKeywords, 'a code sample')) return;
  for (const key of ['lang', 'source']) {
    if (!Object.hasOwn(value, key)) addFault(check, path, `a code sample needs "${key}"`);
  }
};

const functionKeywords: Keywords = new Map<string, Rule>([
  ['description', text],
  ['input', parameter],
  ['output', parameter],
  ['codeSamples', listOf(codeSample, 'code samples')],
]);

/** An export or import. `null`, which YAML's `greet:` without a value means, is a function without a declared signature. */
function functionRule(what: string): Rule {
  return (check, value, path) => {
    if (value !== null) checkKeywords(check, value, path, functionKeywords, what);
  };
}

/** A map of functions, or a list of names or of objects with a `name`, as in older documents. */
function functions(what: string): Rule {
  const one = functionRule(`an ${what}`);
  const namedKeywords: Keywords = new Map<string, Rule>([...functionKeywords, ['name', () => {}]]);
  return (check, value, path) => {
    if (!Array.isArray(value)) return mapOf(one, `${what}s`)(check, value, path);
    const known = new Set<string>();
    for (const [key, item] of value.entries()) {
      const inner = { parent: path, key };
      if (isRecord(item)) checkKeywords(check, item, inner, namedKeywords, `an ${what}`);
      checkName(check, item, inner, known, what);
    }
  };
}

function checkName(check: Check, item: unknown, path: SchemaPath, known: Set<string>, what: string): void {
  const name = isRecord(item) ? item.name : item;
  const at = isRecord(item) && item.name !== undefined ? { parent: path, key: 'name' } : path;
  if (typeof name !== 'string') addFault(check, at, `expected the ${what}'s name, or an object with a "name"`);
  else if (!isIdentifier(name)) addFault(check, at, notIdentifier(name));
  else if (known.has(name)) addFault(check, at, `the ${what} "${name}" is listed twice`);
  else known.add(name);
}

/** In `v0`, functions have only names. A map is accepted too, since the API returns exports as a map. */
const version0Exports: Rule = (check, value, path) => {
  if (value === null) return;
  if (isRecord(value)) return mapOf(onlyName, 'exports')(check, value, path);
  if (!Array.isArray(value)) return addFault(check, path, `expected a list of exports, found ${kindOf(value)}`);
  const known = new Set<string>();
  for (const [key, item] of value.entries()) {
    const inner = { parent: path, key };
    if (isRecord(item)) addFault(check, inner, 'version "v0" allows only names; "v1-draft" allows more');
    else checkName(check, item, inner, known, 'export');
  }
};

const onlyName: Rule = (check, value, path) => {
  if (value === null || (isRecord(value) && Object.keys(value).length === 0)) return;
  addFault(check, path, 'version "v0" allows only names; "v1-draft" allows more');
};

const commonKeywords: readonly (readonly [string, Rule])[] = [
  ['version', oneOf(schemaVersions)],
  ['description', text],
  ['$schema', text],
];

const version0Keywords: Keywords = new Map<string, Rule>([...commonKeywords, ['exports', version0Exports]]);

const componentKeywords: Keywords = new Map([['schemas', mapOf(typed, 'components')]]);

const version1Keywords: Keywords = new Map<string, Rule>([
  ...commonKeywords,
  ['exports', functions('export')],
  ['imports', functions('import')],
  [
    'components',
    (check, value, path) => {
      if (value !== null) checkKeywords(check, value, path, componentKeywords, '"components"');
    },
  ],
]);

/** Reports components that are only references to each other in a cycle. Visits each component once. */
function checkAliases(check: Check, components: Plain): void {
  const visited = new Set<string>();
  for (const start of Object.keys(components)) {
    const chain = new Set<string>();
    let name: string | undefined = start;
    while (name !== undefined && !visited.has(name) && !chain.has(name)) {
      chain.add(name);
      name = referencedName(components[name]);
    }
    if (name !== undefined && chain.has(name)) {
      const names = [...chain, name].slice(-20).join(' → ');
      const path = ['components', 'schemas', name, '$ref'].reduce<SchemaPath | undefined>(
        (parent, key) => ({ parent, key }),
        undefined,
      );
      addFault(check, path, `the components reference each other in a cycle: ${names}`);
    }
    for (const seen of chain) visited.add(seen);
  }
}

function referencedName(component: unknown): string | undefined {
  const ref = isRecord(component) ? component.$ref : undefined;
  return typeof ref === 'string' && ref.startsWith(componentPrefix) ? ref.slice(componentPrefix.length) : undefined;
}

/** Returns up to {@link maxSchemaFaults} faults of a schema. */
export function findFaults(schema: Plain): readonly FoundFault[] {
  const { components } = schema;
  const schemas = isRecord(components) && isRecord(components.schemas) ? components.schemas : {};
  const check: Check = { faults: [], components: schemas };
  const isVersion0 =
    schema.version === undefined
      ? Array.isArray(schema.exports) && !schema.exports.some(isRecord)
      : schema.version === 'v0';
  checkKeywords(check, schema, undefined, isVersion0 ? version0Keywords : version1Keywords, 'the schema');
  checkAliases(check, schemas);
  return check.faults;
}
