import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, ConfigError, type Deps, loadConfig, openData, settings } from '@tenon/server';
import type { Command } from 'commander';
import { withJson } from '../command.ts';
import { dataFolder } from '../connection.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { translateServerError } from './server-errors.ts';

/** The options of commands that work on a data folder. */
export interface AdminOptions {
  readonly publicUrl?: string;
  /** In seconds. */
  readonly grace?: string;
  readonly dataDir?: string;
  readonly json?: boolean;
}

export function withDataFolder(command: Command): Command {
  return withJson(command).option('--data-dir <folder>', "the server's data folder (default: ./tenon-data)");
}

/** Opens the data folder, which is made when it isn't there, and closes it after the work. */
export async function withData(
  io: Io,
  options: AdminOptions,
  work: (deps: Deps, out: Reporter, config: Config) => Promise<void>,
): Promise<void> {
  const config = readConfig(io, options);
  await translating(config, async () => {
    const data = await openData(config);
    try {
      await work(data.deps, createReporter(io, options.json === true), config);
    } finally {
      await data.close();
    }
  });
}

/** As {@link withData}, for a data folder that must be there. */
export async function withPresentData(
  io: Io,
  options: AdminOptions,
  work: (deps: Deps, out: Reporter, config: Config) => Promise<void>,
): Promise<void> {
  const { dataDir, databaseUrl } = readConfig(io, options);
  if (databaseUrl === undefined && !(await isPresent(join(dataDir, 'tenon.db')))) {
    throw new CliError('not_found', `There is no data in ${dataDir}.`, {
      exitCode: exitCodes.notFound,
      hint: 'Name the data folder with --data-dir.',
    });
  }
  await withData(io, options, work);
}

/** Does what concerns a data folder, and says in people's words what kept it from being done. */
export async function translating(config: Config, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw translateServerError(error, config);
  }
}

/** Settings that have a part in the work on a server's data. */
const variables = [
  settings.publicUrl,
  settings.collectGraceMs,
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

/** The server's other settings have no part in this, and what is wrong with them is no obstacle. */
export function readConfig({ environment }: Pick<Io, 'environment'>, options: AdminOptions): Config {
  const { publicUrl, grace: collectGraceMs } = options;
  try {
    return loadConfig(
      { dataDir: dataFolder(options, environment), publicUrl, collectGraceMs },
      Object.fromEntries(variables.map((name) => [name, environment[name]])),
    );
  } catch (error) {
    if (error instanceof ConfigError) throw usageError(error.message.replace('--collect-grace-ms', '--grace'));
    throw error;
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
