import { type AppId, isId, type MemberRole, memberRole, type UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { ApplyGroups } from '../auth/oidc/identities.ts';
import type { ProviderSettings } from '../config/sign-in-providers.ts';
import type { GrantedMembershipRecord } from '../db/identity-records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { revokeInvitationsOf } from './invitations.ts';

/** From the highest to the lowest. */
const roles: readonly MemberRole[] = memberRole.anyOf.map((role): MemberRole => role.const);

/** A user, and the provider whose groups give roles. */
interface Grantee {
  readonly userId: UserId;
  readonly providerId: string;
}

/**
 * Gives a user the roles of the provider's groups, and takes back those that its groups gave before. Roles that people gave stay as they are,
 * and so do the last owner of an application and the last operator.
 */
export const applyGroupRules: ApplyGroups = async (deps, tx, userId, settings, groups) => {
  const grantee = { userId, providerId: settings.id };
  const wanted = wantedRoles(settings, groups);
  const granted = await tx.grantedMemberships(userId, settings.id);
  for (const membership of granted) {
    if (!wanted.roles.has(membership.appId)) await takeMembership(deps, tx, membership);
  }
  for (const [appId, role] of wanted.roles) {
    await giveMembership(deps, tx, { ...grantee, appId, role }, granted);
  }
  await applyOperatorRule(deps, tx, grantee, wanted.isOperator);
};

/** Returns the highest role for each application. */
function wantedRoles({ rules }: Pick<ProviderSettings, 'rules'>, groups: ReadonlySet<string>) {
  const wanted = new Map<AppId, MemberRole>();
  let isOperator = false;
  for (const rule of rules) {
    if (!groups.has(rule.group)) continue;
    if (rule.role === 'operator') isOperator = true;
    else if (isId('app', rule.app)) {
      const present = wanted.get(rule.app);
      const isHigher = present === undefined || roles.indexOf(rule.role) < roles.indexOf(present);
      if (isHigher) wanted.set(rule.app, rule.role);
    }
  }
  return { roles: wanted, isOperator };
}

async function giveMembership(
  deps: Deps,
  tx: Transaction,
  wanted: GrantedMembershipRecord,
  granted: readonly GrantedMembershipRecord[],
): Promise<void> {
  const { userId, providerId, appId, role } = wanted;
  const app = await tx.app(appId);
  if (app === undefined) return;
  const present = await tx.member(appId, userId);
  const before = granted.find((one) => one.appId === appId);
  if (present !== undefined) {
    if (before === undefined || before.role !== present.role) {
      // A person gave the role, or changed it.
      if (before !== undefined) await tx.deleteGrantedMembership(before);
      return;
    }
    if (present.role === role) return;
    if (present.role === 'owner' && (await tx.countOwners(appId)) <= 1) return;
  }
  const nowMs = deps.clock();
  await tx.putMember({ appId, userId, role, createdAtMs: present?.createdAtMs ?? nowMs });
  await tx.putGrantedMembership(wanted);
  const target = { id: userId, name: (await tx.user(userId))?.name ?? null };
  const details = { role: present === undefined ? role : { before: present.role, after: role }, provider: providerId };
  await record(deps, tx, 'system', { action: 'member.put', appId, accountId: userId, target, details });
  if (present !== undefined) await revokeInvitationsOf(deps, tx, 'system', { appId, userId, role });
}

async function takeMembership(deps: Deps, tx: Transaction, granted: GrantedMembershipRecord): Promise<void> {
  const { userId, providerId, appId, role } = granted;
  const present = await tx.member(appId, userId);
  if (present?.role === role) {
    // The grant stays, so that the next sign-in tries again.
    if (role === 'owner' && (await tx.countOwners(appId)) <= 1) return;
    await tx.deleteMember(appId, userId);
    const target = { id: userId, name: (await tx.user(userId))?.name ?? null };
    const details = { role, provider: providerId };
    await record(deps, tx, 'system', { action: 'member.remove', appId, accountId: userId, target, details });
    await revokeInvitationsOf(deps, tx, 'system', { appId, userId, role: undefined });
  }
  await tx.deleteGrantedMembership(granted);
}

async function applyOperatorRule(deps: Deps, tx: Transaction, grantee: Grantee, isWanted: boolean): Promise<void> {
  const { userId, providerId } = grantee;
  const isGranted = await tx.isGrantedOperator(userId, providerId);
  const isOperator = await tx.isOperator(userId);
  const target = { id: userId, name: (await tx.user(userId))?.name ?? null };
  const details = { means: 'group', provider: providerId };
  if (isWanted && !isOperator) {
    await tx.putOperator({ userId, createdAtMs: deps.clock() });
    await tx.putGrantedOperator(userId, providerId);
    await record(deps, tx, 'system', { action: 'operator.grant', accountId: userId, target, details });
  }
  if (isWanted || !isGranted) return;
  if (isOperator) {
    if (!(await tx.hasOtherOperator(userId))) return;
    await tx.deleteOperator(userId);
    await record(deps, tx, 'system', { action: 'operator.revoke', accountId: userId, target, details });
  }
  await tx.deleteGrantedOperator(userId, providerId);
}
