import { type Config, type CopiedStore, type CopyStep, copyStore } from '@tenon/server';
import { type Command, withJson } from '../command.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { createProgress, type Progress } from '../progress.ts';
import { count, formatSize } from '../text.ts';
import { readStore, translating } from './admin-data.ts';

interface CopyFlags {
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

/** Adds `copy`. */
export function addCopyCommand(group: Command, io: Io): void {
  group
    .command('copy')
    .option('--from <store>', 'the store to copy; servers may be using it')
    .option('--to <store>', 'an empty store that no server uses, or the unfinished copy to continue')
    .description('copy all data to another store, for backup, restore, or migration')
    .use(withJson)
    .examples(
      'tenon admin copy --from ./tenon-data --to /var/backups/tenon/monday',
      'tenon admin copy --from /var/backups/tenon/monday --to /var/lib/tenon',
      'tenon admin copy --from ./tenon-data --to postgres.env',
    )
    .addHelpText(
      'after',
      `A store is a data folder, or a file with the settings of a server: TENON_DATABASE_URL=…, TENON_S3_BUCKET=…, a line each. The
default for --from and --to is the store of the settings in the environment.

The copy is a consistent snapshot. If the command fails or is killed, run it again to continue; no server starts on an
unfinished copy. quickstart.env is not copied.`,
    )
    .action((options: CopyFlags) => runCopy(io, options));
}

async function runCopy(io: Io, { from, to, json = false }: CopyFlags): Promise<void> {
  if (from === undefined && to === undefined) throw usageError('Name a store with --from, --to, or both.');
  const out = createReporter(io, json);
  const [source, target] = [await readStore(io, from), await readStore(io, to)];
  const run = async () => {
    const copied = await copyWithProgress(io, out, source, target);
    out.result({ ...copied }, () => showCopied(out, copied));
  };
  await translating(target, run, '--to');
}

const steps: Readonly<Record<CopyStep, string | undefined>> = {
  mark_target: undefined,
  copy_rows: 'Copying metadata…',
  copy_blobs: 'Copying plugins…',
  verify: 'Verifying the copy…',
  finish: undefined,
};

async function copyWithProgress(io: Io, out: Reporter, from: Config, to: Config): Promise<CopiedStore> {
  let bar: Progress | undefined;
  let label = '';
  try {
    return await io.interruptible((signal) =>
      copyStore({
        from,
        to,
        clock: io.clockMs,
        random: io.randomBytes,
        onStep(step) {
          bar?.end();
          bar = undefined;
          const text = steps[step];
          if (text !== undefined) out.note(text);
          label = step === 'verify' ? 'Verifying' : 'Copying';
        },
        onProgress: {
          total(bytes) {
            bar = createProgress(io, !out.isJson, label, bytes);
          },
          advance: (bytes) => bar?.advance(bytes),
        },
        signal,
      }),
    );
  } finally {
    bar?.end();
  }
}

function showCopied(out: Reporter, { rows, contents, bytes, auditFaults }: CopiedStore): void {
  const all = Object.values(rows).reduce((sum, many) => sum + many, 0);
  out.fields([
    ['metadata', `${count(all, 'row')} of ${count(Object.keys(rows).length, 'table')}`],
    ['plugins', `${count(contents, 'content')}, ${formatSize(bytes)}`],
  ]);
  if (auditFaults.length > 0) {
    out.note(
      `The hash chain of the audit trail has ${count(auditFaults.length, 'fault')}, as in the source: see "tenon admin verify".`,
    );
  }
  out.note(
    'The copy is verified. It holds all plugins, guest keys and e-mail addresses: keep it where only you can read it.',
  );
}
