/*
 * What a schema says, sorted for reading. An extension point's schema is any JSON object with `exports`; this knows the words
 * that are usual in one (`description`, `input`, `output`, `contentType`, JSON Schema's) and leaves nothing else out.
 */

/** A schema field without a dedicated place in the outline. */
export interface Remark {
  readonly name: string;
  readonly value: unknown;
}

/** A value that goes in or comes out, or a part of one. */
export interface ValueOutline {
  /** In words: `string`, `list of Fruit`. */
  readonly type: string;
  readonly contentType: string | undefined;
  readonly description: string | undefined;
  /** Those that it can be, where they are a few. */
  readonly values: readonly string[];
  readonly fields: readonly FieldOutline[];
  readonly remarks: readonly Remark[];
}

export interface FieldOutline {
  readonly name: string;
  readonly isRequired: boolean;
  readonly value: ValueOutline;
}

export interface FunctionOutline {
  readonly name: string;
  readonly description: string | undefined;
  readonly input: ValueOutline | undefined;
  readonly output: ValueOutline | undefined;
  readonly samples: readonly CodeSample[];
  readonly remarks: readonly Remark[];
}

/** How a plugin may look in a language. */
export interface CodeSample {
  readonly title: string;
  readonly source: string;
}

export interface TypeOutline {
  readonly name: string;
  readonly value: ValueOutline;
}

export interface SchemaOutline {
  readonly version: string | undefined;
  readonly description: string | undefined;
  /** What a plugin exports. */
  readonly exports: readonly FunctionOutline[];
  /** What the host gives it. */
  readonly imports: readonly FunctionOutline[];
  /** Types that have a name, in `components.schemas`. */
  readonly types: readonly TypeOutline[];
  readonly remarks: readonly Remark[];
}

type Entries = { readonly [name: string]: unknown };

/** The maximum depth of nested fields; deeper ones become remarks. */
const maxDepth = 4;

export function outlineOf(schema: unknown): SchemaOutline {
  const { version, description, exports, imports, components, ...rest } = isRecord(schema) ? schema : {};
  const { schemas, ...otherComponents } = isRecord(components) ? components : {};
  return {
    version: textOf(version),
    description: textOf(description),
    exports: functionsOf(exports),
    imports: functionsOf(imports),
    types: isRecord(schemas)
      ? Object.entries(schemas).map(([name, type]) => ({ name, value: describeValue(type, 1) }))
      : [],
    remarks: [
      ...leftover({ version, description }),
      ...(isRecord(schemas) || schemas === undefined ? remarksOf(otherComponents, 'components.') : []),
      ...(isRecord(schemas) || schemas === undefined ? [] : [{ name: 'components', value: components }]),
      ...(isRecord(components) || components === undefined ? [] : [{ name: 'components', value: components }]),
      ...remarksOf(rest),
    ],
  };
}

function functionsOf(value: unknown): FunctionOutline[] {
  if (isRecord(value)) return Object.entries(value).map(([name, about]) => functionOf(name, about));
  if (!Array.isArray(value)) return [];
  return value.flatMap((item): FunctionOutline[] => {
    const { name, ...about } = isRecord(item) ? item : { name: item };
    return typeof name === 'string' ? [functionOf(name, about)] : [];
  });
}

function functionOf(name: string, about: unknown): FunctionOutline {
  const { description, input, output, codeSamples, ...rest } = isRecord(about) ? about : { value: about };
  const samples = Array.isArray(codeSamples) ? codeSamples.flatMap(sampleOf) : [];
  return {
    name,
    description: textOf(description),
    input: isNothing(input) ? undefined : describeValue(input, 0),
    output: isNothing(output) ? undefined : describeValue(output, 0),
    samples,
    remarks: [
      ...leftover({ description }),
      ...(samples.length > 0 ? [] : remarksOf({ codeSamples })),
      ...remarksOf(rest),
    ],
  };
}

function sampleOf(sample: unknown): CodeSample[] {
  if (!isRecord(sample) || typeof sample.source !== 'string') return [];
  return [{ title: textOf(sample.label) ?? textOf(sample.lang) ?? 'Sample', source: sample.source }];
}

function describeValue(value: unknown, depth: number): ValueOutline {
  if (!isRecord(value)) {
    const type = typeof value === 'string' ? value : 'any';
    const remarks = typeof value === 'string' ? [] : remarksOf({ value });
    return { type, contentType: undefined, description: undefined, values: [], fields: [], remarks };
  }
  const { type, $ref, format, nullable, items, additionalProperties, contentType, description, ...others } = value;
  const { properties, required, enum: choices, ...rest } = others;
  // A list or a map shows the fields of its items.
  const inner = [items, additionalProperties].find(
    (each) => isRecord(each) && (isRecord(each.properties) || each.enum),
  );
  const within = isRecord(inner) ? describeValue(inner, depth) : undefined;
  const showsFields = isRecord(properties) && depth < maxDepth;
  return {
    type: typeName(value),
    contentType: textOf(contentType),
    description: textOf(description) ?? within?.description,
    values: Array.isArray(choices) ? choices.map(String) : (within?.values ?? []),
    fields: showsFields ? fieldsOf(properties, required, depth + 1) : (within?.fields ?? []),
    remarks: [
      ...leftover({ contentType, description }),
      ...(typeof type === 'string' ? [] : remarksOf({ format })),
      ...(isRecord(additionalProperties) ? [] : remarksOf({ additionalProperties })),
      ...(showsFields ? [] : remarksOf({ properties, required })),
      ...(within?.remarks ?? []),
      ...remarksOf(rest),
    ],
  };
}

function fieldsOf(properties: Entries, required: unknown, depth: number): FieldOutline[] {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, about]) => ({
    name,
    isRequired: names.includes(name) || (isRecord(about) && about.required === true),
    value: describeValue(isRecord(about) ? withoutRequiredFlag(about) : about, depth),
  }));
}

function withoutRequiredFlag({ required, ...rest }: Entries): Entries {
  return typeof required === 'boolean' || required === undefined ? rest : { ...rest, required };
}

/** A type in words: its name where it refers to one, `list of …`, `string or null`. */
function typeName(value: unknown): string {
  if (!isRecord(value)) return typeof value === 'string' ? value : 'any';
  return bareTypeName(value) + (value.nullable === true ? ' or null' : '');
}

function bareTypeName({ type, $ref, items, additionalProperties, properties, enum: choices, format }: Entries): string {
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? $ref;
  if (Array.isArray(type)) return type.map(String).join(' or ');
  if (type === 'array' || (type === undefined && !isNothing(items))) {
    return isNothing(items) ? 'list' : `list of ${typeName(items)}`;
  }
  if (isRecord(additionalProperties) && !isRecord(properties)) return `map of ${typeName(additionalProperties)}`;
  if (typeof type === 'string') return typeof format === 'string' ? `${type} (${format})` : type;
  if (isRecord(properties)) return 'object';
  return Array.isArray(choices) ? 'string' : 'any';
}

/** Of words that have a place of their own, those whose value isn't of the kind that fits there. */
function leftover(entries: Entries): Remark[] {
  return remarksOf(Object.fromEntries(Object.entries(entries).filter(([, value]) => textOf(value) === undefined)));
}

function remarksOf(entries: Entries, prefix = ''): Remark[] {
  return Object.entries(entries).flatMap(([name, value]) => (isNothing(value) ? [] : [{ name: prefix + name, value }]));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function isRecord(value: unknown): value is Entries {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
