/*
 * What a schema says, sorted for reading. An extension point's schema is any JSON object with `exports`; this knows the words
 * that are usual in one (`description`, `input`, `output`, `contentType`, JSON Schema's) and leaves nothing else out.
 */

/** Something that the schema says and that has no place of its own. */
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
  readonly remarks: readonly Remark[];
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

/** Fields of fields are told so far down; what is deeper is a remark. */
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
  if (typeof about === 'string') {
    return { name, description: about, input: undefined, output: undefined, remarks: [] };
  }
  if (!isRecord(about)) {
    const remarks = about === null || about === undefined ? [] : [{ name: 'value', value: about }];
    return { name, description: undefined, input: undefined, output: undefined, remarks };
  }
  const { description, input, output, ...rest } = about;
  return {
    name,
    description: textOf(description),
    input: isNothing(input) ? undefined : describeValue(input, 0),
    output: isNothing(output) ? undefined : describeValue(output, 0),
    remarks: [...leftover({ description }), ...remarksOf(rest)],
  };
}

function describeValue(value: unknown, depth: number): ValueOutline {
  if (typeof value === 'string') {
    return { type: value, contentType: undefined, description: undefined, fields: [], remarks: [] };
  }
  if (!isRecord(value)) {
    return {
      type: 'any',
      contentType: undefined,
      description: undefined,
      fields: [],
      remarks: [{ name: 'value', value }],
    };
  }
  const { type, $ref, items, nullable, format, contentType, description, properties, required, ...rest } = value;
  const hasFields = isRecord(properties) && depth < maxDepth;
  return {
    type: typeName(value),
    contentType: textOf(contentType),
    description: textOf(description),
    fields: hasFields ? fieldsOf(properties, required, depth + 1) : [],
    remarks: [
      ...leftover({ type: Array.isArray(type) ? undefined : type, contentType, description }),
      ...(typeof type === 'string' ? [] : remarksOf({ format })),
      ...(isRecord(items) && (isRecord(items.properties) || items.enum !== undefined)
        ? [{ name: 'items', value: items }]
        : []),
      ...(hasFields || properties === undefined ? [] : remarksOf({ properties, required })),
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
function typeName(value: Entries): string {
  const { type, $ref, items, nullable } = value;
  const suffix = nullable === true ? ' or null' : '';
  if (typeof $ref === 'string') return ($ref.split('/').at(-1) ?? $ref) + suffix;
  if (Array.isArray(type)) return type.map(String).join(' or ') + suffix;
  if (type === 'array' || (type === undefined && isRecord(items))) {
    return (
      (isRecord(items) ? `list of ${typeName(items)}` : typeof items === 'string' ? `list of ${items}` : 'list') +
      suffix
    );
  }
  if (typeof type === 'string') return (typeof value.format === 'string' ? `${type} (${value.format})` : type) + suffix;
  if (isRecord(value.properties)) return `object${suffix}`;
  if (Array.isArray(value.enum)) return `one of a few${suffix}`;
  return 'any';
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
