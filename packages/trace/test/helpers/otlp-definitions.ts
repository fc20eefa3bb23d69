import definitions from '@opentelemetry/otlp-transformer/build/src/generated/root.js';

/** A message type as protobufjs compiles it out of a .proto file. */
interface MessageType {
  decode(bytes: Uint8Array): unknown;
  encode(message: unknown): { finish(): Uint8Array };
  fromObject(object: unknown): unknown;
  toObject(message: unknown, options: object): Plain;
  verify(object: unknown): string | null;
}

/** A decoded message: 64-bit numbers as strings, bytes in base64, what is absent left out. */
// biome-ignore lint/suspicious/noExplicitAny: what a test looks at in a decoded message is spelled out there
export type Plain = any;

const { collector } = (definitions as unknown as { opentelemetry: { proto: { collector: Collector } } }).opentelemetry
  .proto;

interface Collector {
  readonly trace: { readonly v1: Readonly<Record<string, MessageType>> };
}

/** The official definitions of OTLP: https://github.com/open-telemetry/opentelemetry-proto */
export const official = {
  traceRequest: typeNamed(collector.trace.v1, 'ExportTraceServiceRequest'),
  traceResponse: typeNamed(collector.trace.v1, 'ExportTraceServiceResponse'),
};

function typeNamed(types: Readonly<Record<string, MessageType>>, name: string): MessageType {
  const type = types[name];
  if (type === undefined) throw new Error(`The definitions have no ${name}`);
  return type;
}

/** Decodes protobuf. */
export function decodeProtobuf(type: MessageType, bytes: Uint8Array): Plain {
  return plain(type, type.decode(bytes));
}

/** Reads OTLP's JSON: as protobuf's, with ids in hexadecimal. What the definitions don't have, or not so, is an error. */
export function decodeJson(type: MessageType, text: string): Plain {
  const object: Plain = JSON.parse(text, (key, value) =>
    /^(traceId|spanId|parentSpanId)$/.test(key) ? Buffer.from(value, 'hex').toString('base64') : value,
  );
  const message = type.fromObject(object);
  const fault = type.verify(message);
  if (fault !== null) throw new Error(fault);
  return plain(type, message);
}

/** What the official encoder makes of a message that it has decoded. */
export function encodedAgain(type: MessageType, bytes: Uint8Array): Uint8Array {
  return type.encode(type.decode(bytes)).finish();
}

/** Encodes an answer. */
export function encodeMessage(type: MessageType, object: Plain): Uint8Array {
  return type.encode(type.fromObject(object)).finish();
}

function plain(type: MessageType, message: unknown): Plain {
  return type.toObject(message, { longs: String, bytes: String, enums: Number });
}

/** An id out of a decoded message. */
export function hexOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

/** Decoded attributes as a map; text, flags and doubles as they are, whole numbers as strings. */
export function attributesOf(list: readonly Plain[] | undefined): Map<string, unknown> {
  return new Map((list ?? []).map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue(value: Plain): unknown {
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(plainValue);
  return value.stringValue ?? value.boolValue ?? value.intValue ?? value.doubleValue;
}
