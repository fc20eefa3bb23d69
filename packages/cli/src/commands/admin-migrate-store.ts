import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { type Config, type MigratedStore, type MigrateStep, migrateStore, thawStore } from '@tenon/server';
import type { Command } from 'commander';
import { examples } from '../command.ts';
import { usageError } from '../errors.ts';
import { fileError } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { createProgress } from '../progress.ts';
import { count, formatSize } from '../text.ts';
import { type AdminOptions, readConfig, translating, withDataFolder } from './admin-data.ts';

type MigrateStoreFlags = AdminOptions & {
  readonly to?: string;
  readonly verify?: boolean;
  readonly thaw?: boolean;
  readonly force?: boolean;
};

/** Adds `migrate-store`. */
export function addMigrateStoreCommand(group: Command, io: Io): void {
  withDataFolder(
    group
      .command('migrate-store')
      .option(
        '--to <file>',
        'the settings of the server to be: lines of TENON_DATABASE_URL=…, TENON_S3_…, TENON_DATA_DIR',
      )
      .option('--verify', 'read and hash all plugins once more in the end, while no changes are taken')
      .option('--thaw', 'have the store take changes again that a move has left frozen')
      .option('--force', 'with --thaw: also when its data was moved, and may have changed elsewhere since')
      .description(
        'move all data to another, empty store, while servers run: to PostgreSQL and an object store, or back',
      ),
  )
    .addHelpText(
      'after',
      `${examples(
        'tenon admin migrate-store --to postgres.env',
        'tenon admin migrate-store --data-dir ./tenon-data --to postgres.env --json',
        'tenon admin migrate-store --thaw',
      )}
The data comes from the store that this command finds as every other one does: --data-dir, or TENON_DATABASE_URL and TENON_S3_…
Most of it is copied while servers go on. Then they answer changes with 503 and "retry-after" while the rest is copied and all of
it is compared. The old store stays frozen: stop its servers, and start them with the new settings. Killed or interrupted anywhere,
the same command goes on where it was.
`,
    )
    .action((options: MigrateStoreFlags) => runMigrateStore(io, options));
}

async function runMigrateStore(io: Io, options: MigrateStoreFlags): Promise<void> {
  const { to, verify = false, thaw = false, force = false } = options;
  const config = readConfig(io, options);
  const out = createReporter(io, options.json === true);
  if (thaw === (to !== undefined))
    throw usageError('Say where the data is to go with --to, or thaw what it left with --thaw.');
  if (force && !thaw) throw usageError('--force belongs to --thaw.');
  if (verify && thaw) throw usageError('--verify belongs to --to.');
  await translating(config, async () => {
    if (to === undefined) return thawIt(out, config, force);
    await move(io, out, { from: config, to: await readTarget(to), file: to, rehash: verify });
  });
}

/** Of which a file has one at least. Without any, data would move to a folder that nobody named, and servers stand still. */
const places = ['TENON_DATABASE_URL', 'TENON_S3_BUCKET', 'TENON_DATA_DIR'];

/** The file is the one that the server is started with afterwards: no secret of it comes by the command line. */
async function readTarget(file: string): Promise<Config> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw fileError(`Cannot read the settings ${file}`, cause);
  }
  const environment = parseEnv(text) as Io['environment'];
  if (!places.some((name) => environment[name])) {
    throw usageError(`The settings ${file} name no store: ${places.join(', ')} are all missing.`);
  }
  return readConfig({ environment }, {});
}

const stepWords: Readonly<Record<MigrateStep, string>> = {
  copy_contents: 'Copying plugins, while servers go on…',
  copy_tables: 'Copying metadata, while servers go on…',
  freeze: 'The store takes no changes from here on; it still answers.',
  copy_rest: 'Copying what has changed since…',
  compare: 'Comparing what arrived with what was sent…',
  hand_over: 'All is there.',
  open: 'Opening the new store.',
};

interface Move {
  readonly from: Config;
  readonly to: Config;
  /** Where the settings of `to` are. */
  readonly file: string;
  readonly rehash: boolean;
}

async function move(io: Io, out: Reporter, { from, to, file, rehash }: Move): Promise<void> {
  const bar = createProgress(io, !out.isJson, 'Copying plugins', undefined);
  const moved = await io
    .interruptible((signal) =>
      migrateStore({
        from,
        to,
        clock: io.clockMs,
        random: io.randomBytes,
        rehash,
        onStep(step) {
          if (step !== 'copy_contents') bar.end();
          out.note(stepWords[step]);
        },
        onBytes: (bytes) => bar.advance(bytes),
        signal,
      }),
    )
    .finally(() => bar.end());
  out.result({ ...moved }, () => showMoved(out, moved, file));
}

function showMoved(out: Reporter, { contents, bytes, rows, frozenMs }: MigratedStore, file: string): void {
  const all = Object.values(rows).reduce((sum, many) => sum + many, 0);
  out.fields([
    ['metadata', `${count(all, 'row')} of ${count(Object.keys(rows).length, 'table')}`],
    ['plugins', `${count(contents, 'content')}, ${formatSize(bytes)}`],
    ['frozen for', `${(frozenMs / 1000).toFixed(1)} s`],
  ]);
  out.note(
    `Now stop the servers, and start them with the settings of ${file}. Until then they answer changes with 503.`,
  );
  out.note('The old store stays as it is, and frozen. Delete it when the new one has a backup.');
}

async function thawIt(out: Reporter, config: Config, force: boolean): Promise<void> {
  const wasFrozen = await thawStore({ store: config, force });
  out.result({ wasFrozen }, () =>
    out.write(wasFrozen ? 'The store takes changes again.\n' : 'The store was not frozen.\n'),
  );
}
