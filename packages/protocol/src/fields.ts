import { type IdKind, idPattern } from './ids.ts';
import { displayNamePattern } from './names.ts';
import { Type } from './type.ts';

/* Fields that many schemas share. */

export function id(kind: IdKind, what: string) {
  return Type.String({ pattern: idPattern(kind), description: what });
}

export const timestamp = (what: string) =>
  Type.String({ format: 'date-time', description: `${what}; ISO 8601, UTC, milliseconds` });

/** A name that people choose and read. */
export const displayName = (what: string) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: displayNamePattern, description: what });
