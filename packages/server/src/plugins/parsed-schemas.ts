import type { ExtensionPoint } from '@tenon/protocol';

type Schema = ExtensionPoint['schema'];

/** Schemas with this many characters together are cached: several of the largest, and thousands of common ones. */
const maxChars = 2 * 1024 * 1024;

/**
 * Caches stored schemas by their text, so that each is parsed once for many answers. Cached schemas are shared: don't change them.
 *
 * @param parse Default: `JSON.parse`.
 */
export function createParsedSchemas(parse = (text: string): unknown => JSON.parse(text)): (text: string) => Schema {
  const cached = new Map<string, Schema>(); // in the order of use, the least recently used first
  let chars = 0;
  return (text) => {
    const found = cached.get(text);
    const schema = found ?? (parse(text) as Schema);
    if (found === undefined) chars += text.length;
    else cached.delete(text);
    cached.set(text, schema);
    for (const oldest of cached.keys()) {
      if (chars <= maxChars) break;
      cached.delete(oldest);
      chars -= oldest.length;
    }
    return schema;
  };
}
