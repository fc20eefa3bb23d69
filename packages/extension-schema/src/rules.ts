import {
  addFault,
  type Check,
  checkKeywords,
  flag,
  isIdentifier,
  type Keywords,
  listOf,
  mapOf,
  notIdentifier,
  oneOf,
  type Rule,
  text,
} from './check.ts';
import type { SchemaPath } from './path.ts';
import { parameter, typed } from './type-rules.ts';
import { componentsOf, optionalKey, referencedName } from './types.ts';
import { isRecord, kindOf, type Plain } from './value.ts';

/*
 * The rules of the two versions of XTP's schema format: https://docs.xtp.dylibso.com/docs/concepts/xtp-schema. XTP's published JSON Schema
 * requires a `type` besides `properties` or `enum`, and a `contentType`. XTP's own tools don't, and existing documents omit them, so they
 * are optional here. See docs/reference/extension-point-schema.md.
 */

export { componentPrefix, contentTypes, isSameContentType } from './types.ts';

export const schemaVersions = ['v0', 'v1-draft'] as const;

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

const importKeywords: Keywords = new Map<string, Rule>([
  ['description', text],
  ['input', parameter],
  ['output', parameter],
  ['codeSamples', listOf(codeSample, 'code samples')],
]);

const functionKeywords = {
  export: new Map([...importKeywords, [optionalKey, flag]]),
  import: importKeywords,
} satisfies Record<string, Keywords>;
type FunctionKind = keyof typeof functionKeywords;

/** An export or import. `null`, which YAML's `greet:` without a value means, is a function without a declared signature. */
function functionRule(what: FunctionKind): Rule {
  return (check, value, path) => {
    if (value !== null) checkKeywords(check, value, path, functionKeywords[what], `an ${what}`);
  };
}

/** A map of functions, or a list of names or of objects with a `name`, as in older documents. */
function functions(what: FunctionKind): Rule {
  const one = functionRule(what);
  const namedKeywords: Keywords = new Map<string, Rule>([...functionKeywords[what], ['name', () => {}]]);
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
      const isIncomplete = ({ schemas }: Plain) => schemas === undefined;
      if (value !== null) checkKeywords(check, value, path, componentKeywords, '"components"', isIncomplete);
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
      name = referencedName(components[name], components);
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

/**
 * Checks a schema, and rewrites what existing documents write in another form.
 *
 * @returns up to {@link maxSchemaFaults} faults, and as many warnings
 */
export function checkSchema(schema: Plain): Pick<Check, 'faults' | 'warnings'> {
  const schemas = componentsOf(schema);
  const check: Check = { faults: [], warnings: [], components: schemas };
  const isVersion0 =
    schema.version === undefined
      ? Array.isArray(schema.exports) && !schema.exports.some(isRecord)
      : schema.version === 'v0';
  // Without exports, plugins may export anything. In v0, imports and components would have no effect.
  const isIncomplete = ({ exports, imports, components }: Plain) =>
    exports === undefined || (isVersion0 && (imports !== undefined || components !== undefined));
  const keywords = isVersion0 ? version0Keywords : version1Keywords;
  checkKeywords(check, schema, undefined, keywords, 'the schema', isIncomplete);
  checkAliases(check, schemas);
  return check;
}
