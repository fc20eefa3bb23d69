import { isId } from '@tenon/protocol';
import { record } from '../../audit/record.ts';
import { type PageOf, readPageById } from '../../db/paging.ts';
import type { DeviceGrantRecord } from '../../db/records.ts';
import type { Page } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { notFound } from '../../http/domain-errors.ts';
import { type Actor, requireActiveToken } from '../access.ts';

/** Lists the device grants that the actor approved and whose token was not fetched yet. */
export async function listPendingLogins(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { userId }: Actor,
  page: Page,
): Promise<PageOf<DeviceGrantRecord>> {
  const found = await readPageById(page, (range) => store.read.approvedDeviceGrants(userId, range));
  const nowMs = clock();
  return { ...found, items: found.items.filter(({ expiresAtMs }) => expiresAtMs > nowMs) };
}

/** @throws DomainError `not_found` if the login was fetched or revoked, has expired, or was approved by another user */
export async function revokePendingLogin(
  deps: Pick<Deps, 'store' | 'clock'>,
  actor: Actor,
  loginId: string,
): Promise<void> {
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const grant = isId('deviceGrant', loginId) ? await tx.deviceGrant(loginId) : undefined;
    if (grant?.userId !== actor.userId || grant.expiresAtMs <= deps.clock()) throw notFound('login');
    await record(deps, tx, actor, { action: 'login.revoke', target: { id: grant.clientId, name: grant.deviceName } });
    await tx.deleteDeviceGrant(grant.id);
  });
}
