import { join } from 'node:path';
import { errorCodes } from '@tenon/protocol';
import { type Config, CopyError, type CopyErrorCode, DomainError } from '@tenon/server';
import { CliError, type CliErrorOptions, usageError } from '../errors.ts';
import { exitCodeOfStatus, exitCodes } from '../exit-codes.ts';

/**
 * Says in people's words what kept the server's own parts from working. What it doesn't know stays as it is.
 *
 * @param option the command's option that names the data folder
 */
export function translateServerError(error: unknown, config: Config, option: string): unknown {
  if (error instanceof DomainError) {
    return new CliError(error.code, error.message, {
      exitCode: exitCodeOfStatus(errorCodes[error.code].status),
      cause: error,
    });
  }
  if (error instanceof CopyError) {
    return new CliError(error.code, error.message, { ...copyErrors[error.code], cause: error });
  }
  if (!(error instanceof Error)) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const { dataDir, databaseUrl, s3Bucket } = config;
  if (syscall === 'listen' || syscall === 'bind' || syscall === 'getaddrinfo') return listenError(error, config);
  const reason = code === 'ENOENT' && syscall === 'mkdir' ? 'it cannot be made there' : code && folderReasons[code];
  if (reason)
    return usageError(`Cannot use the data folder ${dataDir}: ${reason}.`, `Name another one with ${option}.`);
  if (error.name === 'UnknownBlobsError') {
    return new CliError('unknown_blobs', `${error.message}.`, {
      exitCode: exitCodes.conflict,
      hint:
        databaseUrl === undefined && s3Bucket === undefined
          ? `Nothing was changed. Put ${dataDir}/tenon.db back, or copy a backup to an empty folder with "tenon admin copy". To start with an empty server, name another folder with ${option}.`
          : 'Nothing was changed. Put the database back, or name the right one, or another bucket or prefix.',
      cause: error,
    });
  }
  if (error.name === 'ForeignStoreError') {
    return new CliError('foreign_store', error.message, { exitCode: exitCodes.conflict, cause: error });
  }
  if (error.name === 'MissingBlobsError') {
    return new CliError('missing_blobs', `${error.message}.`, {
      exitCode: exitCodes.conflict,
      hint:
        s3Bucket === undefined
          ? `Nothing was changed. Put ${join(dataDir, 'blobs')} back, set TENON_S3_BUCKET if the plugins are in an object store, or restore a backup: ${restore}.`
          : 'Nothing was changed. Name the right bucket and prefix, or restore a backup: tenon admin copy --help.',
      cause: error,
    });
  }
  if (resultCodeOf(error) === notADatabase) {
    const file = join(dataDir, 'tenon.db');
    return new CliError(
      'damaged_data',
      `${file} is not a database. Keep a copy of it, and restore a backup: ${restore}.`,
      {
        exitCode: exitCodes.usage,
        cause: error,
      },
    );
  }
  if (resultCodeOf(error) === damaged) {
    return new CliError('damaged_data', `The database in ${dataDir} is damaged: ${error.message}.`, {
      hint: `Keep a copy of the folder, and restore a backup: ${restore}.`,
      cause: error,
    });
  }
  if (error.name === 'RefusedError') {
    const hint =
      'Do TENON_DATABASE_URL and TENON_S3_… name it rightly? docs/how-to/several-nodes.md says what it has to be.';
    return usageError(`${error.message}.`, hint);
  }
  if (error.name === 'StorageFullError') {
    return new CliError('storage_full', `${error.message}.`, {
      exitCode: exitCodeOfStatus(errorCodes.storage_full.status),
      hint: `Free some room on the disk of ${dataDir}.`,
      cause: error,
    });
  }
  if (error.name === 'UnavailableError') {
    const isElsewhere = databaseUrl !== undefined || s3Bucket !== undefined;
    return new CliError('unavailable', `${error.message}.`, {
      exitCode: exitCodes.unavailable,
      ...(isElsewhere &&
        error.message.startsWith('Cannot reach') && {
          hint: 'Is it running, and do TENON_DATABASE_URL and TENON_S3_… name it rightly?',
        }),
      cause: error,
    });
  }
  if (error.name === 'NewerSchemaError') {
    return new CliError('newer_data', error.message, {
      hint: `Run the newer version, or name another ${databaseUrl === undefined ? option : 'database with TENON_DATABASE_URL'}.`,
      cause: error,
    });
  }
  return error;
}

