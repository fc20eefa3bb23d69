import type { AppId, ContentAddress, ExtensionPointId } from '@tenon/protocol';
import { readAllPages } from '../db/paging.ts';
import { UnavailableError } from '../db/store.ts';
import type { MirroredItem } from './change-stream.ts';
import type { MirroredList } from './mirrored-list-queries.ts';
import { SourceError, type SourceGuest } from './source.ts';
import { isOutage, type ListSync, MissingContentsError, type SyncOptions } from './sync-list.ts';

/** How many lists and plugins are synchronized at once. */
const itemsAtOnce = 4;

/** How many changed items are synchronized at once. Most of them wait for contents. */
const maxUrgent = 64;

const pageSize = 1000;

/** How many versions one transaction deletes. */
const pruneBatchSize = 100;

/** What could not be made equal. */
export interface Failure {
  readonly item: MirroredItem;
  readonly contents: readonly ContentAddress[];
  readonly detail: string;
}

export interface PassOptions {
  readonly appId: AppId;
  readonly sync: ListSync;
  readonly failures: Map<string, Failure>;
  /** What changes at the source meanwhile. It does not wait for other items, so that a block arrives during a comparison. */
  readonly changes: {
    readonly next: () => MirroredItem | undefined;
    /** Calls a function after each change, until the returned function is called. */
    readonly watch: (onChange: () => void) => () => void;
  };
}

export type Pass = ReturnType<typeof createPass>;

/** Synchronizes lists and plugins, several at once, and collects those that can't be made equal. */
export function createPass({ appId, sync, failures, changes }: PassOptions) {
  const syncOne = async (item: MirroredItem, guest?: SourceGuest): Promise<void> => {
    const id = JSON.stringify(item);
    try {
      await ('guestKey' in item ? sync.sync(appId, item, guest) : sync.refreshPlugin(item));
      failures.delete(id);
    } catch (error) {
      if (!isOfOneItem(error)) throw error;
      const contents = error instanceof MissingContentsError ? error.addresses : [];
      failures.set(id, { item, contents, detail: error.message });
    }
  };
  return {
    /** @throws SourceError if the source can't be used; store errors */
    async run(items: Iterable<MirroredItem>, guests: ReadonlyMap<string, SourceGuest> = new Map()): Promise<void> {
      const rest = items[Symbol.iterator]();
      const work = async (): Promise<void> => {
        for (let next = rest.next(); next.done !== true; next = rest.next()) {
          const item = next.value;
          await syncOne(item, 'guestKey' in item ? guests.get(item.guestKey) : undefined);
        }
      };
      const urgent = new Set<Promise<void>>();
      const failed = Promise.withResolvers<never>();
      failed.promise.catch(() => {});
      const startUrgent = (): void => {
        while (urgent.size < maxUrgent) {
          const item = changes.next();
          if (item === undefined) return;
          sync.forget();
          const task = syncOne(item)
            .catch(failed.reject)
            .finally(() => {
              urgent.delete(task);
              startUrgent();
            });
          urgent.add(task);
        }
      };
      const stopWatching = changes.watch(startUrgent);
      try {
        startUrgent();
        await Promise.race([Promise.all(Array.from({ length: itemsAtOnce }, work)), failed.promise]);
        while (urgent.size > 0) await Promise.race([Promise.all(urgent), failed.promise]);
      } finally {
        stopWatching();
      }
    },
  };
}

/** Whether an error says nothing about other items. */
function isOfOneItem(error: unknown): error is Error {
  if (error instanceof MissingContentsError) return !(error.cause instanceof UnavailableError);
  return error instanceof SourceError && !isOutage(error);
}

/** Compares all lists of the source, those that only the mirror has, and all plugins. Deletes versions that hosts have had time to replace. */
export async function compareAll(
  appId: AppId,
  points: ReadonlySet<ExtensionPointId>,
  pass: Pass,
  { deps, source, signal, assertFollowing }: SyncOptions,
): Promise<void> {
  const { store, clock } = deps;
  const { read } = store;
  for await (const guests of source.guests(appId, signal)) {
    const byKey = new Map(guests.map((guest) => [guest.guestKey, guest]));
    await pass.run(listsOf(points, byKey.keys()), byKey);
  }
  const idOf = ({ id }: { readonly id: string }) => id as never;
  for await (const guests of readAllPages(pageSize, idOf, (page) => read.mirroredGuests(appId, page)))
    await pass.run(
      listsOf(
        points,
        guests.map(({ guestKey }) => guestKey),
      ),
    );
  for (const extensionPointId of points) {
    for (let after = undefined as Awaited<ReturnType<typeof read.mirroredPlugins>>[number] | undefined; ; ) {
      const plugins = await read.mirroredPlugins(extensionPointId, { after, limit: pageSize });
      await pass.run(plugins);
      after = plugins.at(-1);
      if (after === undefined) break;
    }
  }
  for (const extensionPointId of points) {
    for (;;) {
      const ids = await read.unlistedVersions(extensionPointId, clock(), pruneBatchSize);
      if (ids.length === 0) break;
      await store.write(async (tx) => {
        await assertFollowing(tx);
        await tx.deleteUnlistedVersions(ids, clock());
      });
      signal.throwIfAborted();
    }
  }
}

function* listsOf(points: ReadonlySet<ExtensionPointId>, guestKeys: Iterable<string>): Generator<MirroredList> {
  for (const guestKey of guestKeys) for (const extensionPointId of points) yield { extensionPointId, guestKey };
}
