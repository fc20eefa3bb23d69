/** The collector's response to an accepted request: https://opentelemetry.io/docs/specs/otlp/#partial-success-1 */
export interface PartialSuccess {
  /** Spans that it refused. */
  readonly rejected: number;
  /** The reason, or a warning if it refused none; cut to 500 UTF-16 code units. */
  readonly message: string;
}

const maxMessageLength = 500;

/** Reads the body of a successful response. An unreadable body counts as full success, like an empty one. */
export function readPartialSuccess(body: Uint8Array, contentType: string): PartialSuccess {
  if (isJson(contentType)) {
    const partial = property(parseJson(body), 'partialSuccess');
    return {
      rejected: countOf(property(partial, 'rejectedSpans')),
      message: shortened(property(partial, 'errorMessage')),
    };
  }
  const partial = isProtobuf(contentType) ? lastValue(body, 1) : undefined;
  if (!(partial instanceof Uint8Array)) return { rejected: 0, message: '' };
  const rejected = lastValue(partial, 1);
  return { rejected: typeof rejected === 'bigint' ? countOf(rejected) : 0, message: shortened(textField(partial, 2)) };
}

/** Reads the reason of a failed response: a `google.rpc.Status`, or the text that a proxy sends. */
export function readFailure(body: Uint8Array, contentType: string): string {
  if (isJson(contentType)) {
    const message = property(parseJson(body), 'message');
    if (typeof message === 'string') return shortened(message);
  }
  if (isProtobuf(contentType)) return shortened(textField(body, 2));
  return /^(text\/plain|application\/json)\b/i.test(contentType)
    ? shortened(new TextDecoder().decode(body).trim())
    : '';
}

function isJson(contentType: string): boolean {
  return /^application\/json\b/i.test(contentType);
}

function isProtobuf(contentType: string): boolean {
  return /^application\/x-protobuf\b/i.test(contentType);
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

function property(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function countOf(value: unknown): number {
  const count = Number(value);
  return Number.isFinite(count) && count > 0 ? count : 0;
}

function shortened(text: unknown): string {
  return typeof text === 'string' ? text.slice(0, maxMessageLength).toWellFormed() : '';
}

function textField(message: Uint8Array, number: number): string | undefined {
  const value = lastValue(message, number);
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : undefined;
}

/** The value of a field. If the field occurs twice, the last value counts, as the encoding requires. */
function lastValue(message: Uint8Array, number: number): ReadField['value'] {
  return fieldsOf(message)
    .toArray()
    .findLast((field) => field.number === number)?.value;
}

interface ReadField {
  readonly number: number;
  /** `undefined` for fields of a fixed size, which these messages don't have. */
  readonly value: bigint | Uint8Array | undefined;
}

/** The fields before the first malformed one: https://protobuf.dev/programming-guides/encoding/ */
function* fieldsOf(message: Uint8Array): Generator<ReadField> {
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    if (tag === undefined) return;
    const number = Number(tag.value >> 3n);
    const wireType = Number(tag.value & 7n);
    const size = wireType === 0 || wireType === 2 ? readVarint(message, tag.next) : undefined;
    if (wireType === 0 && size !== undefined) {
      yield { number, value: BigInt.asIntN(64, size.value) };
      at = size.next;
    } else if (wireType === 2 && size !== undefined && size.value <= BigInt(message.length - size.next)) {
      at = size.next + Number(size.value);
      yield { number, value: message.subarray(size.next, at) };
    } else if (wireType === 1 || wireType === 5) {
      yield { number, value: undefined };
      at = tag.next + (wireType === 1 ? 8 : 4);
    } else return;
  }
}

function readVarint(bytes: Uint8Array, start: number): { readonly value: bigint; readonly next: number } | undefined {
  let value = 0n;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[start + index];
    if (byte === undefined) return undefined;
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return { value, next: start + index + 1 };
  }
  return undefined;
}
