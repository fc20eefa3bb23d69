import { type AppOverview, maxCounted } from '@tenon/protocol';
import type { AppAccess } from '../auth/access.ts';
import type { Deps } from '../deps.ts';

/** The most extension points that an overview names. */
const namedExtensionPoints = 50;

/** Counts what an application has and what waits for its team. */
export async function readOverview({ store, clock }: Deps, { app: { id } }: AppAccess): Promise<AppOverview> {
  const { read } = store;
  const nowMs = clock();
  const [counts, plugins, firstExtensionPoints, example] = await Promise.all([
    Promise.all([
      read.countExtensionPointsFound(id, undefined),
      read.countBlockedPlugins(id),
      read.countGuestsFound(id, { nowMs }),
      read.countPendingInvitations(id, nowMs),
      read.countVersionsAwaitingApproval(id, undefined),
      read.countMembersFound(id, undefined),
    ]),
    read.countPlugins(id),
    read.firstExtensionPoints(id, namedExtensionPoints),
    read.overviewExample(id),
  ]);
  const [extensionPoints, blockedPlugins, guests, pendingInvitations, awaitingApproval, members] = counts;
  return {
    extensionPoints,
    plugins: Math.min(plugins.plugins, maxCounted + 1),
    blockedPlugins,
    guests,
    pendingInvitations,
    awaitingApproval,
    members,
    firstExtensionPoints,
    example,
  };
}