/** SQLITE_CORRUPT and SQLITE_NOTADB: https://www.sqlite.org/rescode.html */
const [damaged, notADatabase] = [11, 26];

const restore = 'tenon admin copy --from <backup> --to <empty folder>';

/** SQLite's primary result code. */
function resultCodeOf(error: Error): number | undefined {
  const { errcode } = error as { readonly errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

const copyErrors: Readonly<Record<CopyErrorCode, Pick<CliErrorOptions, 'exitCode' | 'hint'>>> = {
  no_source: { exitCode: exitCodes.notFound, hint: 'Name a data folder, or a file of settings, with --from.' },
  older_source: {
    exitCode: exitCodes.conflict,
    hint: 'Copy it with the release that wrote it, and start this release on the copy.',
  },
  unfinished_copy: {
    exitCode: exitCodes.conflict,
    hint: 'Run the same "tenon admin copy" again to finish it, or delete it.',
  },
  same_store: { exitCode: exitCodes.usage },
  not_empty: { exitCode: exitCodes.conflict, hint: 'Name an empty database, bucket or folder with --to.' },
  interrupted: { exitCode: exitCodes.conflict },
  damaged_data: { exitCode: exitCodes.failure, hint: 'Run "tenon admin verify" on the source. It lists all faults.' },
  differs: { exitCode: exitCodes.failure, hint: 'Run the same command again.' },
};

const folderReasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EEXIST: 'it, or a part of its path, is no folder',
  ENOTDIR: 'a part of its path is no folder',
};

/** A place to listen on, and by what it is chosen. */
interface Place {
  readonly host: string;
  readonly port: number;
  readonly hostSetting: string;
  readonly portSetting: string;
}

/** The address in an error of listening or of a DNS look-up. */
interface ListenError extends NodeJS.ErrnoException {
  readonly port?: number;
  readonly address?: string;
  readonly hostname?: string;
}

/** Of the two places that a server may listen on, the one that an error is about. */
function placeOf(error: ListenError, { host, port, metricsHost, metricsPort }: Config): Place {
  const ofAll = { host, port, hostSetting: '--host', portSetting: '--port' };
  if (metricsPort === undefined) return ofAll;
  const ofMetrics = {
    host: metricsHost,
    port: metricsPort,
    hostSetting: 'TENON_METRICS_HOST',
    portSetting: 'TENON_METRICS_PORT',
  };
  const isOther = (error.port ?? port) !== port || (error.address ?? error.hostname ?? host) !== host;
  const isThere = error.hostname === metricsHost || error.port === metricsPort;
  return isOther && isThere ? ofMetrics : ofAll;
}

function listenError(cause: ListenError, config: Config): CliError {
  const options = { exitCode: exitCodes.failure, cause };
  const { host, port, hostSetting, portSetting } = placeOf(cause, config);
  switch (cause.code) {
    case 'EADDRINUSE':
      return new CliError('address_in_use', `Something listens on ${host} port ${port} already.`, {
        ...options,
        hint: `Is the server running? Choose another port with ${portSetting}; 0 takes any that is free.`,
      });
    case 'EACCES':
      return new CliError('address_denied', `You may not listen on port ${port}.`, {
        ...options,
        hint: `Ports below 1024 are for the administrator. Choose another one with ${portSetting}.`,
      });
    default:
      return new CliError('address_not_here', `Cannot listen on ${host}: this machine has no such address.`, {
        ...options,
        hint: `Choose one with ${hostSetting}: 127.0.0.1 for this machine alone, 0.0.0.0 for every network that it is in.`,
      });
  }
}
