import type { TLiteral, TSchema, TSchemaOptions, TUnion } from 'typebox';
import { type IdKind, idPattern } from './ids.ts';
import { displayNamePattern } from './names.ts';
import { Type } from './type.ts';

/* Fields that many schemas share. */

export function id(kind: IdKind, what: string) {
  return Type.String({ pattern: idPattern(kind), description: what });
}

export const timestamp = (what: string) =>
  Type.String({ format: 'date-time', description: `${what}; ISO 8601, UTC, milliseconds` });

/** A name for people. */
export const displayName = (what: string) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: displayNamePattern, description: what });

export function nullable<const T extends TSchema>(schema: T, options?: TSchemaOptions) {
  return Type.Union([schema, Type.Null()], options);
}

/** A union of string literals. */
export function oneOf<const T extends readonly string[]>(values: T, options?: TSchemaOptions) {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  ) as unknown as TUnion<{ -readonly [I in keyof T]: TLiteral<T[I]> }>;
}
