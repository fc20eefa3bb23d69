import { parseJson, stringifyJson } from '@tenon/extension-schema/json';

/**
 * Replaces a value before it is recorded. Names of fields are recorded as they are.
 *
 * @param value a text, number, boolean, `null` or bytes; of a JSON text, each value in it. Integers beyond 2^53 are bigints
 * @param path such as `/input/user/email`, `/output/total`, `/error`, `/hostCalls/lookup/args/0/name` or `/hostCalls/lookup/returns`
 * @returns the value, or another one. `undefined` leaves the whole call out
 */
export type Redact = (value: unknown, path: string) => unknown;

/**
 * Redacts a value. Of a text that is a JSON object or list, each value in it is redacted; the text stays as it is if none changes.
 *
 * @throws Error if `redact` returns `undefined`
 */
export function redactValue(value: unknown, path: string, redact: Redact | undefined): unknown {
  if (redact === undefined) return value;
  const json = typeof value === 'string' ? parseObject(value) : undefined;
  if (json === undefined) return redactOne(value, path, redact);
  let fields = 0;
  let isChanged = false;
  const redactJson = (each: unknown, at: string): unknown => {
    if (Array.isArray(each)) return each.map((item, index) => redactJson(item, `${at}/${index}`));
    if (typeof each === 'object' && each !== null) {
      const entries = Object.entries(each);
      fields += entries.length;
      return Object.fromEntries(entries.map(([key, item]) => [key, redactJson(item, `${at}/${escapeKey(key)}`)]));
    }
    const redacted = redactOne(each, at, redact);
    if (!Object.is(redacted, each)) isChanged = true;
    if (typeof redacted === 'number' && !Number.isFinite(redacted)) throw new Error('JSON has no such number.');
    return redacted;
  };
  const redacted = redactJson(json, path);
  // Of fields with equal names, only the last is parsed and redacted.
  return isChanged || fields < fieldsOf(value as string) ? stringifyJson(redacted) : value;
}

function redactOne(value: unknown, path: string, redact: Redact): unknown {
  const redacted = redact(value, path);
  if (redacted === undefined) throw new Error('The call is left out.');
  return redacted;
}

/** A key in a JSON Pointer. */
function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** @throws SyntaxError for JSON that is nested too deep to redact */
function parseObject(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return parseJson(text) as object;
}

/** The number of fields of all objects of a JSON text. */
function fieldsOf(text: string): number {
  return text.replace(/"(?:[^"\\]+|\\.)*"/g, '').split(':').length - 1;
}
