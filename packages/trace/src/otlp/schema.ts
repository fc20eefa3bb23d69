/** How a field's value is written. `hex` is bytes that JSON has in hexadecimal, as OTLP does with ids. */
export type FieldKind =
  | 'string'
  | 'hex'
  | 'bool'
  | 'uint32'
  | 'enum'
  | 'int64'
  | 'fixed32'
  | 'fixed64'
  | 'double'
  | MessageSchema;

export interface Field {
  /** As in JSON. */
  readonly name: string;
  readonly number: number;
  readonly kind: FieldKind;
  readonly repeated: boolean;
}

/** The fields of a message, by number. */
export interface MessageSchema {
  readonly fields: readonly Field[];
}

/**
 * The part of OTLP 1.9 that is sent: names as in JSON, numbers and kinds as in
 * https://github.com/open-telemetry/opentelemetry-proto/tree/v1.9.0/opentelemetry/proto. The only place that knows the wire.
 */
const arrayValue = message();
const anyValue = message(
  one(1, 'stringValue', 'string'),
  one(2, 'boolValue', 'bool'),
  one(3, 'intValue', 'int64'),
  one(4, 'doubleValue', 'double'),
  one(5, 'arrayValue', arrayValue),
);
arrayValue.fields.push(many(1, 'values', anyValue));
const keyValue = message(one(1, 'key', 'string'), one(2, 'value', anyValue));
const scope = message(one(1, 'name', 'string'), one(2, 'version', 'string'));
const resource = message(many(1, 'attributes', keyValue));

const event = message(
  one(1, 'timeUnixNano', 'fixed64'),
  one(2, 'name', 'string'),
  many(3, 'attributes', keyValue),
  one(4, 'droppedAttributesCount', 'uint32'),
);
const status = message(one(2, 'message', 'string'), one(3, 'code', 'enum'));
const span = message(
  one(1, 'traceId', 'hex'),
  one(2, 'spanId', 'hex'),
  one(3, 'traceState', 'string'),
  one(4, 'parentSpanId', 'hex'),
  one(5, 'name', 'string'),
  one(6, 'kind', 'enum'),
  one(7, 'startTimeUnixNano', 'fixed64'),
  one(8, 'endTimeUnixNano', 'fixed64'),
  many(9, 'attributes', keyValue),
  one(10, 'droppedAttributesCount', 'uint32'),
  many(11, 'events', event),
  one(12, 'droppedEventsCount', 'uint32'),
  one(15, 'status', status),
  one(16, 'flags', 'fixed32'),
);
const scopeSpans = message(one(1, 'scope', scope), many(2, 'spans', span));
const resourceSpans = message(one(1, 'resource', resource), many(2, 'scopeSpans', scopeSpans));

/** `ExportTraceServiceRequest` */
export const traceRequestSchema: MessageSchema = message(many(1, 'resourceSpans', resourceSpans));

export function message(...fields: Field[]): { readonly fields: Field[] } {
  return { fields };
}

export function one(number: number, name: string, kind: FieldKind): Field {
  return { name, number, kind, repeated: false };
}

export function many(number: number, name: string, kind: FieldKind): Field {
  return { name, number, kind, repeated: true };
}
