import { DomainError } from '../../domain/errors.ts';
import { requiredPart } from './artifact-body.ts';
import type { BodyReader } from './body-reader.ts';
import { readForm } from './multipart.ts';

/** B1's form: the module, and the configuration's text when there is one. */
export interface InstrumentForm {
  readonly wasm: Uint8Array;
  readonly config: string | undefined;
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
    demandNoOptions(form.get('options'));
    const config = form.get('config');
    return { wasm, config: config === undefined ? undefined : decode(config, 'config') };
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
              description: 'reserved for options of ours; there are none yet',
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

function decode(bytes: Uint8Array, field: string): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new DomainError('invalid_config', `The field "${field}" is not UTF-8.`, { cause });
  }
}

/** `options` is kept free for options of our own: nothing may come to rely on its being passed over. */
function demandNoOptions(bytes: Uint8Array | undefined): void {
  if (bytes === undefined || bytes.length === 0) return;
  let options: unknown;
  try {
    options = JSON.parse(decode(bytes, 'options'));
  } catch (cause) {
    throw new DomainError('invalid_config', 'The field "options" is not a JSON object.', { cause });
  }
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
  if (!isObject) throw new DomainError('invalid_config', 'The field "options" is not a JSON object.');
  const [unknown] = Object.keys(options as object);
  if (unknown !== undefined) {
    throw new DomainError('invalid_config', `The option ${JSON.stringify(unknown)} is not known; there are none yet.`);
  }
}
