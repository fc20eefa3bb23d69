import { open, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type BackupSummary,
  backUp,
  type CollectResult,
  type Context,
  collect,
  noteChore,
  type Progress as ProgressListener,
  type RestoreOptions,
  type RestoreSummary,
  restore,
  unfinishedBackup,
  type VerifyResult,
  verify,
} from '@tenon/server';
import { type Command, Option } from 'commander';
import { examples, withJson } from '../command.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { demandBinaryOutput, fileError, standardStream, writeFileWhole } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter, writeBytes } from '../output.ts';
import { createProgress, type Progress } from '../progress.ts';
import { count, formatSize, formatTime, printable } from '../text.ts';
import {
  type AdminOptions,
  demandEmbedded,
  readConfig,
  translating,
  withDataFolder,
  withPresentData,
} from './admin-data.ts';
import { addTrustClockCommand } from './admin-trust-clock.ts';

/** Adds what keeps a data folder in order: `verify`, `collect`, `trust-clock`, `backup`, `restore`. */
export function addHousekeepingCommands(group: Command, io: Io): void {
  withDataFolder(group.command('verify').description('read all data, hash every plugin, and check every reference'))
    .addHelpText(
      'after',
      `${examples('tenon admin verify', 'tenon admin verify --json | jq .faults')}
Exits with 1 when something is not as it must be, and with 8 when all that is wrong is that the database does not know some files:
it has lost commits, or an older copy of it took its place.
`,
    )
    .action((options: AdminOptions) => withPresentData(io, options, (context, out) => runVerify(io, context, out)));

  withDataFolder(
    group
      .command('collect')
      .description('delete the bytes that no version names any more, as the server does by itself now and then')
      .option('--dry-run', 'delete nothing, and tell what would be')
      .option('--force', 'delete also more than half of all contents, and files that the database does not know')
      .option(
        '--grace <time>',
        'how long they stay after they were first found (default: gc-grace of TENON_TIMES, else 1d)',
      ),
  )
    .addHelpText('after', examples('tenon admin collect --dry-run', 'tenon admin collect --grace 60s'))
    .action((options: AdminOptions & { dryRun?: boolean; force?: boolean }) =>
      withPresentData(io, options, (context, out, { collectGraceMs }) =>
        runCollect(io, context, out, {
          graceMs: collectGraceMs,
          isDryRun: options.dryRun === true,
          isForced: options.force === true,
        }),
      ),
    );

  addTrustClockCommand(group, io);

  withDataFolder(
    group
      .command('backup')
      .argument('<file>', 'the archive to write; a name is made up in a folder, and "-" is stdout')
      .description('write everything but quickstart.env into one archive, while the server goes on'),
  )
    .addHelpText(
      'after',
      `${examples('tenon admin backup /var/backups/tenon', 'tenon admin backup - | zstd > tenon.tar.zst')}
The archive holds all metadata and all plugins as they are at one moment: who has it has them all. Tokens, keys and codes are in
it as hashes. quickstart.env, which holds a demo's secrets in the clear, is left out.
`,
    )
    .action((file: string, options: AdminOptions) =>
      withPresentData(io, options, (context, out, config) => {
        demandEmbedded(config);
        return runBackup(io, context, out, file, config.dataDir);
      }),
    );

  withJson(
    group
      .command('restore')
      .argument('<file>', 'an archive that "tenon admin backup" wrote; "-" is stdin')
      .option('--data-dir <folder>', 'the folder to restore into, which must be empty (default: ./tenon-data)')
      .addOption(new Option('--force', 'move what is in the folder into another one inside of it'))
      .description('make a data folder of a backup, after all of it was checked'),
  )
    .addHelpText('after', examples('tenon admin restore tenon-backup.tar --data-dir /var/lib/tenon'))
    .action((file: string, options: AdminOptions & { force?: boolean }) => runRestore(io, file, options));
}

