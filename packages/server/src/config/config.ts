import { join } from 'node:path';
import process from 'node:process';
import { nearestWord } from '@tenon/extension-schema/nearest-word';
import { pairsOf } from './readers.ts';
import { derivedValues, type Setting, type Settings, type SettingValues, settings } from './settings.ts';

/** The server's configuration, frozen. */
export interface Config extends Settings {
  /**
   * Whether a first start creates demo data: `true` always, `undefined` on a loopback host only, `false` never. There is a flag for this, but
   * no variable.
   */
  readonly demo: boolean | undefined;
  /** The number of this worker, from 1. The first worker does the work of a first start, and runs the background jobs. */
  readonly worker: number;
  /** Warnings about unknown variables, and about a folder that several nodes must share. */
  readonly warnings: readonly string[];
}

/** Values from the command line, which take precedence over variables. Same syntax as the variables. */
export type ConfigFlags = {
  readonly [Name in keyof SettingValues]?: string | undefined;
} & { readonly demo?: boolean | undefined };

type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown for invalid settings. `faults` has a line for each of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'invalid_configuration';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/** The variable in which the first process passes each worker its number. */
export const workerVariable = 'TENON_WORKER';

/** Variables of the CLI and of `quickstart.env`. */
const otherVariables =
  'URL TOKEN PROFILE CONFIG_DIR API_KEY APP_ID EXTENSION_POINT_ID GUEST_KEY USER_ID EMAIL PASSWORD WORKER'
    .split(' ')
    .map((name) => `TENON_${name}`);

const entries = Object.entries(settings) as [keyof SettingValues, Setting<unknown>][];

/**
 * Reads the configuration from flags, environment variables, and defaults, in this order. An empty variable counts as unset.
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
    // Without tracing, `OTEL_` variables are for other programs, and may be invalid for the server.
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
  const warnings = [
    ...unknownVariables(environment, isTraced),
    ...unsharedFolder(config),
    ...exposedKey(config),
    ...config.signIn.warnings,
    ...(config.mirror?.warnings ?? []),
  ];
  const worker = Number(environment[workerVariable] || 1);
  return Object.freeze({ ...config, ...derivedValues(config), demo: flags.demo, worker, warnings });
}

/** Returns the items of all list variables. Their names are unique across variables. */
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

/** Returns faults for settings that need another setting or contradict each other. */
function inconsistencies(values: Partial<SettingValues>): string[] {
  const { s3Bucket, s3Endpoint, s3AccessKeyId, s3SecretAccessKey, metricsHost, metricsPort } = values;
  const faults: string[] = [];
  if (metricsPort === undefined && metricsHost !== settings.metricsHost.default)
    faults.push('TENON_METRICS_HOST is of use only with TENON_METRICS_PORT');
  if (s3Endpoint !== undefined && s3Bucket === undefined)
    faults.push('TENON_S3_ENDPOINT is of use only with TENON_S3_BUCKET');
  if ((s3AccessKeyId === undefined) !== (s3SecretAccessKey === undefined))
    faults.push('TENON_S3_ACCESS_KEY_ID and TENON_S3_SECRET_ACCESS_KEY go together');
  if (values.mirror !== undefined && values.only !== undefined)
    faults.push('TENON_MIRROR_FILE is of use only without TENON_ONLY');
  const { memoryMB, maxModuleBytes, maxConfigBytes } = values;
  if (memoryMB !== undefined && maxModuleBytes !== undefined && maxConfigBytes !== undefined) {
    const { maxBodyMemoryBytes } = derivedValues({ memoryMB });
    const needed = maxModuleBytes + maxConfigBytes;
    if (maxBodyMemoryBytes < needed) {
      const minimum = Math.ceil(((needed + 4) * 3) / 2 ** 21);
      faults.push(
        `TENON_MEMORY_MB must be at least ${minimum} for the largest module and configuration, not ${memoryMB}`,
      );
    }
  }
  return faults;
}

/** OpenTelemetry variables that configure tracing. */
const tracingVariable = /^OTEL_(EXPORTER_OTLP_(?!METRICS_|LOGS_|PROFILES_)|TRACES_|BSP_|SPAN_|ATTRIBUTE_|PROPAGATORS$)/;

function unknownVariables(environment: Environment, isTraced: boolean): readonly string[] {
  const known = new Set([...entries.map(([, { variable }]) => variable), ...otherVariables]);
  return Object.keys(environment)
    .filter((name) => name.startsWith('TENON_') || (isTraced && tracingVariable.test(name)))
    .filter((name) => !known.has(name))
    .sort()
    .map((name) => `${name} is not a setting of this version${hint(name, known)}`);
}

/** Several nodes on one database need one store for the plugins. */
function unsharedFolder({ databaseUrl, s3Bucket, dataDir }: SettingValues): readonly string[] {
  if (databaseUrl === undefined || s3Bucket !== undefined) return [];
  const folder = join(dataDir, 'blobs');
  return [`TENON_DATABASE_URL is set without TENON_S3_BUCKET: several nodes must share the plugins' folder ${folder}`];
}

/** The key's file must be the server's alone. */
function exposedKey({ signingKey }: SettingValues): readonly string[] {
  if (signingKey === undefined || !signingKey.isExposed) return [];
  return [`TENON_SIGNING_KEY_FILE: other users can read ${signingKey.path}; its mode should be 0600`];
}

function hint(name: string, known: Iterable<string>): string {
  const nearest = nearestWord(name, known);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
