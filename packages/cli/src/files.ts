import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { CliError, usageError } from './errors.ts';
import type { Io } from './io.ts';
import { writeBytes } from './output.ts';

/** Stands for stdin or stdout where a file's name is expected. */
export const standardStream = '-';

/**
 * Reads a whole file, or stdin for `-`.
 *
 * @param what what the file holds, in words that complete "Cannot read …"
 */
export async function readInput(
  io: Pick<Io, 'stdin'>,
  path: string,
  what: string,
): Promise<Uint8Array<ArrayBufferLike>> {
  if (path === standardStream) {
    if (io.stdin.isTTY)
      throw usageError(`"-" reads ${what} from stdin, which is a terminal. Pipe it in, or name a file.`);
    return withoutCopy(await buffer(io.stdin));
  }
  try {
    return withoutCopy(await readFile(path));
  } catch (cause) {
    throw fileError(`Cannot read ${what} from ${path}`, cause);
  }
}

/** The same bytes as a plain array: a module may be large, and a copy of it is not needed. */
function withoutCopy({ buffer: memory, byteOffset, byteLength }: Buffer): Uint8Array<ArrayBufferLike> {
  return new Uint8Array(memory, byteOffset, byteLength);
}

/** Throws if bytes would be written to a terminal. Call it before the work. */
export function assertBinaryOutput(io: Pick<Io, 'stdout'>, path: string): void {
  if (path === standardStream && io.stdout.isTTY) {
    throw usageError(
      'A module is not for a terminal to show.',
      'Name a file with -o, or pipe the output to another program.',
    );
  }
}

/** Writes bytes to stdout for `-`, or to a file as {@link writeFileWhole} does. */
export async function writeOutput(
  io: Pick<Io, 'stdout'>,
  path: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  if (path === standardStream) return writeBytes(io.stdout, bytes);
  await writeFileWhole(path, (file) =>
    file.writeFile(bytes, { signal }).catch((error) => {
      throw signal.aborted ? signal.reason : error;
    }),
  );
}

export interface WriteOptions {
  /** The file's permissions. Default: those that it has, else what the process makes files with. */
  readonly mode?: number;
  /** Whether the file must survive a power failure right after the command. Results that a command can make again need not. */
  readonly isDurable?: boolean;
}

/**
 * Writes a file whole or not at all: what is written goes to a temporary file beside it, which takes its place at the end and
 * is removed when the writing fails. What is not a regular file (`/dev/null`, a pipe) is written to as it is.
 *
 */
export async function writeFileWhole(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  { mode, isDurable = false }: WriteOptions = {},
): Promise<void> {
  try {
    const present = await statIfThere(path);
    if (present?.isDirectory()) throw new Error('it is a folder');
    if (present !== undefined && !present.isFile()) {
      await writeAndClose(await open(path, 'w'), write);
      return;
    }
    // A link stays one: the file that it leads to is replaced.
    const target = present === undefined ? path : await realpath(path);
    const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
    await replaceFile(target, temporary, mode ?? (present?.mode ?? 0o666) & 0o777, async (file) => {
      await write(file);
      if (isDurable) await file.sync();
    });
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw fileError(`Cannot write ${path}`, cause);
  }
}

async function replaceFile(
  target: string,
  temporary: string,
  mode: number,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  try {
    await writeAndClose(await open(temporary, 'wx', mode), write);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeAndClose(file: FileHandle, write: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await write(file);
  } finally {
    await file.close();
  }
}

async function statIfThere(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is no folder',
  EEXIST: 'a file is in the place of the folder',
  ELOOP: 'its links lead in a circle',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is used up',
  EFBIG: 'no file may be that large here',
  EROFS: 'the file system is read-only',
};

/** The error of a file or stream operation. `what` starts the sentence: "Cannot write …". */
export function fileError(what: string, cause: unknown): CliError {
  const code = (cause as NodeJS.ErrnoException).code;
  const reason = (code && reasons[code]) ?? (cause instanceof Error ? cause.message : String(cause));
  return new CliError('file', `${what}: ${reason}.`, { cause });
}
