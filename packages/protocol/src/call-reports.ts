import type { Static } from 'typebox';
import { nullable, timestamp } from './fields.ts';
import { Type } from './type.ts';

/* How hosts report the calls of plugins: in the JSON of OTLP metrics, https://opentelemetry.io/docs/specs/otlp/#otlphttp. */

/** The histogram of the durations of calls, in seconds. */
export const callDurationMetric = 'tenon.plugin.call.duration';

/** The gauge of the size of a plugin's memory, in bytes. */
export const pluginMemoryMetric = 'tenon.plugin.memory';

/** The attribute with the id of the plugin. */
export const pluginIdAttribute = 'tenon.plugin.id';

/** The attribute with the content address of the version. */
export const contentAddressAttribute = 'tenon.plugin.content_address';

/** The attribute of failed calls: https://opentelemetry.io/docs/specs/semconv/registry/attributes/error/ */
export const errorTypeAttribute = 'error.type';

/** How long the reports of a roll-out are kept after its end. */
export const callReportRetentionDays = 30;

/** A request to export metrics. It is only described here: other metrics, and unknown fields, are allowed. */
export const metricsRequest = Type.Object({
  resourceMetrics: Type.Optional(
    Type.Array(Type.Object({}, { additionalProperties: true }), {
      description: `OTLP's \`ResourceMetrics\`. \`${callDurationMetric}\` is a delta histogram in seconds with explicit bounds; \`${pluginMemoryMetric}\` is a gauge in bytes. Both have the attributes \`${pluginIdAttribute}\` and \`${contentAddressAttribute}\`, and the durations of failed calls \`${errorTypeAttribute}\``,
    }),
  ),
});
export type MetricsRequest = Static<typeof metricsRequest>;

export const otlpMetricsResult = Type.Object({
  partialSuccess: Type.Optional(
    Type.Object({
      rejectedDataPoints: Type.String({ description: 'how many data points were not used; an int64, thus a string' }),
      errorMessage: Type.String({ description: 'why the first one was not used, and where it is' }),
    }),
  ),
});
export type OtlpMetricsResult = Static<typeof otlpMetricsResult>;

const callSums = {
  calls: Type.Integer({ minimum: 0 }),
  errors: Type.Integer({ minimum: 0, description: 'failed calls' }),
  errorRate: nullable(Type.Number(), { description: 'the share of failed calls; `null` without calls' }),
  p95Seconds: nullable(Type.Number(), { description: 'the 95th percentile of the durations; `null` without calls' }),
  memoryBytes: nullable(Type.Integer(), { description: 'the largest memory; `null` if none was reported' }),
};

export const callTotals = Type.Object(callSums);
export type CallTotals = Static<typeof callTotals>;

export const callPoint = Type.Object({ at: timestamp('when the period begins'), ...callSums });
export type CallPoint = Static<typeof callPoint>;

const callSeries = Type.Object({
  version: Type.Integer({ minimum: 1, description: "the version's number" }),
  totals: Type.Object(callSums, { description: 'since the step began' }),
  points: Type.Array(callPoint, {
    description:
      'since the roll-out began, per minute; later per 15 minutes, and per 6 hours; periods without reports are left out',
  }),
});
export type CallSeries = Static<typeof callSeries>;

/** The reports of a roll-out. */
export const callReports = Type.Object({
  stepAt: timestamp('when the step began, or when it was last resumed'),
  version: callSeries,
  previous: nullable(callSeries, { description: 'the version before; `null` when none is published' }),
});
export type CallReports = Static<typeof callReports>;
