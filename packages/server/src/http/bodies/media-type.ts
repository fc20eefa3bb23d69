/** A parsed content type (RFC 9110 §8.3.1). The type and the parameters' names are in lower case. */
interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const typePattern = new RegExp(`^[ \\t]*(${token}/${token})[ \\t]*`);
const parameterPattern = new RegExp(`;[ \\t]*(?:(${token})=(?:(${token})|"((?:[^"\\\\]|\\\\.)*)"))?[ \\t]*`, 'y');

/** Parses a content type. Returns `undefined` for malformed text. A repeated parameter keeps its first value. */
export function parseMediaType(text: string): MediaType | undefined {
  const head = typePattern.exec(text);
  if (head === null) return undefined;
  const parameters = parseParameters(text, head[0].length);
  return parameters === undefined ? undefined : { type: (head[1] ?? '').toLowerCase(), parameters };
}

/** Parses `; name=value` pairs from `start` to the end. Returns `undefined` for anything else. */
export function parseParameters(text: string, start: number): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>();
  for (let position = start; position < text.length; ) {
    parameterPattern.lastIndex = position;
    const match = parameterPattern.exec(text);
    if (match === null) return undefined;
    position += match[0].length;
    const [, name, plain, quoted] = match;
    const key = name?.toLowerCase();
    if (key !== undefined && !parameters.has(key)) {
      parameters.set(key, plain ?? (quoted ?? '').replace(/\\(.)/g, '$1'));
    }
  }
  return parameters;
}
