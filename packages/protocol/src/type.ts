import type { TSchema, Type as TypeBox } from 'typebox';

/*
 * Builders of JSON schemas with TypeBox's static types. They create plain objects without TypeBox's code, so that a module that only
 * declares schemas doesn't load its 700 modules.
 */

type Schema = Record<string, unknown>;
type Options = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, Schema>>;

/** The schemas of optional properties. */
const optional = new WeakSet<object>();

const ofType = (type: string) => (options?: Options) => ({ type, ...options });

function object(properties: Properties, options?: Options): Schema {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name] as Schema));
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
}

function optionally(schema: Schema): Schema {
  const copy = { ...schema };
  optional.add(copy);
  return copy;
}

const builders = {
  Array: (items: Schema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: ofType('boolean'),
  Enum: (values: readonly unknown[], options?: Options) => ({ enum: values, ...options }),
  Integer: ofType('integer'),
  Intersect: (allOf: readonly Schema[], options?: Options) => ({ allOf, ...options }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: ofType('null'),
  Number: ofType('number'),
  Object: object,
  Optional: optionally,
  Partial: ({ properties }: { readonly properties: Properties }, options?: Options) =>
    object(mapValues(properties, optionally), options),
  Pick: ({ properties }: { readonly properties: Properties }, names: readonly string[], options?: Options) =>
    object(Object.fromEntries(Object.entries(properties).filter(([name]) => names.includes(name))), options),
  Record: ({ pattern = '^.*$' }: { readonly pattern?: string }, values: Schema, options?: Options) => ({
    type: 'object',
    patternProperties: { [pattern]: values },
    ...options,
  }),
  String: ofType('string'),
  Union: (anyOf: readonly Schema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: TSchema) => schema,
};

function mapValues(properties: Properties, change: (schema: Schema) => Schema): Properties {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, change(schema)]));
}

export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
