import type { Static, TObject } from 'typebox';
import { DomainError } from '../domain-errors.ts';
import { HttpError } from '../http-error.ts';
import type { BodyReader, BodySource } from './body-reader.ts';
import { readBytes } from './read-bytes.ts';

/**
 * Reads a form of text fields by the rules of OAuth (RFC 6749 §3.2): no field may be repeated, a field without a value counts as absent,
 * and unknown fields are ignored.
 *
 * @param schema an object of strings; the use case checks which fields are required
 */
export function formFields<const T extends TObject>(
  schema: T,
  example: NoInfer<Static<T>>,
): BodyReader<{ readonly [Name in keyof Static<T>]?: string }> {
  const names = Object.keys(schema.properties);
  return {
    async read(source) {
      const sent = await readForm(source);
      const entries = names.flatMap((name) => {
        const [value = '', ...others] = sent.getAll(name);
        if (others.length > 0) throw new DomainError('invalid_request', `The field ${name} must not be repeated.`);
        if (value.includes('\0')) {
          throw new DomainError('invalid_request', `The field ${name} must not contain the character U+0000.`);
        }
        return value === '' ? [] : [[name, value]];
      });
      if (new Set(sent.keys()).size < sent.size) {
        throw new DomainError('invalid_request', 'No field of the form may be repeated.');
      }
      return Object.fromEntries(entries);
    },
    doc: {
      required: true,
      content: { 'application/x-www-form-urlencoded': { schema, example } },
      errors: ['invalid_request', 'payload_too_large', 'request_timeout', 'unsupported_media_type'],
    },
  };
}

const maxFormBytes = 16 * 1024;

/** @throws HttpError `unsupported_media_type`, and what reading a body throws */
async function readForm(source: BodySource): Promise<URLSearchParams> {
  if (source.mediaType !== 'application/x-www-form-urlencoded') {
    throw new HttpError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.', {
      accept: 'application/x-www-form-urlencoded',
    });
  }
  return new URLSearchParams((await readBytes(source, maxFormBytes, 'The form')).toString('utf8'));
}
