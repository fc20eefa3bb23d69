import { tracingSettings } from './settings.ts';

type SettingValues = {
  readonly [Name in keyof typeof tracingSettings]: ReturnType<(typeof tracingSettings)[Name]['read']>;
};

/** The values of the settings of `settings.ts`. */
export type TracingValues = {
  readonly [Name in keyof SettingValues]: SettingValues[Name] | (typeof tracingSettings)[Name]['default'];
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether the environment wants no traces, so that nothing else of OpenTelemetry's is to be read. */
export function isTracingOff(environment: Environment): boolean {
  const isDisabled = environment[tracingSettings.otelDisabled.variable]?.toLowerCase() === 'true';
  return isDisabled || environment[tracingSettings.otelExporter.variable] === 'none';
}

/** Whether requests are to be traced. */
export function isTracingOn({ otelDisabled, otelExporter, otelEndpoint, otelTracesEndpoint }: TracingValues): boolean {
  if (otelDisabled || otelExporter === 'none') return false;
  return otelExporter === 'otlp' || otelEndpoint !== undefined || otelTracesEndpoint !== undefined;
}

/** Variables of OpenTelemetry that would mean something for traces, and are not read here. */
const meantForTraces = /^OTEL_(EXPORTER_OTLP_(?!METRICS_|LOGS_|PROFILES_)|TRACES_|BSP_|SPAN_|ATTRIBUTE_|PROPAGATORS$)/;

export function unreadTracingVariables(values: TracingValues, environment: Environment): string[] {
  if (!isTracingOn(values)) return [];
  const known = new Set<string>(Object.values(tracingSettings).map(({ variable }) => variable));
  return Object.keys(environment)
    .filter((name) => meantForTraces.test(name) && !known.has(name))
    .sort();
}
