import type { Clock, RandomBytes } from '../domain/ports.ts';
import type { StoreSettings } from '../open-stores.ts';
import { freezesOf, setFreeze } from '../store/kysely/freeze.ts';
import { copiedTables } from '../store/kysely/tables.ts';
import { demandContents } from './check-contents.ts';
import { claimTarget } from './claim.ts';
import { type ContentCopier, type CopiedContents, createContentCopier } from './copy-contents.ts';
import { copyTables, type Digests } from './copy-tables.ts';
import { type End, openSource, openTarget, type TargetEnd } from './end.ts';
import { MigrateStoreError } from './errors.ts';
import { digestOf } from './rows.ts';

/**
 * The steps of a move, in their order. Until `freeze` the source goes on as ever; from there to the end it answers, and takes no
 * changes. From `hand_over` on it never does again by itself, and after `open` the target does.
 */
export const migrateSteps = [
  'copy_contents',
  'copy_tables',
  'freeze',
  'copy_rest',
  'compare',
  'hand_over',
  'open',
] as const;

export type MigrateStep = (typeof migrateSteps)[number];

export interface MigrateStoreOptions {
  readonly from: StoreSettings;
  readonly to: StoreSettings;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Whether all plugins are read and hashed once more in the end, while the source takes no changes. Default: their sizes alone are asked. */
  readonly rehash?: boolean | undefined;
  /** Called before each step. */
  readonly onStep?: (step: MigrateStep) => void | Promise<void>;
  /** Called with the bytes of each content that was copied, or found there. */
  readonly onBytes?: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

/** What was moved. */
export interface MigratedStore extends CopiedContents {
  /** How many rows each table has. */
  readonly rows: Readonly<Record<string, number>>;
  /** For how long the source took no changes before the target did, in milliseconds. */
  readonly frozenMs: number;
}

/**
 * Moves all data of a store, which servers may be at work on, into an empty one. Most is copied while they go on; then the source is
 * frozen, what has changed since is copied, and all of it is compared. In the end the source stays frozen, so that nobody goes on
 * writing to it by mistake.
 *
 * The two never take changes at the same time: the target is frozen from the first row on, and thawed last. Killed anywhere, the same
 * call goes on from there. When it fails, the source takes changes again, unless the target may do so already.
 *
 * @throws MigrateStoreError, UnavailableError, StorageFullError, NewerSchemaError, and the signal's reason
 */
export async function migrateStore(options: MigrateStoreOptions): Promise<MigratedStore> {
  const source = await openSource(options.from);
  try {
    const target = await openTarget(options.to);
    try {
      return await move(source, target, options);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function move(source: End, target: TargetEnd, options: MigrateStoreOptions): Promise<MigratedStore> {
  const { onStep = () => {}, signal } = options;
  const goOn = (): void => signal?.throwIfAborted();
  const onContent = contentListener(options);
  const present = await claimTarget(source, target);
  const copyContents = createContentCopier(source, target, present);
  await onStep('copy_contents');
  await copyContents(source.metadata.db, { isFrozen: false, onContent });
  await onStep('copy_tables');
  await source.metadata.snapshot(false, (db) => copyTables(db, target.metadata.db, goOn));
  await onStep('freeze');
  return whileFrozen(source, target, options, copyContents);
}

function contentListener({ onBytes, signal }: MigrateStoreOptions): (bytes: number) => void {
  return (bytes) => {
    signal?.throwIfAborted();
    onBytes?.(bytes);
  };
}

async function whileFrozen(
  source: End,
  target: TargetEnd,
  options: MigrateStoreOptions,
  copyContents: ContentCopier,
): Promise<MigratedStore> {
  const { clock, random, rehash = false, onStep = () => {}, signal } = options;
  const goOn = (): void => signal?.throwIfAborted();
  const onContent = contentListener(options);
  const holder = Buffer.from(random(12)).toString('base64url');
  const frozenAtMs = clock();
  const freeze = await freezeSource(source, holder);
  try {
    await onStep('copy_rest');
    const { contents, digests } = await source.metadata.snapshot(true, async (db) => ({
      contents: await copyContents(db, { isFrozen: true, onContent }),
      digests: await copyTables(db, target.metadata.db, goOn),
    }));
    await onStep('compare');
    await demandSame(target, digests, goOn);
    await demandContents(target, { isHashed: rehash, onContent: goOn });
    await onStep('hand_over');
    goOn();
    await freeze.handOver(target.place.metadata);
    await openTo(target, onStep);
    const rows = Object.fromEntries([...digests].map(([name, digest]) => [name, digest.rows]));
    return { ...contents, rows, frozenMs: clock() - frozenAtMs };
  } catch (error) {
    await freeze.thaw().catch(() => {
      throw new MigrateStoreError('left_frozen', `The old store is left frozen: ${messageOf(error)}`, { cause: error });
    });
    throw error;
  }
}

async function openTo({ metadata }: TargetEnd, onStep: NonNullable<MigrateStoreOptions['onStep']>): Promise<void> {
  try {
    await onStep('open');
    await metadata.refreeze(async (db) => {
      await setFreeze(db, undefined);
      await metadata.announce(db);
    });
  } catch (error) {
    throw new MigrateStoreError('not_opened', `The new store could not be opened: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface SourceFreeze {
  /** Makes it one that stays. */
  handOver(targetPlace: string): Promise<void>;
  /** Has the source take changes again, unless it was handed over. */
  thaw(): Promise<void>;
}

async function freezeSource({ metadata }: End, holder: string): Promise<SourceFreeze> {
  await metadata.refreeze(async (tx) => {
    const isMoved = (await freezesOf(tx)).some(({ kind }) => kind === 'moved');
    if (!isMoved) await setFreeze(tx, { kind: 'frozen', holder }); // also in the place of one that was killed
  });
  return {
    handOver: (targetPlace) =>
      metadata.refreeze(async (tx) => {
        const isStill = (await freezesOf(tx)).some((found) => found.holder === holder || found.holder === targetPlace);
        if (!isStill) {
          throw new MigrateStoreError(
            'interfered',
            'Somebody else thawed the source meanwhile, or began to move it too.',
          );
        }
        await setFreeze(tx, { kind: 'moved', holder: targetPlace });
      }),
    thaw: () =>
      metadata.refreeze(async (tx) => {
        const isOwn = (await freezesOf(tx)).some((found) => found.kind === 'frozen' && found.holder === holder);
        if (isOwn) await setFreeze(tx, undefined);
      }),
  };
}

/** What arrived is read once more, and is what was sent; and the store finds nothing in it that can't be. */
async function demandSame({ metadata, store }: TargetEnd, digests: Digests, onRow: () => void): Promise<void> {
  for (const table of copiedTables) {
    const arrived = await digestOf(metadata.db, table, onRow);
    if (arrived.sha256 === digests.get(table.name)?.sha256) continue;
    throw new MigrateStoreError('differs', `What arrived in the table ${table.name} is not what was sent.`);
  }
  const [fault] = await store.check();
  if (fault === undefined) return;
  throw new MigrateStoreError('damaged_data', `Not all is as it must be: ${fault.subject}: ${fault.detail}.`);
}
