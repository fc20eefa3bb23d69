import { newId } from '@tenon/protocol';
import { changedFields, record } from '../audit/record.ts';
import { type Actor, type AppAccess, mayCreateApps, renewAccess, requireActiveToken } from '../auth/access.ts';
import { requireStepUp } from '../auth/confirmation.ts';
import { takeQuota } from '../auth/quotas.ts';
import { deleteBatchSize } from '../db/deletion-scope.ts';
import { nameCursor } from '../db/page-queries.ts';
import { type PageOf, readPage, readRelatedRows } from '../db/paging.ts';
import type { AppRecord, HeldGuest } from '../db/records.ts';
import type { NameSort, SortedPage, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, type Precondition, requirePrecondition } from '../http/domain-errors.ts';

/**
 * Creates an application. The actor becomes its owner.
 *
 * @throws DomainError `forbidden` if `TENON_CREATE_APPS` excludes the actor, `quota_exceeded`
 */
export async function createApp(deps: Deps, actor: Actor, name: string): Promise<AppAccess> {
  const createdAtMs = deps.clock();
  const app: AppRecord = { id: newId('app'), name, requiresPasskey: false, createdAtMs, updatedAtMs: createdAtMs };
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    await requireMayCreateApps(deps, tx, actor);
    await takeQuota(deps, tx, 'applications', actor.userId, await tx.countOwnedApps(actor.userId));
    await tx.insertApp(app);
    await tx.putMember({ appId: app.id, userId: actor.userId, role: 'owner', createdAtMs });
    await record(deps, tx, actor, { action: 'app.create', appId: app.id, target: app, details: { name } });
  });
  return { actor, app, role: 'owner', guests: [], hasMoreGuests: false };
}

async function requireMayCreateApps(deps: Deps, tx: Transaction, { userId }: Actor): Promise<void> {
  if (await mayCreateApps(deps, tx, userId)) return;
  const { createApps } = deps.settings;
  const allowed = createApps === 'members' ? 'operators and members of a team' : 'operators';
  throw new DomainError(
    'forbidden',
    `On this server, only ${allowed} can create applications (TENON_CREATE_APPS=${createApps}).`,
  );
}

/** Lists the applications that the actor may see, each with the actor's role and guests. */
export async function listApps(
  deps: Deps,
  actor: Actor,
  page: SortedPage<NameSort>,
  text?: string,
): Promise<PageOf<AppAccess>> {
  const { read } = deps.store;
  const { userId } = actor;
  const onlyAppId = actor.appId ?? undefined;
  const cursorOf = (app: AppRecord): string => nameCursor(app, page.sort);
  const found = await readRelatedRows(
    await readPage(
      page,
      cursorOf,
      (range) => read.appsOf(userId, onlyAppId, range, text),
      () => read.countAppsFound(userId, onlyAppId, text),
    ),
    {
      cursorOf,
      keyOf: ({ id }) => id,
      keyOfRow: (guest: HeldGuest) => guest.appId,
      load: (apps, limit) => read.guestsHeldIn(userId, apps.map(({ id }) => id).sort(), limit),
    },
  );
  const items = await Promise.all(
    found.items.map(async (app): Promise<AppAccess> => {
      const member = await read.member(app.id, userId);
      return {
        actor,
        app,
        role: member?.role ?? 'guest',
        guests: found.rows.get(app.id) ?? [],
        hasMoreGuests: found.hasMoreRows,
      };
    }),
  );
  const { next, previous, total } = found;
  return { items, next, previous, total };
}

/**
 * Changes the given fields.
 *
 * @throws DomainError `precondition_failed`; for a change of `requiresPasskey`: `step_up_required`, `forbidden` for other members than
 *   owners, `conflict` for an owner without a passkey
 */
export async function updateApp(
  deps: Deps,
  access: AppAccess,
  change: { readonly name?: string | undefined; readonly requiresPasskey?: boolean | undefined },
  precondition?: Precondition<AppAccess>,
): Promise<AppAccess> {
  const updatedAtMs = deps.clock();
  return deps.store.write(async (tx) => {
    const renewed = await renewAccess(tx, access, 'updateApp');
    requirePrecondition(precondition, renewed);
    const { app: present } = renewed;
    const { name = present.name, requiresPasskey = present.requiresPasskey } = change;
    if (change.name === undefined && requiresPasskey === present.requiresPasskey) return renewed;
    const app = { ...present, name, requiresPasskey, updatedAtMs };
    if (requiresPasskey !== present.requiresPasskey) {
      await requireMayChangePasskeyRule(deps, tx, renewed);
      await tx.setRequiresPasskey(app.id, requiresPasskey);
    }
    await tx.updateApp(app.id, { name, updatedAtMs });
    const details = changedFields(present, app, ['name', 'requiresPasskey']);
    await record(deps, tx, access.actor, { action: 'app.update', appId: app.id, target: app, details });
    return { ...renewed, app };
  });
}

async function requireMayChangePasskeyRule(deps: Deps, tx: Transaction, { actor, role }: AppAccess): Promise<void> {
  if (role !== 'owner') {
    throw new DomainError('forbidden', `Only owners can change "requiresPasskey"; your role is ${role}.`);
  }
  await requireStepUp(deps, actor.sessionId, tx);
  if ((await tx.passkeyOfToken(actor.tokenId)) !== null) return;
  throw new DomainError(
    'conflict',
    'Add a passkey to your account first, and confirm with it. Otherwise you would lock yourself out.',
  );
}

/**
 * Deletes an application with its extension points, guests, plugins and bindings. If it has very many rows, it is only marked as
 * deleted, and `finishPendingChanges()` deletes the rows later.
 *
 * @throws DomainError `step_up_required`
 */
export async function deleteApp(deps: Deps, access: AppAccess): Promise<void> {
  await deps.store.write(async (tx) => {
    const { actor, app } = await renewAccess(tx, access, 'deleteApp');
    await requireStepUp(deps, actor.sessionId, tx);
    await record(deps, tx, actor, { action: 'app.delete', appId: app.id, target: app });
    const isLarge = await tx.hasMoreRows({ appId: app.id }, deleteBatchSize);
    if (isLarge) await tx.markAppDeleted(app.id, deps.clock());
    else await tx.deleteApp(app.id);
  });
}
