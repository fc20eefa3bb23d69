import { choice, positiveInteger, text, yesOrNo } from '../config-readers.ts';
import { type Setting, setting } from '../setting.ts';
import { anyCaseBoolean, collectorUrl, headerFields, keyValues, ratio } from './readers.ts';

const protocol = choice('http/protobuf', 'http/json');
const compression = choice('gzip', 'none');

/** How requests are chosen: https://opentelemetry.io/docs/languages/sdk-configuration/general/#otel_traces_sampler */
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof samplers)[number];

/**
 * Where spans of requests go. The variables are OpenTelemetry's own, with its meanings:
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/. A variable for traces goes before the one for everything.
 */
export const tracingSettings = {
  otelDisabled: setting(
    'OTEL_SDK_DISABLED',
    anyCaseBoolean,
    false,
    '`true` turns tracing off, whatever else is set; the other variables of OpenTelemetry are not even read then',
  ),
  otelExporter: setting<'otlp' | 'none' | undefined>(
    'OTEL_TRACES_EXPORTER',
    choice('otlp', 'none'),
    undefined,
    '`none` turns tracing off as well, `otlp` turns it on; by default it is on where an endpoint is set',
  ),
  otelEndpoint: setting<string | undefined>(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    collectorUrl,
    undefined,
    'the URL of the collector, below which `/v1/traces` lies; `http://localhost:4318` where `OTEL_TRACES_EXPORTER` alone is set',
  ),
  otelTracesEndpoint: setting<string | undefined>(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    collectorUrl,
    undefined,
    'the whole URL that spans are sent to',
  ),
  otelProtocol: setting('OTEL_EXPORTER_OTLP_PROTOCOL', protocol, 'http/protobuf', '`http/protobuf` or `http/json`'),
  otelTracesProtocol: setting<'http/protobuf' | 'http/json' | undefined>(
    'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    protocol,
    undefined,
    'the same, for spans alone',
  ),
  otelHeaders: setting<Readonly<Record<string, string>>>(
    'OTEL_EXPORTER_OTLP_HEADERS',
    headerFields,
    {},
    'header fields of each request to the collector, `name=value,name=value`, with values percent-encoded; a key belongs here',
  ),
  otelTracesHeaders: setting<Readonly<Record<string, string>> | undefined>(
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    headerFields,
    undefined,
    'the same, for spans alone, instead of the others',
  ),
  otelCompression: setting('OTEL_EXPORTER_OTLP_COMPRESSION', compression, 'none', '`gzip` or `none`'),
  otelTracesCompression: setting<'gzip' | 'none' | undefined>(
    'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION',
    compression,
    undefined,
    'the same, for spans alone',
  ),
  otelTimeoutMs: setting(
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    positiveInteger,
    10_000,
    'how long the collector may take to answer, in milliseconds',
  ),
  otelTracesTimeoutMs: setting<number | undefined>(
    'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT',
    positiveInteger,
    undefined,
    'the same, for spans alone',
  ),
  otelServiceName: setting<string | undefined>(
    'OTEL_SERVICE_NAME',
    text,
    undefined,
    'the attribute `service.name` of spans; else that of `OTEL_RESOURCE_ATTRIBUTES`, else `tenon`',
  ),
  otelResourceAttributes: setting<Readonly<Record<string, string>>>(
    'OTEL_RESOURCE_ATTRIBUTES',
    keyValues,
    {},
    'attributes of where spans come from, `name=value,name=value`, with values percent-encoded',
  ),
  otelSampler: setting<SamplerName>(
    'OTEL_TRACES_SAMPLER',
    choice(...samplers),
    'parentbased_always_on',
    '`always_on`, `always_off`, `traceidratio`, or one of these with `parentbased_` before it',
  ),
  otelSamplerArg: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    ratio,
    1,
    'for the ratio: which share of requests is traced, from 0 to 1',
  ),
  otelQueueSize: setting(
    'OTEL_BSP_MAX_QUEUE_SIZE',
    positiveInteger,
    2048,
    'how many spans may wait to be sent; further ones are dropped, and counted',
  ),
  otelBatchSize: setting(
    'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    positiveInteger,
    512,
    'how many spans are sent in one request at the most',
  ),
  otelBatchDelayMs: setting(
    'OTEL_BSP_SCHEDULE_DELAY',
    positiveInteger,
    5000,
    'how long a span waits for others at the most, in milliseconds',
  ),
  trustTraceparent: setting(
    'TENON_TRUST_TRACEPARENT',
    yesOrNo,
    false,
    'whether who calls decides with `traceparent` which requests are traced: only where all callers are yours. Otherwise it is decided here alone, and spans still hang below those of the caller',
  ),
} as const satisfies Readonly<Record<string, Setting<never> | Setting<unknown>>>;
