import { type MessageSchema, many, message, one } from '../otlp/schema.ts';

/** The part of a `Profile` that is written: https://github.com/google/pprof/blob/main/proto/profile.proto */
const valueType = message(one(1, 'type', 'uint32'), one(2, 'unit', 'uint32'));
const sample = message(many(1, 'locationId', 'uint32'), many(2, 'value', 'int64'));
const mapping = message(
  one(1, 'id', 'uint32'),
  one(5, 'filename', 'uint32'),
  one(6, 'buildId', 'uint32'),
  one(7, 'hasFunctions', 'bool'),
  one(8, 'hasFilenames', 'bool'),
  one(9, 'hasLineNumbers', 'bool'),
);
const line = message(one(1, 'functionId', 'uint32'), one(2, 'line', 'uint32'));
const location = message(one(1, 'id', 'uint32'), one(2, 'mappingId', 'uint32'), many(4, 'line', line));
const pprofFunction = message(
  one(1, 'id', 'uint32'),
  one(2, 'name', 'uint32'),
  one(3, 'systemName', 'uint32'),
  one(4, 'filename', 'uint32'),
  one(5, 'startLine', 'uint32'),
);

/** Texts are indices in the string table. */
export const profileSchema: MessageSchema = message(
  many(1, 'sampleType', valueType),
  many(2, 'sample', sample),
  many(3, 'mapping', mapping),
  many(4, 'location', location),
  many(5, 'function', pprofFunction),
  many(6, 'stringTable', 'string'),
  one(7, 'dropFrames', 'uint32'),
  one(9, 'timeNanos', 'int64'),
  one(10, 'durationNanos', 'int64'),
  one(11, 'periodType', valueType),
  one(12, 'period', 'uint32'),
  one(14, 'defaultSampleType', 'uint32'),
);
