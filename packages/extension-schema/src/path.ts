/** The way to a value inside a schema, from the outside in. Linked, so that it costs nothing before somebody asks for it. */
export interface SchemaPath {
  readonly parent: SchemaPath | undefined;
  readonly key: string | number;
}

/** The keys on the way, the outermost first. */
export function keysOf(path: SchemaPath | undefined): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at = path; at !== undefined; at = at.parent) keys.push(at.key);
  return keys.reverse();
}

/** A JSON Pointer (RFC 6901). */
export function pointerTo(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
