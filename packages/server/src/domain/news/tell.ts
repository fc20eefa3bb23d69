import type { AppId, ExtensionPointId, UserId } from '@tenon/protocol';
import type { Clock, RandomBytes, Store, Transaction } from '../ports.ts';
import type { BindingFilter, ChangedList } from './ports.ts';

export interface TellOptions {
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** How many news of an application are kept. */
  readonly keep: number;
  /** Called once a transaction that changed lists of these applications is there to be read. */
  readonly onTold?: (appIds: readonly AppId[]) => void;
}

/** How many lists of an application one transaction tells of at the most; of more, hosts are told to ask for all. */
const maxToldLists = 1000;

/** How long a mark is. A copy of the data goes on with the marks of the original by chance alone. */
const markBytes = 8;

/**
 * A store whose transactions leave news of each binding list that they change: in the same transaction, once for each list,
 * exactly when A2's entity tag changes. No use case has to think of it.
 */
export function tellNews(store: Store, { clock, random, keep, onTold }: TellOptions): Store {
  return {
    ...store,
    async write(work) {
      let told: readonly AppId[] = [];
      const result = await store.write(async (tx) => {
        const changed: Changed = { lists: new Map(), resets: new Set(), erased: new Set() };
        const done = await work(noting(tx, changed));
        const byApp = Map.groupBy(changed.lists.values(), ({ appId }) => appId);
        told = [...new Set([...byApp.keys(), ...changed.resets])].sort(); // who tells of several does so in one order, so that no two wait for each other
        const fields = { mark: Buffer.from(random(markBytes)).toString('hex'), atMs: clock(), keep };
        for (const appId of told) {
          const lists = byApp.get(appId) ?? [];
          const isReset = changed.resets.has(appId) || lists.length > maxToldLists;
          await (isReset ? tx.resetNews(appId, lists, fields) : tx.insertNews(appId, lists, fields));
        }
        return done;
      });
      if (told.length > 0) onTold?.(told);
      return result;
    },
  };
}

/** What a transaction changes. */
interface Changed {
  /** The users whose plugins are deleted in pieces, which tell of them. */
  readonly erased: Set<UserId>;
  readonly lists: Map<string, ChangedList>;
  /** The applications whose hosts are to ask for all lists. */
  readonly resets: Set<AppId>;
}

/** The transaction, with a note of every list that it changes. Which these are is asked before what is deleted is gone. */
function noting(tx: Transaction, { lists: changed, resets, erased }: Changed): Transaction {
  const note = (list: ChangedList): void => {
    changed.set(JSON.stringify([list.extensionPointId, list.guestKey]), list);
  };
  const noteBound = async (of: BindingFilter): Promise<void> => {
    for (const list of await tx.boundLists(of)) note(list);
  };
  const noteDeleted = async (id: ExtensionPointId): Promise<void> => {
    const extensionPoint = await tx.extensionPoint(id);
    if (extensionPoint === undefined) return;
    for (const [key, list] of changed) if (list.extensionPointId === id) changed.delete(key);
    note({ appId: extensionPoint.appId, extensionPointId: id, guestKey: null });
  };
  return {
    ...tx,
    async moveBindings(key, guests, move) {
      const extensionPoint = move.tellsEach ? await tx.extensionPoint(key.extensionPointId) : undefined;
      if (extensionPoint !== undefined) {
        const { id: extensionPointId, appId } = extensionPoint;
        for (const { guestKey } of guests) note({ appId, extensionPointId, guestKey });
      }
      await tx.moveBindings(key, guests, move);
    },
    async endPendingRebind(key) {
      const extensionPoint = await tx.extensionPoint(key.extensionPointId);
      if (extensionPoint !== undefined) resets.add(extensionPoint.appId);
      await tx.endPendingRebind(key);
    },
    async deletePlugin(key) {
      await noteBound(key);
      await tx.deletePlugin(key);
    },
    async deleteGuest(guestId) {
      await noteBound({ guestIds: [guestId] });
      await tx.deleteGuest(guestId);
    },
    async deleteGuestUser(guestIds, userId) {
      await noteBound({ guestIds, userId });
      await tx.deleteGuestUser(guestIds, userId);
    },
    markPluginsDeleted(userId, atMs) {
      erased.add(userId);
      return tx.markPluginsDeleted(userId, atMs);
    },
    async eraseUser(userId, change) {
      if (!erased.has(userId)) await noteBound({ userId });
      await tx.eraseUser(userId, change);
    },
    async deleteExtensionPoint(id) {
      await noteDeleted(id);
      await tx.deleteExtensionPoint(id);
    },
    async markExtensionPointDeleted(id, atMs) {
      await noteDeleted(id);
      await tx.markExtensionPointDeleted(id, atMs);
    },
    async deleteApp(id) {
      await tx.deleteApp(id);
      for (const [key, { appId }] of changed) if (appId === id) changed.delete(key); // its news goes with it
    },
  };
}
