import { createProtobufWriter, type ProtobufWriter } from './protobuf-writer.ts';
import type { Field, FieldKind, MessageSchema } from './schema.ts';

/*
 * OTLP's encoder is our own, because OpenTelemetry's exporters need its SDK and accept only the SDK's spans, and protobuf libraries are larger.
 * A field of OTLP is one line in `schema.ts`. Tests compare the bytes with those of the official encoder.
 */

type Message = Readonly<Record<string, unknown>>;

/** Wire types: https://protobuf.dev/programming-guides/encoding/#structure */
const wire = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;

/** Writes a message in protobuf. Fields that are `undefined` are left out. */
export function encodeProtobuf(message: object, schema: MessageSchema): Uint8Array<ArrayBuffer> {
  const writer = createProtobufWriter();
  writeFields(writer, message as Message, schema);
  return writer.finish();
}

/** Writes a message in OTLP's JSON: 64-bit numbers as strings, and numbers that JSON does not have by their names. */
export function encodeJson(message: object): string {
  return JSON.stringify(message, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  });
}

/** From the last field to the first, as the writer goes. */
function writeFields(writer: ProtobufWriter, message: Message, { fields }: MessageSchema): void {
  for (let index = fields.length - 1; index >= 0; index--) {
    const field = fields[index] as Field;
    const value = message[field.name];
    if (value === undefined) continue;
    if (!field.repeated) writeField(writer, field, value);
    else {
      const values = value as readonly unknown[];
      for (let at = values.length - 1; at >= 0; at--) writeField(writer, field, values[at]);
    }
  }
}

function writeField(writer: ProtobufWriter, { number, kind }: Field, value: unknown): void {
  const end = writer.length();
  writeValue(writer, kind, value);
  const type = wireTypeOf(kind);
  if (type === wire.lengthDelimited) writer.varint(writer.length() - end);
  writer.varint(number * 8 + type);
}

function writeValue(writer: ProtobufWriter, kind: FieldKind, value: unknown): void {
  if (typeof kind === 'object') writeFields(writer, value as Message, kind);
  else if (kind === 'string') writer.text(value as string);
  else if (kind === 'hex') writer.hex(value as string);
  else if (kind === 'bool') writer.varint(value === true ? 1 : 0);
  else if (kind === 'uint32' || kind === 'enum') writer.varint(value as number);
  else if (kind === 'int64') writer.varint64(value as bigint);
  else if (kind === 'fixed32') writer.fixed32(value as number);
  else if (kind === 'double') writer.double(value as number);
  else writer.fixed64(value as bigint);
}

function wireTypeOf(kind: FieldKind): number {
  if (typeof kind === 'object' || kind === 'string' || kind === 'hex') return wire.lengthDelimited;
  if (kind === 'fixed64' || kind === 'double') return wire.fixed64;
  return kind === 'fixed32' ? wire.fixed32 : wire.varint;
}
