import { type AppOverview, maxCounted } from '@tenon/protocol';
import type { AppAccess } from '../auth/access.ts';
import type { Deps } from '../deps.ts';

/** Counts what an application has and what waits for its team. */
export async function readOverview({ store, clock }: Deps, { app: { id } }: AppAccess): Promise<AppOverview> {
  const { read } = store;
  const nowMs = clock();
  const [extensionPoints, plugins, blockedPlugins, guests, pendingInvitations, awaitingApproval, members, example] =
    await Promise.all([
      read.countExtensionPointsFound(id, undefined),
      read.countPlugins(id),
      read.countBlockedPlugins(id),
      read.countGuestsFound(id, { nowMs }),
      read.countPendingInvitations(id, nowMs),
      read.countVersionsAwaitingApproval(id, undefined),
      read.countMembersFound(id, undefined),
      read.overviewExample(id),
    ]);
  return {
    extensionPoints,
    plugins: Math.min(plugins.plugins, maxCounted + 1),
    blockedPlugins,
    guests,
    pendingInvitations,
    awaitingApproval,
    members,
    example,
  };
}
