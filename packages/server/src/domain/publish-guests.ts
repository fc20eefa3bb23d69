import type { AppId, GuestId, UserId, VersionId, VersionState } from '@tenon/protocol';
import type { Context } from './context.ts';
import { DomainError } from './errors.ts';
import type { Transaction } from './ports.ts';
import type { GuestRecord, PluginKey, PluginRecord, VersionRecord } from './records.ts';

/*
 * What a publish asks of the guests under which it binds a plugin. Each question is about very many of them at once, and about no more
 * than others can wait for.
 */

/** How many guests one statement is about. */
const guestBatchSize = 5000;

async function inBatches(
  guestIds: readonly GuestId[],
  work: (part: readonly GuestId[]) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < guestIds.length; at += guestBatchSize) await work(guestIds.slice(at, at + guestBatchSize));
}

/** The guests that a user holds in an application, or the one of them that is named. */
export async function readHeldGuests(
  tx: Transaction,
  userId: UserId,
  appId: AppId,
  guestId: string | undefined,
): Promise<GuestRecord[]> {
  const guests: GuestRecord[] = [];
  for (;;) {
    const part = await tx.guestsHeldBy(userId, appId, { guestId, after: guests.at(-1)?.id, limit: guestBatchSize });
    for (const guest of part) guests.push(guest);
    if (part.length < guestBatchSize) return guests;
  }
}

/** Of these guests: those under which a version was published. */
export async function guestsOfVersion(
  tx: Transaction,
  versionId: VersionId,
  guestIds: readonly GuestId[],
): Promise<Set<GuestId>> {
  const found = new Set<GuestId>();
  await inBatches(guestIds, async (part) => {
    for (const id of await tx.guestsOfVersion(versionId, part)) found.add(id);
  });
  return found;
}

/**
 * Demands that a plugin can have its name under guests.
 *
 * @throws DomainError `not_a_guest`, `plugin_name_taken`, `limit_exceeded`
 */
export async function requireNameAvailable(
  context: Context,
  tx: Transaction,
  key: PluginKey,
  guestIds: readonly GuestId[],
): Promise<void> {
  if (guestIds.length === 0) {
    throw new DomainError(
      'not_a_guest',
      'You do not hold the guest, or it was taken from you while you were publishing.',
    );
  }
  await inBatches(guestIds, (part) => requireNameAvailableInBatch(context, tx, key, part));
}

async function requireNameAvailableInBatch(
  context: Context,
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
  await requireNameNotReserved(context, tx, key, guestIds);
  const { maxPluginsPerGuest } = context.limits;
  const [full] = await tx.guestsWithoutRoom(key, guestIds, maxPluginsPerGuest);
  if (full !== undefined) {
    throw new DomainError(
      'limit_exceeded',
      `The guest ${full} has ${maxPluginsPerGuest} plugins at this extension point, which is the most there may be.`,
    );
  }
}

/** Hosts load by name: what was one publisher's is not another's the moment that it is deleted. */
async function requireNameNotReserved(
  context: Context,
  tx: Transaction,
  key: PluginKey,
  guestIds: readonly GuestId[],
): Promise<void> {
  const [reservation] = await tx.nameReservations(key, guestIds, context.clock());
  if (reservation === undefined) return;
  const until = new Date(reservation.untilMs).toISOString();
  throw new DomainError(
    'plugin_name_taken',
    `The name "${key.name}" is reserved under the guest ${reservation.guestId} until ${until}, since a plugin of this name was deleted. Choose another name.`,
  );
}

/**
 * Whether publishing the newest version's bytes once more would change nothing of it: it is published, and none of the guests
 * was rolled back to another one; or it waits for approval, and so would a further one.
 */
export async function isUnchanged(
  tx: Transaction,
  { newest }: PluginRecord,
  guestIds: readonly GuestId[],
  stateOfNew: VersionState,
): Promise<boolean> {
  if (newest.state !== 'published') return newest.state === 'awaiting_approval' && stateOfNew === 'awaiting_approval';
  let isRolledBack = false;
  await inBatches(guestIds, async (part) => {
    isRolledBack ||= await tx.isRolledBack(newest, part);
  });
  return !isRolledBack;
}

/** Puts a version under guests. A publisher of a new version wants that to be bound, whatever was rolled back to before. */
export async function addVersionToGuests(
  tx: Transaction,
  key: PluginKey,
  guestIds: readonly GuestId[],
  version: VersionRecord,
): Promise<void> {
  await inBatches(guestIds, async (part) => {
    await tx.putVersionGuests(version.id, part);
    await tx.claimName(key, part);
    if (version.state === 'published') await tx.selectVersion(key, part, null);
  });
}
