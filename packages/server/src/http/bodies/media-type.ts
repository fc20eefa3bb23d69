/** A content type taken apart (RFC 9110 §8.3.1): the type in lower case, and its parameters by name in lower case. */
export interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const typePattern = new RegExp(`^[ \\t]*(${token}/${token})[ \\t]*`);
const parameterPattern = new RegExp(`;[ \\t]*(?:(${token})=(?:(${token})|"((?:[^"\\\\]|\\\\.)*)"))?[ \\t]*`, 'y');

/** Reads a content type; `undefined` when the text is none. A parameter that is given twice keeps its first value. */
export function parseMediaType(text: string): MediaType | undefined {
  const head = typePattern.exec(text);
  if (head === null) return undefined;
  const parameters = parseParameters(text, head[0].length);
  return parameters === undefined ? undefined : { type: (head[1] ?? '').toLowerCase(), parameters };
}

/** Reads `; name=value` pairs from a position to the end; `undefined` when there is anything else. */
export function parseParameters(text: string, start: number): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>();
  for (let at = start; at < text.length; ) {
    parameterPattern.lastIndex = at;
    const match = parameterPattern.exec(text);
    if (match === null) return undefined;
    at += match[0].length;
    const [, name, plain, quoted] = match;
    const key = name?.toLowerCase();
    if (key !== undefined && !parameters.has(key)) {
      parameters.set(key, plain ?? (quoted ?? '').replace(/\\(.)/g, '$1'));
    }
  }
  return parameters;
}
