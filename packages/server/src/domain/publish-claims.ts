import type { GuestId, VersionState } from '@tenon/protocol';
import type { Context } from './context.ts';
import { DomainError } from './errors.ts';
import type { Transaction } from './ports.ts';
import type { PluginKey, PluginRecord, VersionRecord } from './records.ts';

/* What a publish asks of the guests under which it binds a plugin. Each question is about all of them at once, however many. */

/**
 * Demands that a plugin can have its name under guests.
 *
 * @throws DomainError `not_a_guest`, `plugin_name_taken`, `limit_exceeded`
 */
export async function demandGuests(
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
  const [taken] = await tx.guestsWithNameTaken(key, guestIds);
  if (taken !== undefined) {
    throw new DomainError(
      'plugin_name_taken',
      `Another user of the guest ${taken} publishes a plugin named "${key.name}" here. Choose another name.`,
    );
  }
  await demandNotReserved(context, tx, key, guestIds);
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
async function demandNotReserved(
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
export async function changesNothing(
  tx: Transaction,
  { newest }: PluginRecord,
  guestIds: readonly GuestId[],
  stateOfNew: VersionState,
): Promise<boolean> {
  if (newest.state !== 'published') return newest.state === 'awaiting_approval' && stateOfNew === 'awaiting_approval';
  return !(await tx.isRolledBack(newest, guestIds));
}

/** Puts a version under guests. A publisher of a new version wants that to be bound, whatever was rolled back to before. */
export async function claimGuests(
  tx: Transaction,
  key: PluginKey,
  guestIds: readonly GuestId[],
  version: VersionRecord,
): Promise<void> {
  await tx.putVersionGuests(version.id, guestIds);
  await tx.claimName(key, guestIds);
  if (version.state === 'published') await tx.selectVersion(key, guestIds, null);
}
