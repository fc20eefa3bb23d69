import { isRecord, type Plain } from './value.ts';

/* What a type can be, and how types refer to each other. */

export const schemaTypes = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'buffer'] as const;
export const contentTypes = ['text/plain; charset=utf-8', 'application/json', 'application/x-binary'] as const;
export type ContentType = (typeof contentTypes)[number];

export const formats: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['string', ['date-time', 'byte']],
  ['integer', ['uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'uint64', 'int64']],
  ['number', ['float', 'double']],
]);

/** Marks an export that a plugin may leave out. Other tools ignore it. */
export const optionalKey = 'x-tenon-optional';

export const componentPrefix = '#/components/schemas/';

/** Whether two content types are equal, ignoring case and white space (RFC 9110 §8.3.1). */
export function isSameContentType(value: unknown, known: string): boolean {
  const normal = (given: string) =>
    given
      .toLowerCase()
      .replace(/\s*;\s*/g, ';')
      .trim();
  return typeof value === 'string' && value.length <= 100 && normal(value) === normal(known);
}

/** The components of a schema by name. */
export function componentsOf(schema: unknown): Plain {
  const components = isRecord(schema) ? schema.components : undefined;
  return isRecord(components) && isRecord(components.schemas) ? components.schemas : {};
}

/** Returns the name of the component that a type references; `undefined` for a type without a valid reference. */
export function referencedName(type: unknown, components: Plain): string | undefined {
  const ref = isRecord(type) && Object.hasOwn(type, '$ref') ? type.$ref : undefined;
  if (typeof ref !== 'string' || !ref.startsWith(componentPrefix)) return undefined;
  const name = ref.slice(componentPrefix.length);
  return Object.hasOwn(components, name) ? name : undefined;
}

/** Follows references to the final type; returns `undefined` for a cycle. */
export function resolveType(type: unknown, components: Plain): unknown {
  const visited = new Set<string>();
  let current = type;
  for (let name = referencedName(current, components); name !== undefined; name = referencedName(current, components)) {
    if (visited.has(name)) return undefined;
    visited.add(name);
    current = components[name];
  }
  return current;
}

/** Whether a type, or a component on the way of its references, is nullable. The references must not be a cycle. */
export function isNullable(type: unknown, components: Plain): boolean {
  if (isRecord(type) && type.nullable === true) return true;
  const name = referencedName(type, components);
  return name !== undefined && isNullable(components[name], components);
}

/** The content type of a parameter. Without one in the schema, the type decides. */
export function contentTypeOf(parameter: unknown, components: Plain): ContentType {
  const { contentType, type } = isRecord(parameter) ? parameter : {};
  const explicit = contentTypes.find((known) => isSameContentType(contentType, known));
  if (explicit !== undefined) return explicit;
  const [plainText, json, binary] = contentTypes;
  const isText = type === 'string' && isRecord(resolveType(parameter, components));
  return type === 'buffer' ? binary : isText ? plainText : json;
}

/** One of the objects that a union can be. */
export interface Variant {
  /** The component. */
  readonly name: string;
  /** The values of the discriminator that mean this variant. */
  readonly values: readonly string[];
}

/** A discriminated union: the field that tells the variants apart, and the variants. */
export interface Union {
  readonly discriminator: string;
  readonly variants: readonly Variant[];
}

/** Reads a type with `oneOf`. Returns `undefined` for other types; skips variants that the rules refuse. */
export function unionOf(type: unknown, components: Plain): Union | undefined {
  if (!isRecord(type) || !Array.isArray(type.oneOf) || !isRecord(type.discriminator)) return undefined;
  const { propertyName } = type.discriminator;
  if (typeof propertyName !== 'string') return undefined;
  const variants = type.oneOf.flatMap((item) => {
    const name = referencedName(item, components);
    return name === undefined ? [] : [{ name, values: variantValues(item, components, propertyName) }];
  });
  return { discriminator: propertyName, variants };
}

/** The texts that a field of an object can have; none for a field that is not an enum. */
export function variantValues(variant: unknown, components: Plain, field: string): string[] {
  const target = resolveType(variant, components);
  const fields = isRecord(target) && isRecord(target.properties) ? target.properties : {};
  const type = resolveType(Object.hasOwn(fields, field) ? fields[field] : undefined, components);
  const values = isRecord(type) ? type.enum : undefined;
  if (typeof values === 'string') return [values];
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
}
