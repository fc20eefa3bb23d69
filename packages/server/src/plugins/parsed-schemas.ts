import type { ExtensionPoint } from '@tenon/protocol';

type Schema = ExtensionPoint['schema'];

/** The cache's maximum size in characters. It fits several of the largest schemas, or thousands of common ones. */
const maxChars = 2 * 1024 * 1024;

/**
 * Creates a parser of stored schemas with an LRU cache by text. Don't change the returned schemas: callers share them.
 *
 * @param parse Default: `JSON.parse`.
 */
export function createParsedSchemas(parse = (text: string): unknown => JSON.parse(text)): (text: string) => Schema {
  const cached = new Map<string, Schema>(); // the least recently used first
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
