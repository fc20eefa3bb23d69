import { DomainError } from '../../domain/errors.ts';
import { requiredPart } from './artifact-body.ts';
import type { BodyReader } from './body-reader.ts';
import { readForm } from './multipart.ts';

/** B1's form: the module, and the texts of the configuration and of our own options when they came. */
export interface InstrumentForm {
  readonly wasm: Uint8Array;
  readonly config: string | undefined;
  readonly options: string | undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export const instrumentBody: BodyReader<InstrumentForm> = {
  async read(source) {
    const { maxModuleBytes, maxConfigBytes } = source.limits;
    const form = await readForm(source, {
      wasm: { largest: maxModuleBytes, what: 'A module' },
      config: { largest: maxConfigBytes, what: 'A configuration' },
      options: { largest: maxConfigBytes, what: 'The options' },
    });
    const wasm = requiredPart(form, 'wasm', 'the compiled module');
    return { wasm, config: textOf(form, 'config'), options: textOf(form, 'options') };
  },
  doc: {
    required: true,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          required: ['wasm'],
          properties: {
            wasm: { type: 'string', format: 'binary', description: 'the compiled module' },
            config: {
              type: 'object',
              description: 'which functions are traced, as a file or as an inline value; exactly one of the two',
              properties: {
                allowed: { type: 'array', items: { type: 'string' }, description: 'only these are traced' },
                banned: { type: 'array', items: { type: 'string' }, description: 'these are not traced' },
              },
              additionalProperties: false,
            },
            options: {
              type: 'object',
              description: 'what goes beyond the configuration; each is optional',
              properties: {
                patterns: {
                  type: 'boolean',
                  default: false,
                  description:
                    'the names in the configuration are patterns: `*` stands for any characters, `?` for one, `\\` takes the meaning away from what follows; at most 1,000 of at most 1,000 bytes',
                },
                exceptionHandling: {
                  type: 'string',
                  enum: ['legacy', 'exnref'],
                  default: 'exnref',
                  description: 'which generation is used in a module that throws and never catches, which fits both',
                },
              },
              additionalProperties: false,
            },
          },
        },
      },
    },
    errors: [
      'malformed_multipart',
      'payload_too_large',
      'request_timeout',
      'unsupported_media_type',
      'invalid_field',
      'invalid_config',
      'unavailable',
    ],
  },
};

function textOf(form: ReadonlyMap<string, Uint8Array>, field: string): string | undefined {
  const bytes = form.get(field);
  if (bytes === undefined) return undefined;
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new DomainError('invalid_config', `The field "${field}" is not UTF-8.`, { cause });
  }
}
