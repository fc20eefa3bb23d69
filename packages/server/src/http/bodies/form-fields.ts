import type { Static, TObject } from 'typebox';
import { DomainError } from '../../domain/errors.ts';
import type { BodyReader } from './body-reader.ts';
import { readForm } from './form-body.ts';

/**
 * A form of the named fields, all of them texts and each there once at the most, as OAuth has it (RFC 6749 §3.2): a field
 * without a value counts as left out, and others are passed over.
 *
 * @param schema an object of strings; which of them are needed is for the use case to say
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
        if (others.length > 0) throw new DomainError('invalid_request', `The field ${name} is there more than once.`);
        if (value.includes('\0')) throw new DomainError('invalid_request', `The field ${name} has a NUL character.`);
        return value === '' ? [] : [[name, value]];
      });
      if (new Set(sent.keys()).size < sent.size) {
        throw new DomainError('invalid_request', 'A field is there more than once.');
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