async function runVerify(io: Io, context: Context, out: Reporter): Promise<void> {
  const found = await withProgress(io, out, 'Verifying', (progress) =>
    io.interruptible((signal) => verify(context, { onProgress: progress, signal })),
  );
  await noteChore(context, 'verify', {
    contents: found.blobs,
    faults: found.faults.length + found.unknownObjects.length,
  });
  const [faults, unknown] = [found.faults.length, found.unknownObjects.length];
  out.result({ isWhole: faults + unknown === 0, ...found }, () => showVerified(out, found));
  if (faults + unknown === 0) return;
  if (faults === 0) {
    throw new CliError('lost_commits', `The database does not know ${count(unknown, 'file')}: it has lost commits.`, {
      exitCode: exitCodes.lostCommits,
      hint: `Is it the right database, and its newest copy? The files are kept until "tenon admin collect --force".`,
    });
  }
  throw new CliError('damaged_data', `Not all is as it must be: ${count(found.faults.length, 'fault')}.`, {
    hint: 'Publishing the same bytes again heals a content that is damaged or missing. A backup has the rest.',
  });
}

function showVerified(
  out: Reporter,
  { blobs, blobBytes, namedContents, versions, faults, unknownObjects }: VerifyResult,
): void {
  for (const { subject, detail } of faults) {
    out.write(`${out.style.error('fault')}  ${printable(subject)}: ${printable(detail)}\n`);
  }
  for (const { subject, detail } of unknownObjects) {
    out.write(`${out.style.error('unknown')}  ${printable(subject)}: ${printable(detail)}\n`);
  }
  out.fields([
    ['plugin contents', `${count(blobs, 'file')}, ${formatSize(blobBytes)}`],
    ['versions', `${count(versions, 'version')} of ${count(namedContents, 'content')}`],
    ['unknown files', unknownObjects.length === 0 ? out.style.good('none') : String(unknownObjects.length)],
    ['faults', faults.length === 0 ? out.style.good('none') : String(faults.length)],
  ]);
}

interface CollectWish {
  readonly graceMs: number;
  readonly isDryRun: boolean;
  readonly isForced: boolean;
}

async function runCollect(io: Io, context: Context, out: Reporter, wish: CollectWish): Promise<void> {
  const collected = await io.interruptible((signal) => collect(context, { ...wish, signal }));
  if (collected === undefined) {
    throw new CliError('in_use', 'Another process is collecting at this moment.', {
      exitCode: exitCodes.unavailable,
      hint: 'It may be the server. Try again in a while.',
    });
  }
  out.result({ isDryRun: wish.isDryRun, ...collected }, () => showCollected(out, collected, wish));
}

function showCollected(out: Reporter, collected: CollectResult, { isDryRun }: CollectWish): void {
  const { deleted, deletedBytes, waiting, waitingBytes, heldBack, unknown, unfinished, isHeldByBackup } = collected;
  const many = (contents: number, bytes: number) => `${count(contents, 'content')}, ${formatSize(bytes)}`;
  out.fields([
    [isDryRun ? 'would delete' : 'deleted', many(deleted, deletedBytes)],
    ['unused, in grace', many(waiting, waitingBytes)],
  ]);
  if (heldBack > 0) {
    out.note(`${count(heldBack, 'unused content')} kept: they are more than half of all. --force deletes them.`);
  }
  if (unknown > 0) {
    out.note(
      `${count(unknown, 'file')} kept that the database does not know: see "tenon admin verify". --force deletes them.`,
    );
  }
  if (unfinished > 0) out.note(`${count(unfinished, 'unfinished file')} of crashes removed.`);
  if (isHeldByBackup) out.note('A backup is being made: nothing more is deleted until it is done.');
}

