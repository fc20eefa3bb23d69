import { DomainError } from '../../domain/errors.ts';
import { HttpError } from '../http-error.ts';
import type { BodyReader } from './body-reader.ts';
import { readForm } from './multipart.ts';
import { readBytes } from './read-bytes.ts';

const binary = { type: 'string', format: 'binary' } as const;

/** A plugin's bytes: the field `artifact` of a form, or the body itself as `application/wasm`. */
export const artifactBody: BodyReader<Uint8Array> = {
  async read(source) {
    const what = 'A module';
    switch (source.mediaType) {
      case 'application/wasm':
        return readBytes(source, source.limits.maxModuleBytes, what);
      case 'multipart/form-data': {
        const form = await readForm(source, { artifact: { largest: source.limits.maxModuleBytes, what } });
        return requiredPart(form, 'artifact', 'the compiled module');
      }
      default:
        throw new HttpError('unsupported_media_type', 'Send the module as multipart/form-data or application/wasm.', {
          accept: 'multipart/form-data, application/wasm',
        });
    }
  },
  doc: {
    required: true,
    content: {
      'multipart/form-data': {
        schema: { type: 'object', required: ['artifact'], properties: { artifact: binary } },
      },
      'application/wasm': { schema: binary },
    },
    errors: [
      'malformed_multipart',
      'payload_too_large',
      'request_timeout',
      'unsupported_media_type',
      'invalid_field',
      'unavailable',
    ],
  },
};

/** @throws DomainError `invalid_field` */
export function requiredPart(form: ReadonlyMap<string, Uint8Array>, name: string, what: string): Uint8Array {
  const part = form.get(name);
  if (part !== undefined) return part;
  const detail = `is required: ${what}`;
  throw new DomainError('invalid_field', `The form has no field "${name}"; it holds ${what}.`, {
    errors: [{ pointer: `/${name}`, detail }],
  });
}
