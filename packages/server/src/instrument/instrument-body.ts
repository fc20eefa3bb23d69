import type { BodyReader } from '../http/bodies/body-reader.ts';
import { formErrors, readForm } from '../http/bodies/multipart.ts';
import { DomainError } from '../http/domain-errors.ts';
import { requiredPart } from '../plugins/artifact-body.ts';

/** The form of B1: the module, and the unparsed configuration and options. */
interface InstrumentForm {
  readonly wasm: Uint8Array;
  readonly config: string | undefined;
  readonly options: string | undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

const texts = { type: 'array', items: { type: 'string' } } as const;

export const instrumentBody: BodyReader<InstrumentForm> = {
  async read(source) {
    const { maxModuleBytes, maxConfigBytes } = source.limits;
    const form = await readForm(source, {
      wasm: { maxBytes: maxModuleBytes, what: 'A module' },
      config: { maxBytes: maxConfigBytes, what: 'A configuration' },
      options: { maxBytes: maxConfigBytes, what: 'The options' },
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
              description: 'which functions to trace, as a file or an inline value; exactly one of the two properties',
              properties: {
                allowed: { type: 'array', items: { type: 'string' }, description: 'trace only these functions' },
                banned: { type: 'array', items: { type: 'string' }, description: 'trace all functions except these' },
              },
              additionalProperties: false,
            },
            options: {
              type: 'object',
              description: 'further options; each is optional',
              properties: {
                codeMap: {
                  type: 'boolean',
                  default: false,
                  description: 'whether the output has a section that maps its code offsets to those of the input',
                },
                debugInfo: {
                  type: 'string',
                  enum: ['keep', 'drop'],
                  default: 'keep',
                  description: 'whether DWARF sections are adjusted to the output or dropped',
                },
                patterns: {
                  type: 'boolean',
                  default: false,
                  description:
                    'whether the names in the configuration are patterns: `*` matches any characters, `?` one character, `\\` escapes the next character; at most 1,000 patterns of at most 1,000 bytes',
                },
                exceptionHandling: {
                  type: 'string',
                  enum: ['legacy', 'exnref'],
                  default: 'exnref',
                  description:
                    'the exception-handling instructions to use in a module that throws but never catches, and so works with either',
                },
                memory: {
                  oneOf: [{ type: 'boolean' }, texts],
                  default: false,
                  description:
                    'whether calls of the module’s own allocators are reported to `allocator-enter` and `allocator-exit` of `tenon:instrument`: `true` for known names such as `malloc`, or a list with entries such as `malloc` or `pool_get=malloc`',
                },
                trace: {
                  type: 'boolean',
                  default: true,
                  description:
                    'whether calls and memory growth are traced; if not, the module imports nothing for it. Not with `config`',
                },
                coverage: {
                  type: 'boolean',
                  default: false,
                  description:
                    'whether the module counts how often each basic block runs. The section `tenon.coverage` describes the blocks, and the export `tenon:count` returns a counter',
                },
                fuel: {
                  type: 'integer',
                  minimum: 0,
                  maximum: Number.MAX_SAFE_INTEGER,
                  description:
                    'the number of instructions after which the module traps. The exported global `tenon:fuel` has the rest',
                },
                onOutOfFuel: {
                  type: 'string',
                  enum: ['trap', 'call'],
                  default: 'trap',
                  description:
                    'with `call`, the module calls the import `out-of-fuel` of `tenon:instrument` before it traps. If this adds fuel, the module continues',
                },
                reachableFrom: {
                  ...texts,
                  description: 'of the selected functions, trace only those that these exported functions can call',
                },
                adaptive: {
                  type: 'boolean',
                  default: false,
                  description: 'whether functions can skip calls that are too short for a span, as `@tenon/trace` does',
                },
                skipLeaves: {
                  type: 'boolean',
                  default: false,
                  description: 'whether to leave out functions without loops and calls, which are too short for a span',
                },
                every: {
                  type: 'integer',
                  minimum: 1,
                  default: 1,
                  description: 'of the calls of each function, trace only one in this many',
                },
                minBytes: {
                  type: 'integer',
                  minimum: 0,
                  default: 0,
                  description: 'of the selected functions, trace only those with a body of at least this many bytes',
                },
                sourceFiles: {
                  ...texts,
                  description:
                    'of the selected functions, trace only those whose source file matches one of these patterns, by the debug information in the module',
                },
                namespaces: {
                  ...texts,
                  description:
                    'of the selected functions, trace only those in a crate, namespace or package that matches one of these patterns',
                },
              },
              additionalProperties: false,
            },
          },
        },
      },
    },
    errors: [...formErrors, 'invalid_config'],
  },
};

function textOf(form: ReadonlyMap<string, Uint8Array>, field: string): string | undefined {
  const bytes = form.get(field);
  if (bytes === undefined) return undefined;
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new DomainError('invalid_config', `The field "${field}" must be UTF-8.`, { cause });
  }
}