async function runBackup(io: Io, context: Context, out: Reporter, file: string, dataDir: string): Promise<void> {
  const isStream = file === standardStream;
  if (isStream) demandBinaryOutput(io, file);
  if (isStream && out.isJson) throw usageError('The archive and the JSON can not both go to stdout.', 'Name a file.');
  const target = isStream ? file : await archiveName(file, context.clock());
  const summary = await withProgress(io, out, 'Backing up', (progress) =>
    io.interruptible(async (signal) => {
      const backUpTo = (sink: (bytes: Uint8Array) => Promise<void>) =>
        backUp(context, { dataDir, workFolder: isStream ? tmpdir() : dirname(target), sink, progress, signal });
      if (isStream) return backUpTo((bytes) => writeBytes(io.stdout, bytes));
      let written: BackupSummary | undefined;
      const write = async (sink: (bytes: Uint8Array) => Promise<void>) => {
        written = await backUpTo(sink);
      };
      await writeFileWhole(target, (handle) => write((bytes) => handle.writeFile(bytes)), {
        mode: 0o600,
        temporaryPrefix: unfinishedBackup,
      });
      return written as BackupSummary;
    }),
  );
  const { blobs, archiveBytes } = summary;
  out.note(`Backed up ${count(blobs, 'plugin content')} and all metadata, ${formatSize(archiveBytes)} in all.`);
  out.note('quickstart.env is not in it. Keep the archive where only you can read it.');
  if (!isStream) out.result({ file: target, ...summary }, () => out.write(`${target}\n`));
}

/** In a folder, a file is named after the moment. */
async function archiveName(path: string, nowMs: number): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return path;
  return join(path, `tenon-backup-${new Date(nowMs).toISOString().replace(/\.\d+/, '').replaceAll(':', '-')}.tar`);
}

async function runRestore(io: Io, file: string, options: AdminOptions & { force?: boolean }): Promise<void> {
  const out = createReporter(io, options.json === true);
  const config = readConfig(io, options);
  demandEmbedded(config);
  const { dataDir } = config;
  const { force = false } = options;
  const archive = await openArchive(io, file);
  await translating(config, async () => {
    const summary = await withProgress(io, out, 'Restoring', (progress) =>
      io.interruptible((signal) =>
        restore({ ...archive, dataDir, force, nowMs: io.clockMs(), progress, signal }).finally(archive.close),
      ),
    );
    out.result({ dataDir, ...summary, replacedFolder: summary.replacedFolder ?? null }, () =>
      showRestored(out, dataDir, summary),
    );
  });
}

function showRestored(out: Reporter, dataDir: string, summary: RestoreSummary): void {
  const { createdAt, tenonVersion, blobs, blobBytes, replacedFolder } = summary;
  out.write(`${dataDir}\n`);
  out.note(`Restored the backup of ${formatTime(createdAt)}, made by version ${printable(tenonVersion)}:`);
  out.note(`all metadata, and ${count(blobs, 'plugin content')} (${formatSize(blobBytes)}).`);
  if (replacedFolder !== undefined) out.note(`What was there before is in ${replacedFolder}.`);
}

/** How much of an archive is read in one go. */
const chunkBytes = 256 * 1024;

interface Archive extends Pick<RestoreOptions, 'source' | 'sourceBytes'> {
  readonly close: () => Promise<void>;
}

async function openArchive(io: Io, file: string): Promise<Archive> {
  if (file === standardStream) {
    if (io.stdin.isTTY) throw usageError('"-" reads the backup from stdin, which is a terminal. Pipe it in.');
    return { source: io.stdin, async close() {} };
  }
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw new Error('it is a folder');
    const handle = await open(file, 'r');
    return {
      source: handle.createReadStream({ highWaterMark: chunkBytes, autoClose: false }),
      sourceBytes: found.isFile() ? found.size : undefined,
      close: () => handle.close(),
    };
  } catch (cause) {
    throw fileError(`Cannot read the backup ${file}`, cause);
  }
}

/** Shows a bar while the work is done, from when it knows how much there is. */
async function withProgress<T>(
  io: Io,
  out: Reporter,
  label: string,
  work: (progress: ProgressListener) => Promise<T>,
): Promise<T> {
  let bar: Progress | undefined;
  try {
    return await work({
      total(bytes) {
        bar = createProgress(io, !out.isJson, label, bytes);
      },
      advance: (bytes) => bar?.advance(bytes),
    });
  } finally {
    bar?.end();
  }
}
