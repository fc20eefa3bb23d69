import { setImmediate } from 'node:timers/promises';
import type { AppId, ContentAddress, ExtensionPointId, GuestId, UserId, VersionId } from '@tenon/protocol';
import type { PluginKey } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import type { UsageDayRecord, UsageSubjectRecord } from '../db/usage-records.ts';
import type { Tally, UsageTarget } from './usage-batch.ts';
import type { ListedBinding, VersionOfContent } from './usage-queries.ts';
import { UsageSums } from './usage-sums.ts';

type Reads = Pick<Queries, 'extensionPoint' | 'listedBindings' | 'versionsOfContent' | 'appsOfMembers'>;
type ListTally = Tally & { readonly target: UsageTarget & { kind: 'list' } };
type ContentTally = Tally & { readonly target: UsageTarget & { kind: 'content' } };

/** How many lists are read and attributed without a pause. */
const listsAtOnce = 200;

/** A guest's list with the tokens that requested it. */
interface RequestedList {
  readonly tally: ListTally;
  readonly guestId: GuestId;
  readonly bindings: readonly ListedBinding[];
}

/**
 * Finds what requests count for. A list request counts for the application, the extension point, the guest, and the plugins and versions
 * that are bound now. A content fetch names only bytes: it counts for each version with these bytes that the token may read, and for the
 * guests with this version whose lists the same token requested since the last write.
 */
export async function attributeUsage(
  read: Reads,
  tallies: readonly Tally[],
): Promise<{ subjects: UsageSubjectRecord[]; days: UsageDayRecord[] }> {
  const sums = new UsageSums();
  const lists = tallies.filter((tally): tally is ListTally => tally.target.kind === 'list');
  const contents = tallies.filter((tally): tally is ContentTally => tally.target.kind === 'content');
  const versions = new VersionFinder(read);
  const requested = await attributeLists(read, sums, versions, lists);
  if (contents.length > 0) await attributeContents(read, sums, versions, contents, requested);
  return sums.records();
}

async function attributeLists(
  read: Reads,
  sums: UsageSums,
  versions: VersionFinder,
  tallies: readonly ListTally[],
): Promise<RequestedList[]> {
  const requested: RequestedList[] = [];
  const byPoint = Map.groupBy(tallies, ({ target }) => target.extensionPointId);
  for (const [extensionPointId, ofPoint] of byPoint) {
    const appId = (await read.extensionPoint(extensionPointId))?.appId;
    if (appId === undefined) continue; // it was deleted since
    for (let at = 0; at < ofPoint.length; at += listsAtOnce) {
      const some = ofPoint.slice(at, at + listsAtOnce);
      const guestKeys = new Set(some.map(({ target }) => target.guestKey).filter((key) => key !== undefined));
      const rows = await read.listedBindings(appId, extensionPointId, [...guestKeys]);
      const byGuestKey = Map.groupBy(rows, ({ guestKey }) => guestKey);
      for (const tally of some) {
        sums.addLists(sums.app(appId), tally);
        sums.addLists(sums.extensionPoint(appId, extensionPointId), tally);
        const found = byGuestKey.get(tally.target.guestKey ?? '') ?? [];
        const guestId = found[0]?.guestId;
        if (guestId === undefined) continue;
        const bindings = found.filter(({ versionId }) => versionId !== null);
        requested.push({ tally, guestId, bindings });
        sums.addLists(sums.guest(appId, guestId), tally);
        for (const { userId, name, versionId } of bindings) {
          if (userId === null || name === null || versionId === null) continue;
          const key = { extensionPointId, userId, name };
          sums.addLists(sums.plugin(appId, key), tally);
          sums.addLists(sums.version(appId, key, versionId), tally);
        }
        await attributeReports(sums, versions, appId, extensionPointId, { tally, guestId, bindings });
      }
      await setImmediate(); // requests are served in between
    }
  }
  return requested;
}

/** Adds what clients have loaded: bound versions, or earlier ones of the bound plugins. */
async function attributeReports(
  sums: UsageSums,
  versions: VersionFinder,
  appId: AppId,
  extensionPointId: ExtensionPointId,
  { tally, guestId, bindings }: RequestedList,
): Promise<void> {
  for (const [address, reports] of tally.loaded) {
    const bound = bindings.find(({ contentAddress }) => contentAddress === address);
    const loaded =
      bound === undefined
        ? (await versions.of(address)).find(
            (version) =>
              version.extensionPointId === extensionPointId &&
              bindings.some(({ userId, name }) => userId === version.userId && name === version.name),
          )
        : { id: bound.versionId as VersionId, userId: bound.userId as UserId, name: bound.name as string };
    if (loaded === undefined) continue;
    const { id, userId, name } = loaded;
    const key = { extensionPointId, userId, name };
    sums.addReports(sums.version(appId, key, id), tally, reports);
    sums.addReports(sums.plugin(appId, key), tally, reports);
    sums.addReports(sums.guest(appId, guestId), tally, reports, id);
  }
}

async function attributeContents(
  read: Reads,
  sums: UsageSums,
  versions: VersionFinder,
  tallies: readonly ContentTally[],
  requested: readonly RequestedList[],
): Promise<void> {
  const members = await read.appsOfMembers([...new Set(tallies.map(({ target }) => target.userId))]);
  const memberships = new Set(members.map(({ appId, userId }) => `${appId} ${userId}`));
  const guests = guestsOfTokens(requested);
  for (const tally of tallies) {
    const { address, userId, tokenAppId } = tally.target;
    const readable = (await versions.of(address)).filter(
      ({ appId, userId: publisher }) =>
        (tokenAppId === null || tokenAppId === appId) &&
        (publisher === userId || memberships.has(`${appId} ${userId}`)),
    );
    // Several versions may have the same bytes, and each subject counts the fetch once.
    const subjects = new Set<UsageSubjectRecord>();
    for (const { id, appId, extensionPointId, userId: publisher, name } of readable) {
      const key: PluginKey = { extensionPointId, userId: publisher, name };
      subjects.add(sums.app(appId)).add(sums.extensionPoint(appId, extensionPointId));
      subjects.add(sums.plugin(appId, key)).add(sums.version(appId, key, id));
      for (const credential of tally.credentials) {
        for (const guestId of guests.get(`${credential} ${id}`) ?? []) subjects.add(sums.guest(appId, guestId));
      }
    }
    for (const subject of subjects) sums.addFetches(subject, tally);
  }
}

/** By token and version: the guests whose lists with this version the token requested. */
function guestsOfTokens(requested: readonly RequestedList[]): ReadonlyMap<string, ReadonlySet<GuestId>> {
  const guests = new Map<string, Set<GuestId>>();
  for (const { tally, guestId, bindings } of requested) {
    for (const { versionId } of bindings) {
      for (const credential of tally.credentials) {
        const key = `${credential} ${versionId}`;
        const known = guests.get(key);
        if (known === undefined) guests.set(key, new Set([guestId]));
        else known.add(guestId);
      }
    }
  }
  return guests;
}

/** Finds versions by content, each once. */
class VersionFinder {
  readonly #read: Reads;
  readonly #found = new Map<ContentAddress, Promise<VersionOfContent[]>>();

  constructor(read: Reads) {
    this.#read = read;
  }

  of(address: ContentAddress): Promise<VersionOfContent[]> {
    let found = this.#found.get(address);
    if (found === undefined) {
      found = this.#read.versionsOfContent(address);
      this.#found.set(address, found);
    }
    return found;
  }
}
