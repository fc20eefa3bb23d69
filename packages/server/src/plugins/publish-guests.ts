import { type AppId, type GuestId, isRollOutOpen, type UserId, type VersionId } from '@tenon/protocol';
import type { HeldGuest, PluginKey, PluginRecord, VersionRecord } from '../db/records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';

/*
 * The checks and changes that a publish makes for the guests of its user. A user may hold very many guests, so statements run in
 * batches: large enough to be few, small enough not to block other statements for long.
 */

const guestBatchSize = 5000;

async function inBatches(
  guestIds: readonly GuestId[],
  work: (batch: readonly GuestId[]) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < guestIds.length; at += guestBatchSize) await work(guestIds.slice(at, at + guestBatchSize));
}

/**
 * Reads the guests that a user holds in an application.
 *
 * @param guestId reads only this guest
 */
export async function readHeldGuests(
  read: Pick<Queries, 'guestsHeldBy'>,
  userId: UserId,
  appId: AppId,
  guestId: string | undefined,
): Promise<HeldGuest[]> {
  const guests: HeldGuest[] = [];
  for (;;) {
    const batch = await read.guestsHeldBy(userId, appId, { guestId, after: guests.at(-1)?.id, limit: guestBatchSize });
    for (const guest of batch) guests.push(guest);
    if (batch.length < guestBatchSize) return guests;
  }
}

/** Returns those of the given guests under which a version was published. */
export async function guestsOfVersion(
  read: Pick<Queries, 'guestsOfVersion'>,
  versionId: VersionId,
  guestIds: readonly GuestId[],
): Promise<Set<GuestId>> {
  const found = new Set<GuestId>();
  await inBatches(guestIds, async (batch) => {
    for (const id of await read.guestsOfVersion(versionId, batch)) found.add(id);
  });
  return found;
}

/**
 * Requires that a plugin can use its name under all of the given guests.
 *
 * @throws DomainError `not_a_guest`, `plugin_name_taken`, `limit_exceeded`
 */
export async function requireNameAvailable(
  deps: Deps,
  tx: Transaction,
  key: PluginKey,
  guestIds: readonly GuestId[],
): Promise<void> {
  if (guestIds.length === 0) {
    throw new DomainError('not_a_guest', 'You do not hold the guest, or it was taken from you during the publish.');
  }
  await inBatches(guestIds, (batch) => requireNameAvailableInBatch(deps, tx, key, batch));
}

async function requireNameAvailableInBatch(
  deps: Deps,
  tx: Transaction,
  key: PluginKey,
  guestIds: readonly GuestId[],
): Promise<void> {
  const [taken] = await tx.guestsWithNameTaken(key, guestIds);
  if (taken !== undefined) {
    throw new DomainError(
      'plugin_name_taken',
      `Another user of the guest ${taken} publishes a plugin named "${key.name}" here. Choose another name.`,
    );
  }
  await requireNameNotReserved(deps, tx, key, guestIds);
  const { maxPluginsPerGuest } = deps.settings;
  const [full] = await tx.guestsAtPluginLimit(key, guestIds, maxPluginsPerGuest);
  if (full !== undefined) {
    throw new DomainError(
      'limit_exceeded',
      `The guest ${full} already has ${maxPluginsPerGuest} plugins at this extension point, the maximum.`,
    );
  }
}

/**
 * Requires that the name is not reserved for another publisher. Hosts load plugins by name, so the name of a deleted plugin must
 * not pass to another publisher at once.
 */
async function requireNameNotReserved(
  deps: Deps,
  tx: Transaction,
  key: PluginKey,
  guestIds: readonly GuestId[],
): Promise<void> {
  const [reservation] = await tx.nameReservations(key, guestIds, deps.clock());
  if (reservation === undefined) return;
  const until = new Date(reservation.untilMs).toISOString();
  throw new DomainError(
    'plugin_name_taken',
    `The name "${key.name}" is reserved under the guest ${reservation.guestId} until ${until}, because a plugin of this name was deleted. Choose another name.`,
  );
}

/**
 * Whether publishing the newest version's bytes again would create an equal version. This is so in four cases: the newest version
 * is published and no guest is rolled back, it awaits approval and so would the new one, it is being tested, or it waits for its minimum
 * age. During its roll-out, a guest may still be rolled back since before it.
 *
 * @param needsApproval whether a new version would need approval
 */
export async function isUnchanged(
  tx: Transaction,
  { newest }: PluginRecord,
  guestIds: readonly GuestId[],
  needsApproval: boolean,
): Promise<boolean> {
  if (newest.state === 'testing' || newest.state === 'cooling_down') return true;
  if (newest.state !== 'published') return newest.state === 'awaiting_approval' && needsApproval;
  if (!(await isRolledBack(tx, newest, guestIds, 0))) return true;
  return (await isInRollOut(tx, newest)) && !(await isRolledBack(tx, newest, guestIds, newest.number));
}

async function isRolledBack(
  tx: Transaction,
  key: PluginKey,
  guestIds: readonly GuestId[],
  atNumber: number,
): Promise<boolean> {
  let isFound = false;
  await inBatches(guestIds, async (batch) => {
    isFound ||= await tx.isRolledBack(key, batch, atNumber);
  });
  return isFound;
}

/** Whether a version has an open roll-out. */
export async function isInRollOut(tx: Transaction, { id }: Pick<VersionRecord, 'id'>): Promise<boolean> {
  const rollOut = await tx.rollOut(id);
  return rollOut !== undefined && isRollOutOpen(rollOut.state);
}

/** Publishes a version under guests. */
export async function addVersionToGuests(
  tx: Transaction,
  key: PluginKey,
  guestIds: readonly GuestId[],
  version: VersionRecord,
): Promise<void> {
  await inBatches(guestIds, async (batch) => {
    await tx.putVersionGuests(version.id, batch);
    await tx.putBindingKeys(key, batch);
  });
}

/** Ends the roll backs of guests under which a version was published that is for all of them. */
export async function endRollBacks(tx: Transaction, key: PluginKey, guestIds: readonly GuestId[]): Promise<void> {
  await inBatches(guestIds, (batch) => tx.selectVersion(key, batch, null));
}
