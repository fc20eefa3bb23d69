import { type Fault, faultsOf } from '@tenon/protocol/validate';
import type { Static, TSchema } from 'typebox';
import { DomainError, invalidField } from '../domain-errors.ts';
import { HttpError } from '../http-error.ts';
import type { BodyReader, BodySource } from './body-reader.ts';
import { type JsonBounds, requireJsonBounds } from './json-bounds.ts';
import { readBytes } from './read-bytes.ts';

const maxFaults = 20;

/**
 * Reads and validates a JSON body. Ignores properties that the schema doesn't name, unless it forbids them.
 *
 * @param boundsOf the bounds of a body that may be larger than `json-bytes`
 */
export function jsonBody<const T extends TSchema>(
  schema: T,
  example: NoInfer<Static<T>>,
  boundsOf?: (limits: BodySource['limits']) => JsonBounds,
): BodyReader<Static<T>> {
  return {
    async read(source) {
      if (source.mediaType !== 'application/json') {
        throw new HttpError('unsupported_media_type', 'Send the body as application/json.', {
          accept: 'application/json',
        });
      }
      const bounds = boundsOf?.(source.limits);
      const bytes = await readBytes(source, bounds?.maxBytes ?? source.limits.maxJsonBytes, 'A JSON body', {
        acceptsGzip: bounds?.acceptsGzip,
      });
      if (bounds !== undefined) requireJsonBounds(bytes, bounds, 'A JSON body');
      const value = parseJson(bytes);
      const faults = faultsOf(schema, value);
      if (faults.length > 0) throw invalidBody(faults);
      const pointer = bytes.includes('\\u0000') ? findNul(value) : undefined;
      if (pointer !== undefined) throw invalidField(pointer, 'must not contain the character U+0000');
      return value as Static<T>;
    },
    doc: {
      required: true,
      content: { 'application/json': { schema, example } },
      errors: ['malformed_json', 'payload_too_large', 'request_timeout', 'unsupported_media_type', 'invalid_field'],
    },
  };
}

/** As {@link jsonBody}, for a route that also accepts requests without a body. */
export function optionalJsonBody<const T extends TSchema>(
  schema: T,
  example: NoInfer<Static<T>>,
): BodyReader<Static<T> | undefined> {
  const { read, doc } = jsonBody(schema, example);
  return {
    async read(source) {
      const { 'content-length': length = '0', 'transfer-encoding': encoding } = source.message.headers;
      return encoding === undefined && Number(length) === 0 ? undefined : read(source);
    },
    doc: { ...doc, required: false },
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw new DomainError('malformed_json', 'The body must be a JSON object, but is empty.');
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new DomainError('malformed_json', 'The body must be UTF-8.', { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    // V8's message is not in the response: it quotes the body, which may hold a secret.
    throw new DomainError('malformed_json', 'The body has a JSON syntax error.', { cause });
  }
}

/**
 * Returns a pointer to the first string or property name with U+0000, which PostgreSQL can't store
 * (https://www.postgresql.org/docs/current/datatype-character.html). Iterative, because deep nesting would overflow the call stack.
 */
function findNul(value: unknown): string | undefined {
  const pending: { readonly pointer: string; readonly value: unknown }[] = [{ pointer: '', value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { pointer, value } = next;
    if (typeof value === 'string' && value.includes('\0')) return pointer;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value)) {
      if (name.includes('\0')) return pointer;
      pending.push({ pointer: `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, value: member });
    }
  }
  return undefined;
}

function invalidBody(faults: readonly Fault[]): DomainError {
  const [first] = faults;
  const detail = `${first?.pointer || 'The body'}: ${first?.detail}`;
  return new DomainError('invalid_field', detail, { errors: faults.slice(0, maxFaults) });
}
