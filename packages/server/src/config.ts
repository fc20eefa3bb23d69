import process from 'node:process';
import { type Settings, settings } from './config-settings.ts';
import type { Setting } from './setting.ts';
import { isTracingOff, unreadTracingVariables } from './tracing/options.ts';

/** The server's configuration: read once, frozen. */
export interface Config extends Settings {
  /**
   * Whether a first start makes demo data: `true` on any host, `undefined` on a loopback host alone, `false` never.
   * A flag only, without a variable.
   */
  readonly demo: boolean | undefined;
  /** What to tell the operator: variables that are meant for this program and set nothing here. */
  readonly warnings: readonly string[];
}

/** What the command line gave; a flag goes before its variable. Texts are read as the variables' are. */
export type ConfigFlags = {
  readonly [Name in keyof Settings]?: string | undefined;
} & { readonly demo?: boolean | undefined };

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

/** Variables that other programs of ours read. */
const foreignVariables = new Set([
  'TENON_URL',
  'TENON_TOKEN',
  'TENON_PROFILE',
  'TENON_CONFIG_DIR',
  'TENON_API_KEY',
  'TENON_APP_ID',
  'TENON_EXTENSION_POINT_ID',
  'TENON_GUEST_KEY',
  'TENON_USER_ID',
  'TENON_EMAIL',
  'TENON_PASSWORD',
]);

/**
 * Reads the configuration from flags, then the environment, then the defaults. A variable that is empty counts as unset.
 *
 * @throws ConfigError with every fault at once
 */
export function loadConfig(
  flags: ConfigFlags = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  const isOff = isTracingOff(environment);
  for (const [name, setting] of Object.entries(settings) as [keyof Settings, Setting<unknown>][]) {
    const flag = flags[name];
    // What is set for the machine's other programs is no fault of this one.
    const isRead = !isOff || !setting.variable.startsWith('OTEL_') || setting === settings.otelDisabled;
    const text = flag ?? ((isRead && environment[setting.variable]) || undefined);
    try {
      values[name] = text === undefined ? setting.default : setting.read(text);
    } catch (error) {
      const source = flag === undefined ? setting.variable : flagName(name);
      faults.push(`${source} ${error instanceof Error ? error.message : error}`);
    }
  }
  faults.push(...missingBeside(values as unknown as Settings));
  if (faults.length > 0) throw new ConfigError(faults);
  const config = values as unknown as Settings;
  const unknown = [...unknownVariables(environment), ...unreadTracingVariables(config, environment)];
  const warnings = unknown.map((name) => `${name} is not a setting of this version`);
  return Object.freeze({ ...config, demo: flags.demo, warnings: Object.freeze(warnings) });
}

/** Settings that mean nothing without another one. */
function missingBeside(values: Partial<Settings>): string[] {
  const { s3Bucket, s3Endpoint, s3AccessKeyId, s3SecretAccessKey, metricsHost, metricsPort } = values;
  const faults: string[] = [];
  if (metricsPort === undefined && metricsHost !== settings.metricsHost.default)
    faults.push('TENON_METRICS_HOST is of use only with TENON_METRICS_PORT');
  if (s3Endpoint !== undefined && s3Bucket === undefined)
    faults.push('TENON_S3_ENDPOINT is of use only with TENON_S3_BUCKET');
  if ((s3AccessKeyId === undefined) !== (s3SecretAccessKey === undefined))
    faults.push('TENON_S3_ACCESS_KEY_ID and TENON_S3_SECRET_ACCESS_KEY go together');
  return faults;
}

function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = new Set(Object.values(settings).map((setting) => setting.variable));
  return Object.keys(environment)
    .filter((name) => name.startsWith('TENON_') && !known.has(name) && !foreignVariables.has(name))
    .sort();
}

function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
