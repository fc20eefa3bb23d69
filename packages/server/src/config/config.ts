import process from 'node:process';
import { nearestWord } from '@tenon/extension-schema/nearest-word';
import { pairsOf } from './readers.ts';
import { derivedValues, type Setting, type Settings, type SettingValues, settings } from './settings.ts';

/** The server's configuration: read once, frozen. */
export interface Config extends Settings {
  /**
   * Whether a first start makes demo data: `true` on any host, `undefined` on a loopback host alone, `false` never.
   * A flag only, without a variable.
   */
  readonly demo: boolean | undefined;
  /** Which of several workers this process is, from 1. The first one makes what a first start makes, and runs maintenance. */
  readonly worker: number;
  /** Variables that look like settings and are not. */
  readonly warnings: readonly string[];
}

/** What the command line gave; a flag goes before its variable. Texts are read as the variables' are. */
export type ConfigFlags = {
  readonly [Name in keyof SettingValues]?: string | undefined;
} & { readonly demo?: boolean | undefined };

type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown when settings can't be read: `faults` has a line for each of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'invalid_configuration';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/** Set by the first process of several for each worker that it starts. */
export const workerVariable = 'TENON_WORKER';

/** Variables of the command line and of `quickstart.env`. */
const otherVariables =
  'URL TOKEN PROFILE CONFIG_DIR API_KEY APP_ID EXTENSION_POINT_ID GUEST_KEY USER_ID EMAIL PASSWORD WORKER'
    .split(' ')
    .map((name) => `TENON_${name}`);

const entries = Object.entries(settings) as [keyof SettingValues, Setting<unknown>][];

/**
 * Reads the configuration from flags, then the environment, then the defaults. A variable that is empty counts as unset.
 *
 * @throws ConfigError with every fault at once
 */
export function loadConfig(flags: ConfigFlags = {}, environment: Environment = process.env): Config {
  const faults: string[] = [];
  const items = itemsOf(environment, faults);
  const values: Record<string, unknown> = {};
  const isTraced = isTracingOn(environment);
  for (const [name, { variable, item, read, default: fallback }] of entries) {
    const flag = flags[name];
    // Without tracing, what is set for the machine's other programs is no fault of this one.
    const isRead = isTraced || !variable.startsWith('OTEL_') || variable === settings.otelDisabled.variable;
    const set = item === undefined ? environment[variable] || undefined : items.get(item);
    const value = flag ?? (isRead ? set : undefined);
    try {
      values[name] = value === undefined ? fallback : read(value);
    } catch (error) {
      const source = flag === undefined ? [variable, item].filter(Boolean).join(' ') : flagName(name);
      faults.push(`${source} ${error instanceof Error ? error.message : error}`);
    }
  }
  const config = values as unknown as SettingValues;
  faults.push(...inconsistencies(config));
  if (faults.length > 0) throw new ConfigError(faults);
  const warnings = unknownVariables(environment, isTraced);
  const worker = Number(environment[workerVariable] || 1);
  return Object.freeze({ ...config, ...derivedValues(config), demo: flags.demo, worker, warnings });
}

/** The items of all variables that are lists, by name: no two lists have an item of the same name. */
function itemsOf(environment: Environment, faults: string[]): ReadonlyMap<string, string> {
  const items = new Map<string, string>();
  for (const [variable, group] of Map.groupBy(entries, ([, setting]) => setting.variable)) {
    const known = group.flatMap(([, { item }]) => item ?? []);
    if (known.length === 0) continue;
    for (const [name, value] of pairsOf(environment[variable] ?? '')) {
      if (known.includes(name)) items.set(name, value);
      else faults.push(`${variable} has no ${JSON.stringify(name)}${hint(name, known)}; it has ${known.join(', ')}`);
    }
  }
  return items;
}

function isTracingOn({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED }: Environment): boolean {
  return Boolean(OTEL_EXPORTER_OTLP_ENDPOINT) && OTEL_SDK_DISABLED?.toLowerCase() !== 'true';
}

/** Settings that mean nothing without another one, or that don't fit together. */
function inconsistencies(values: Partial<SettingValues>): string[] {
  const { s3Bucket, s3Endpoint, s3AccessKeyId, s3SecretAccessKey, metricsHost, metricsPort } = values;
  const faults: string[] = [];
  if (metricsPort === undefined && metricsHost !== settings.metricsHost.default)
    faults.push('TENON_METRICS_HOST is of use only with TENON_METRICS_PORT');
  if (s3Endpoint !== undefined && s3Bucket === undefined)
    faults.push('TENON_S3_ENDPOINT is of use only with TENON_S3_BUCKET');
  if ((s3AccessKeyId === undefined) !== (s3SecretAccessKey === undefined))
    faults.push('TENON_S3_ACCESS_KEY_ID and TENON_S3_SECRET_ACCESS_KEY go together');
  const { memoryMB, maxModuleBytes, maxConfigBytes } = values;
  if (memoryMB !== undefined && maxModuleBytes !== undefined && maxConfigBytes !== undefined) {
    const { maxBodyMemoryBytes } = derivedValues({ memoryMB });
    const needed = maxModuleBytes + maxConfigBytes;
    if (maxBodyMemoryBytes < needed) {
      const least = Math.ceil(((needed + 4) * 3) / 2 ** 21);
      faults.push(
        `TENON_MEMORY_MB must be at least ${least} for the largest module and configuration, not ${memoryMB}`,
      );
    }
  }
  return faults;
}

/** Variables of OpenTelemetry that would mean something for traces. */
const tracingVariable = /^OTEL_(EXPORTER_OTLP_(?!METRICS_|LOGS_|PROFILES_)|TRACES_|BSP_|SPAN_|ATTRIBUTE_|PROPAGATORS$)/;

function unknownVariables(environment: Environment, isTraced: boolean): readonly string[] {
  const known = new Set([...entries.map(([, { variable }]) => variable), ...otherVariables]);
  return Object.keys(environment)
    .filter((name) => name.startsWith('TENON_') || (isTraced && tracingVariable.test(name)))
    .filter((name) => !known.has(name))
    .sort()
    .map((name) => `${name} is not a setting of this version${hint(name, known)}`);
}

function hint(name: string, known: Iterable<string>): string {
  const nearest = nearestWord(name, known);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
