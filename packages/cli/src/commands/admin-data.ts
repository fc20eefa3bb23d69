import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { type Config, ConfigError, type Deps, describeStore, loadConfig, openData, settings } from '@tenon/server';
import type { Command } from 'commander';
import { withJson } from '../command.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { fileError } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { printable } from '../text.ts';
import { translateServerError } from './server-errors.ts';

/** The options of commands that work on a store. */
export interface AdminOptions {
  readonly publicUrl?: string;
  /** In seconds. */
  readonly grace?: string;
  readonly store?: string;
  readonly json?: boolean;
}

export function withStore(command: Command): Command {
  return withJson(command).option(
    '--store <store>',
    'a data folder, or a file with the settings of a server (default: the store of the settings in the environment)',
  );
}

/** Opens the store, whose data folder is made when it isn't there, names it on stderr, and closes it after the work. */
export async function withData(
  io: Io,
  options: AdminOptions,
  work: (deps: Deps, out: Reporter, config: Config) => Promise<void>,
): Promise<void> {
  const config = await readStore(io, options.store, options);
  await translating(config, async () => {
    const data = await openData(config);
    const out = createReporter(io, options.json === true);
    out.note(`store  ${printable(describeStore(config))}`);
    try {
      await work(data.deps, out, config);
    } finally {
      await data.close();
    }
  });
}

/** As {@link withData}, for a store that must be there. */
export async function withPresentData(
  io: Io,
  options: AdminOptions,
  work: (deps: Deps, out: Reporter, config: Config) => Promise<void>,
): Promise<void> {
  const { dataDir, databaseUrl } = await readStore(io, options.store, options);
  if (databaseUrl === undefined && !(await isPresent(join(dataDir, 'tenon.db')))) {
    throw new CliError('not_found', `There is no data in ${dataDir}.`, {
      exitCode: exitCodes.notFound,
      hint: 'Name a data folder, or a file of settings, with --store.',
    });
  }
  await withData(io, options, work);
}

/**
 * Does what concerns a store, and says in people's words what kept it from being done.
 *
 * @param option the option that names the store
 */
export async function translating(config: Config, work: () => Promise<void>, option = '--store'): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw translateServerError(error, config, option);
  }
}

/** The settings of a store. */
const storeVariables = [
  settings.dataDir,
  settings.databaseUrl,
  settings.databaseConnections,
  settings.s3Bucket,
  settings.s3Endpoint,
  settings.s3Region,
  settings.s3Prefix,
  settings.s3AccessKeyId,
  settings.s3SecretAccessKey,
  settings.s3PathStyle,
].map(({ variable }) => variable);

/** The other settings that matter here. Faults in the rest of the server's settings are no obstacle. */
const otherVariables = [settings.publicUrl, settings.collectGraceMs].map(({ variable }) => variable);

/** Settings of which a file must have one. */
const places = [settings.databaseUrl, settings.s3Bucket, settings.dataDir].map(({ variable }) => variable);

/**
 * Reads the settings of a store. A named store is a data folder, or a file of settings, so that the command line shows no password. Of the
 * environment's settings, those of a store then don't count.
 *
 * @param name without it, the store of the environment
 */
export async function readStore(
  { environment }: Pick<Io, 'environment'>,
  name: string | undefined,
  { publicUrl, grace: collectGraceMs }: AdminOptions = {},
): Promise<Config> {
  const flags = { publicUrl, collectGraceMs };
  if (name === undefined) return readConfig(flags, pick(environment, [...storeVariables, ...otherVariables]));
  const others = pick(environment, otherVariables);
  if (!(await isFile(name))) return readConfig({ ...flags, dataDir: name }, others);
  const file = parseEnv(await readFile(name, 'utf8')) as Io['environment'];
  if (places.some((place) => file[place])) {
    return readConfig(flags, { ...others, ...pick(file, [...storeVariables, ...otherVariables]) });
  }
  throw usageError(`The settings ${name} name no store: expected one of ${places.join(', ')}.`);
}

function pick(environment: Io['environment'], names: readonly string[]): Io['environment'] {
  return Object.fromEntries(names.filter((name) => environment[name]).map((name) => [name, environment[name]]));
}

function readConfig(...[flags, environment]: Required<Parameters<typeof loadConfig>>): Config {
  try {
    return loadConfig(flags, environment);
  } catch (error) {
    if (error instanceof ConfigError) throw usageError(error.message.replace('--collect-grace-ms', '--grace'));
    throw error;
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && !path.endsWith('.env')) return false;
    throw fileError(`Cannot read the store ${path}`, error);
  }
}

/** @throws CliError for a file that may be there, in a folder that this user cannot read */
async function isPresent(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw new CliError('file', `Cannot read ${path}: ${code === 'EACCES' ? 'permission denied' : code}.`, {
      hint: 'Run this as the user that the server runs as.',
      cause,
    });
  }
}
