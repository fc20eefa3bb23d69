/**
 * Replaces a value before it is recorded.
 *
 * @param value a text, number, boolean, `null` or bytes; of a JSON text, each value in it
 * @param path such as `/input/user/email`, `/output/total`, `/error`, `/hostCalls/lookup/args/0/name` or `/hostCalls/lookup/returns`
 * @returns the value, or another one. `undefined` leaves the whole call out
 */
export type Redact = (value: unknown, path: string) => unknown;

/**
 * Redacts a value. Of a text that is a JSON object or list, each value in it is redacted; the text stays as it is if none changes.
 *
 * @throws Error if `redact` returns `undefined`
 */
export function redactValue(value: unknown, path: string, redact: Redact): unknown {
  const json = typeof value === 'string' ? parseJson(value) : undefined;
  if (json === undefined) return redactOne(value, path, redact);
  let isChanged = false;
  const redacted = redactJson(json, path, (each, at) => {
    const found = redactOne(each, at, redact);
    if (!Object.is(found, each)) isChanged = true;
    return found;
  });
  return isChanged ? JSON.stringify(redacted) : value;
}

function redactOne(value: unknown, path: string, redact: Redact): unknown {
  const redacted = redact(value, path);
  if (redacted === undefined) throw new Error('The call is left out.');
  return redacted;
}

function redactJson(value: unknown, path: string, redact: Redact): unknown {
  if (Array.isArray(value)) return value.map((each, at) => redactJson(each, `${path}/${at}`, redact));
  if (typeof value !== 'object' || value === null) return redact(value, path);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, redactJson(each, `${path}/${escapeKey(key)}`, redact)]),
  );
}

/** A key in a JSON Pointer. */
function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function parseJson(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}
