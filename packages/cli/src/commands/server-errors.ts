import { join } from 'node:path';
import { errorCodes } from '@tenon/protocol';
import {
  BackupError,
  type BackupErrorCode,
  type Config,
  DomainError,
  MigrateStoreError,
  type MigrateStoreErrorCode,
} from '@tenon/server';
import { CliError, type CliErrorOptions, usageError } from '../errors.ts';
import { exitCodeOfStatus, exitCodes } from '../exit-codes.ts';

/** Says in people's words what kept the server's own parts from working. What it doesn't know stays as it is. */
export function translateServerError(error: unknown, config: Config): unknown {
  if (error instanceof DomainError) {
    return new CliError(error.code, error.message, {
      exitCode: exitCodeOfStatus(errorCodes[error.code].status),
      cause: error,
    });
  }
  if (error instanceof BackupError) {
    return new CliError(error.code, error.message, { ...backupErrors[error.code], cause: error });
  }
  if (error instanceof MigrateStoreError) {
    return new CliError(error.code, error.message, { ...migrateStoreErrors[error.code], cause: error });
  }
  if (!(error instanceof Error)) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const { dataDir, databaseUrl, s3Bucket } = config;
  if (syscall === 'listen' || syscall === 'bind' || syscall === 'getaddrinfo') return listenError(error, config);
  const reason = code === 'ENOENT' && syscall === 'mkdir' ? 'it cannot be made there' : code && folderReasons[code];
  if (reason)
    return usageError(`Cannot use the data folder ${dataDir}: ${reason}.`, 'Name another one with --data-dir.');
  if (error.name === 'UnknownBlobsError') {
    return new CliError('unknown_blobs', `${error.message}.`, {
      exitCode: exitCodes.conflict,
      hint:
        databaseUrl === undefined && s3Bucket === undefined
          ? `Nothing was changed. Put ${dataDir}/tenon.db back, or restore a backup with "tenon admin restore". To start with an empty server, name another --data-dir.`
          : 'Nothing was changed. Put the database back, or name the right one, or another bucket or prefix.',
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
        error.message.startsWith('Cannot get to') && {
          hint: 'Is it running, and do TENON_DATABASE_URL and TENON_S3_… name it rightly?',
        }),
      cause: error,
    });
  }
  if (error.name === 'NewerSchemaError') {
    return new CliError('newer_data', error.message, {
      hint: `Run the newer version, or name another ${databaseUrl === undefined ? '--data-dir' : 'database with TENON_DATABASE_URL'}.`,
      cause: error,
    });
  }
  return error;
}

/** SQLITE_CORRUPT and SQLITE_NOTADB: https://www.sqlite.org/rescode.html */
const [damaged, notADatabase] = [11, 26];

const restore = 'tenon admin restore <file> --force';

/** SQLite's primary result code. */
function resultCodeOf(error: Error): number | undefined {
  const { errcode } = error as { readonly errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

const backupErrors: Readonly<Record<BackupErrorCode, Pick<CliErrorOptions, 'exitCode' | 'hint'>>> = {
  not_a_backup: { exitCode: exitCodes.refused },
  damaged_backup: {
    exitCode: exitCodes.refused,
    hint: 'Nothing was restored. Take another copy of it, or an older one.',
  },
  newer_backup: { exitCode: exitCodes.refused, hint: 'Restore it with that version, or a newer one.' },
  not_empty: {
    exitCode: exitCodes.conflict,
    hint: 'Name another folder with --data-dir, or move what is in it aside with --force.',
  },
  in_use: { exitCode: exitCodes.conflict, hint: 'Stop the server first.' },
  damaged_data: { exitCode: exitCodes.failure },
};

const migrateStoreErrors: Readonly<Record<MigrateStoreErrorCode, Pick<CliErrorOptions, 'exitCode' | 'hint'>>> = {
  no_source: { exitCode: exitCodes.notFound, hint: 'Name the data folder with --data-dir, or set TENON_DATABASE_URL.' },
  older_source: { exitCode: exitCodes.conflict },
  same_store: { exitCode: exitCodes.usage },
  not_empty: { exitCode: exitCodes.conflict, hint: 'Make a new database, bucket or folder, and name that.' },
  moved: {
    exitCode: exitCodes.conflict,
    hint: 'Only if what has changed there may be lost: tenon admin migrate-store --thaw --force.',
  },
  arriving: { exitCode: exitCodes.conflict, hint: 'Let that move finish first, or throw this store away.' },
  interfered: { exitCode: exitCodes.conflict, hint: 'Run the same command again.' },
  damaged_data: {
    exitCode: exitCodes.failure,
    hint: 'Nothing was lost, and the old store goes on. tenon admin verify tells all that is wrong with it.',
  },
  left_frozen: {
    exitCode: exitCodes.unavailable,
    hint: 'Run the same command again, or give up with "tenon admin migrate-store --thaw".',
  },
  not_opened: {
    exitCode: exitCodes.unavailable,
    hint: 'All has arrived. Run the same command again: until then neither store takes changes.',
  },
  not_storable: { exitCode: exitCodes.refused, hint: 'The old store goes on.' },
  differs: { exitCode: exitCodes.failure, hint: 'The old store goes on. Run the same command again.' },
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

/** What listening, or the look-up of a name to listen on, says of where that was to be. */
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
