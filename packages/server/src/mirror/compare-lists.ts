import type { AppId, ContentAddress, ExtensionPointId } from '@tenon/protocol';
import { readAllPages } from '../db/paging.ts';
import { UnavailableError } from '../db/store.ts';
import type { MirroredList } from './mirrored-list-queries.ts';
import { SourceError, type SourceGuest } from './source.ts';
import { isOutage, type ListSync, MissingContentsError, type SyncOptions } from './sync-list.ts';

/** How many lists are synchronized at once. */
const listsAtOnce = 4;

const pageSize = 1000;

/** How many versions one transaction deletes. */
const pruneBatchSize = 100;

/** A list that could not be made equal. */
export interface Failure {
  readonly list: MirroredList;
  readonly contents: readonly ContentAddress[];
  readonly detail: string;
}

/** Synchronizes lists, several at once, and collects those that can't be made equal. */
export function createPass(appId: AppId, sync: ListSync, failures: Map<string, Failure>) {
  return {
    /** @throws SourceError if the source can't be used; store errors */
    async run(lists: Iterable<MirroredList>, guests: ReadonlyMap<string, SourceGuest> = new Map()): Promise<void> {
      const rest = lists[Symbol.iterator]();
      const work = async (): Promise<void> => {
        for (let next = rest.next(); next.done !== true; next = rest.next()) {
          const list = next.value;
          const id = JSON.stringify(list);
          try {
            await sync.sync(appId, list, guests.get(list.guestKey));
            failures.delete(id);
          } catch (error) {
            if (!isOfOneList(error)) throw error;
            const contents = error instanceof MissingContentsError ? error.addresses : [];
            failures.set(id, { list, contents, detail: error.message });
          }
        }
      };
      await Promise.all(Array.from({ length: listsAtOnce }, work));
    },
  };
}

/** Whether an error says nothing about other lists. */
function isOfOneList(error: unknown): error is Error {
  if (error instanceof MissingContentsError) return !(error.cause instanceof UnavailableError);
  return error instanceof SourceError && !isOutage(error);
}

/** Compares all lists of the source, and those that only the mirror has. Deletes versions that hosts have had time to replace. */
export async function compareAll(
  appId: AppId,
  points: ReadonlySet<ExtensionPointId>,
  sync: ListSync,
  pass: ReturnType<typeof createPass>,
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
      for (const key of plugins) await sync.refreshPlugin(key);
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
