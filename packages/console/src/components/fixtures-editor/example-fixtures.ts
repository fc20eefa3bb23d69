import type { ExtensionPoint, Fixture } from '@tenon/protocol';
import type { KnownNames } from './fixture-keys.ts';

type Entries = Readonly<Record<string, unknown>>;
/** Besides `exports`, a schema may have anything. */
type Schema = ExtensionPoint['schema'] & Entries;

/** The exports and imports that fixtures can name. */
export function namesIn(schema: Schema): KnownNames {
  return { exports: Object.keys(functionsOf(schema.exports)), imports: Object.keys(functionsOf(schema.imports)) };
}

/** Fixtures to begin with: one call for each export, whose output must fit the schema. */
export function exampleFixtures(schema: Schema): readonly Fixture[] {
  return Object.entries(functionsOf(schema.exports)).map(([name, about]) => {
    const { input, output } = isRecord(about) ? about : {};
    return {
      name: `${name} accepts an example`,
      export: name,
      ...inputOf(input, schema),
      expect: isRecord(output) ? { matchesSchema: true } : { fails: false },
    };
  });
}

/** As people read and edit them. */
export function fixturesText(fixtures: readonly Fixture[]): string {
  return `${JSON.stringify(fixtures, undefined, 2)}\n`;
}

function inputOf(input: unknown, schema: Schema): Pick<Fixture, 'input' | 'inputBase64'> {
  if (!isRecord(input)) return {};
  const example = exampleOf(input, schema, 0);
  if (isJson(input)) return { input: JSON.stringify(example) };
  return resolve(input, schema).type === 'buffer' ? { inputBase64: btoa('example') } : { input: String(example) };
}

function isJson({ contentType, type, $ref }: Entries): boolean {
  if (typeof contentType === 'string') return contentType.includes('json');
  return type === 'object' || type === 'array' || $ref !== undefined;
}

const maxDepth = 6;

/** A value of a type. */
function exampleOf(reference: Entries, schema: Schema, depth: number): unknown {
  const type = resolve(reference, schema);
  const { enum: choices, properties, items, required } = type;
  if (Array.isArray(choices)) return choices[0];
  if (typeof choices === 'string') return choices;
  if (type.type === 'array') return isRecord(items) && depth < maxDepth ? [exampleOf(items, schema, depth + 1)] : [];
  if (isRecord(properties)) {
    const names = Object.keys(properties).filter((name) => !Array.isArray(required) || required.includes(name));
    if (depth >= maxDepth) return {};
    const memberOf = (value: unknown) => (isRecord(value) ? exampleOf(value, schema, depth + 1) : null);
    return Object.fromEntries(names.map((name) => [name, memberOf(properties[name])]));
  }
  return scalarOf(type);
}

function scalarOf({ type, format }: Entries): unknown {
  switch (type) {
    case 'string':
      return format === 'date-time' ? '2026-01-31T12:00:00Z' : 'example';
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'buffer':
      return btoa('example');
    default:
      return {};
  }
}

/** Follows `$ref`, as far as it leads to a named type. */
function resolve(type: Entries, schema: Schema): Entries {
  let found = type;
  for (let hops = 0; typeof found.$ref === 'string' && hops < maxDepth; hops++) {
    const name = found.$ref.split('/').at(-1) ?? '';
    const { schemas } = isRecord(schema.components) ? schema.components : {};
    const target = isRecord(schemas) ? schemas[name] : undefined;
    if (!isRecord(target)) break;
    found = target;
  }
  return found;
}

/** A schema lists functions by name, or as a list of names or objects with a name. */
function functionsOf(value: unknown): Entries {
  if (isRecord(value)) return value;
  if (!Array.isArray(value)) return {};
  return Object.fromEntries(
    value.flatMap((item): [string, unknown][] => {
      const name: unknown = isRecord(item) ? item.name : item;
      return typeof name === 'string' ? [[name, item]] : [];
    }),
  );
}

function isRecord(value: unknown): value is Entries {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
