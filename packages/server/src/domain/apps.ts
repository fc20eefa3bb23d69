import { type AppId, isId, type MemberRole, newId } from '@tenon/protocol';
import { type Actor, type AppAccess, demandStanding, renewAccess } from './access.ts';
import { changedFields, record } from './audit/record.ts';
import type { Context } from './context.ts';
import { DomainError, notFound } from './errors.ts';
import { type PageOf, paged } from './paging.ts';
import type { Page, Transaction } from './ports.ts';
import type { AppRecord, MemberRecord } from './records.ts';

/** Makes an application; the actor becomes its owner. */
export async function createApp(context: Context, actor: Actor, name: string): Promise<AppAccess> {
  const createdAtMs = context.clock();
  const app: AppRecord = { id: newId('app'), name, createdAtMs, updatedAtMs: createdAtMs };
  await context.store.write(async (tx) => {
    await demandStanding(tx, actor);
    await tx.insertApp(app);
    await tx.putMember({ appId: app.id, userId: actor.userId, role: 'owner', createdAtMs });
    await record(context, tx, actor, { action: 'app.create', appId: app.id, target: app, details: { name } });
  });
  return { actor, app, role: 'owner', guests: [] };
}

/** The applications that the actor may see, each with what the actor is in it. */
export async function listApps(context: Context, actor: Actor, page: Page): Promise<PageOf<AppAccess>> {
  const { read } = context.store;
  const found = await paged(
    page,
    (app: AppRecord) => app.id,
    (stretch) => read.appsOf(actor.userId, actor.appId ?? undefined, stretch),
  );
  const items = await Promise.all(
    found.items.map(async (app): Promise<AppAccess> => {
      const [member, guests] = await Promise.all([
        read.member(app.id, actor.userId),
        read.guestsHeldBy(actor.userId, app.id),
      ]);
      return { actor, app, role: member?.role ?? 'guest', guests };
    }),
  );
  return { items, next: found.next };
}

export async function renameApp(context: Context, access: AppAccess, name: string): Promise<AppAccess> {
  const updatedAtMs = context.clock();
  return context.store.write(async (tx) => {
    const { app: present } = await renewAccess(tx, access, 'updateApp');
    const app = { ...present, name, updatedAtMs };
    await tx.updateApp(app.id, { name, updatedAtMs });
    const details = changedFields(present, app, ['name']);
    await record(context, tx, access.actor, { action: 'app.update', appId: app.id, target: app, details });
    return { ...access, app };
  });
}

/** Deletes an application with its extension points, guests, plugins and bindings. */
export async function deleteApp(context: Context, access: AppAccess): Promise<void> {
  await context.store.write(async (tx) => {
    const { actor, app } = await renewAccess(tx, access, 'deleteApp');
    await record(context, tx, actor, { action: 'app.delete', appId: app.id, target: app });
    await tx.deleteApp(app.id);
  });
}

/** A member with the user's name. */
export type NamedMember = MemberRecord & { readonly userName: string };

export function listMembers(context: Context, access: AppAccess, page: Page): Promise<PageOf<NamedMember>> {
  return paged(
    page,
    (member: NamedMember) => member.userId,
    (stretch) => context.store.read.members(access.app.id, stretch),
  );
}

/**
 * Adds a user to an application's team, or changes a member's role.
 *
 * @throws DomainError `not_found` for an unknown user, `conflict` when the last owner would lose the role
 */
export async function putMember(
  context: Context,
  access: AppAccess,
  userId: string,
  role: MemberRole,
): Promise<NamedMember> {
  const appId = access.app.id;
  return context.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeMembers');
    const user = isId('user', userId) ? await tx.user(userId) : undefined;
    if (user === undefined || user.deletedAtMs !== null) throw notFound('user');
    const present = await tx.member(appId, user.id);
    if (present?.role === 'owner' && role !== 'owner') await demandAnotherOwner(tx, appId);
    const createdAtMs = present?.createdAtMs ?? context.clock();
    await tx.putMember({ appId, userId: user.id, role, createdAtMs });
    const details = { role: { before: present?.role ?? null, after: role } };
    await record(context, tx, access.actor, { action: 'member.put', appId, target: user, details });
    return { appId, userId: user.id, role, createdAtMs, userName: user.name };
  });
}

/**
 * Takes a user off an application's team.
 *
 * @throws DomainError `not_found` for one who is no member, `conflict` for the last owner
 */
export async function removeMember(context: Context, access: AppAccess, userId: string): Promise<void> {
  const appId = access.app.id;
  await context.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeMembers');
    const present = isId('user', userId) ? await tx.member(appId, userId) : undefined;
    if (present === undefined) throw notFound('member');
    if (present.role === 'owner') await demandAnotherOwner(tx, appId);
    await tx.deleteMember(appId, present.userId);
    await record(context, tx, access.actor, {
      action: 'member.remove',
      appId,
      target: { id: present.userId, name: (await tx.user(present.userId))?.name ?? null },
      details: { role: present.role },
    });
  });
}

async function demandAnotherOwner(tx: Transaction, appId: AppId): Promise<void> {
  if ((await tx.countOwners(appId)) > 1) return;
  throw new DomainError('conflict', 'An application keeps at least one owner. Make somebody else an owner first.');
}
