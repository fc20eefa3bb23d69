import { displayNamePattern } from '@tenon/protocol';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { DomainError, type FieldFault, invalidField } from '../../domain/errors.ts';
import { HttpError } from '../http-error.ts';
import type { BodyReader } from './body-reader.ts';
import { readBytes } from './read-bytes.ts';

/** The maximum number of faults in one response. */
const maxFaults = 20;

/** Reads and validates a JSON body. Ignores properties that the schema doesn't name. */
export function jsonBody<const T extends TSchema>(schema: T, example: NoInfer<Static<T>>): BodyReader<Static<T>> {
  const validator = Compile(schema);
  return {
    async read(source) {
      if (source.mediaType !== 'application/json') {
        throw new HttpError('unsupported_media_type', 'Send the body as application/json.', {
          accept: 'application/json',
        });
      }
      const bytes = await readBytes(source, source.limits.maxJsonBytes, 'A JSON body');
      const value = parseJson(bytes);
      if (!validator.Check(value)) throw invalidBody(validator.Errors(value));
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
    // The response has only the position: V8's message quotes the body, which may hold a secret.
    const position = /at position (\d+)/.exec(cause instanceof Error ? cause.message : '');
    const where = position === null ? 'at its end' : `at position ${position[1]}`;
    throw new DomainError('malformed_json', `The body has a JSON syntax error ${where}.`, { cause });
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

/** A validation error of TypeBox: the JSON Schema keyword, and where it is in the schema and in the value. */
export interface SchemaFault {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

function invalidBody(found: readonly SchemaFault[]): DomainError {
  const shown = describeFaults(found).slice(0, maxFaults);
  const [first] = shown;
  const detail =
    first === undefined ? 'The body does not match the schema.' : `${first.pointer || 'The body'}: ${first.detail}`;
  return new DomainError('invalid_field', detail, { errors: shown });
}

/** Describes a validator's faults: one per location, and one for a whole union. */
export function describeFaults(found: readonly SchemaFault[]): FieldFault[] {
  const unions = found.filter(({ keyword }) => keyword === 'anyOf');
  const isBranch = (fault: SchemaFault): boolean =>
    unions.some(({ schemaPath }) => fault.schemaPath.startsWith(`${schemaPath}/anyOf/`));
  return found.filter((fault) => !isBranch(fault)).flatMap((fault) => describeFault(fault, found));
}

function describeFault(fault: SchemaFault, all: readonly SchemaFault[]): FieldFault[] {
  const { keyword, instancePath, schemaPath, params, message } = fault;
  if (keyword === 'required') {
    const missing = (params as { requiredProperties: string[] }).requiredProperties;
    return missing.map((name) => ({ pointer: `${instancePath}/${name}`, detail: 'is required' }));
  }
  // TypeBox reports each unknown property twice: here for the object, and as 'boolean' for the property.
  if (keyword === 'additionalProperties') return [];
  if (keyword === 'boolean') return [{ pointer: instancePath, detail: 'is not a known field' }];
  if (keyword === 'type') return [{ pointer: instancePath, detail: `must be ${typeName(params)}` }];
  if (keyword === 'pattern' && (params as { pattern: unknown }).pattern === '\\S') {
    return [{ pointer: instancePath, detail: 'must not be blank' }];
  }
  if (keyword === 'pattern' && (params as { pattern: unknown }).pattern === displayNamePattern) {
    const detail = 'must contain a visible character and no bidirectional control characters';
    return [{ pointer: instancePath, detail }];
  }
  if (keyword === 'enum') {
    const allowed = (params as { allowedValues: unknown[] }).allowedValues.map((value) => JSON.stringify(value));
    return [{ pointer: instancePath, detail: `must be one of ${allowed.join(', ')}` }];
  }
  if (keyword !== 'anyOf') return [{ pointer: instancePath, detail: message }];
  const branches = all.filter(
    (other) => other.keyword !== 'anyOf' && other.schemaPath.startsWith(`${schemaPath}/anyOf/`),
  );
  // If the value has the type of a branch but is wrong inside, those faults are more useful than the list of types.
  const inner = branches.filter((branch) => branch.instancePath !== instancePath || !isTypeFault(branch));
  if (inner.length > 0) return inner.flatMap((branch) => describeFault(branch, all));
  const choices = branches.map((branch) =>
    branch.keyword === 'const'
      ? JSON.stringify((branch.params as { allowedValue: unknown }).allowedValue)
      : typeName(branch.params),
  );
  return [{ pointer: instancePath, detail: `must be ${choices.join(' or ')}` }];
}

function isTypeFault({ keyword }: SchemaFault): boolean {
  return keyword === 'type' || keyword === 'const';
}

function typeName(params: object): string {
  const { type } = params as { type?: string | string[] };
  const name = Array.isArray(type) ? type.join(' or ') : (type ?? 'another value');
  return /^[aio]/.test(name) ? `an ${name}` : `a ${name}`;
}
