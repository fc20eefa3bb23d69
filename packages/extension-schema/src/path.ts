/** The path to a value in a schema, as a linked list, since most paths are never converted to a pointer. */
export interface SchemaPath {
  readonly parent: SchemaPath | undefined;
  readonly key: string | number;
}

/** Returns the keys of a path, the outermost first. */
export function keysOf(path: SchemaPath | undefined): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let node = path; node !== undefined; node = node.parent) keys.push(node.key);
  return keys.reverse();
}

/** A JSON Pointer (RFC 6901). */
export function pointerTo(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
