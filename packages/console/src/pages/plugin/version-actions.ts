import type { App, Plugin, PluginStatus, Version } from '@tenon/protocol';

/** The user's roles towards a plugin: member of the team that decides on it, publisher, or both. */
export interface Roles {
  readonly isHost: boolean;
  readonly isPublisher: boolean;
}

export function rolesOf({ role, guests }: App, plugin: Pick<Plugin, 'userId'>, userId: string): Roles {
  return {
    isHost: role === 'owner' || role === 'admin',
    isPublisher: plugin.userId === userId && guests.length > 0,
  };
}

export type Binding = PluginStatus['bindings'][number];

/** A plugin with its versions, the newest first. */
export interface PluginHistory {
  readonly plugin: Pick<Plugin, 'status' | 'hasMoreGuests'>;
  readonly versions: readonly Pick<
    Version,
    'number' | 'state' | 'guestIds' | 'hasMoreGuests' | 'decidedBy' | 'rollOut'
  >[];
}

export type VersionAction = 'rollBack' | 'approve' | 'reject' | 'release' | 'yank' | 'restore';

/** The actions to offer for a version: those that the user may take, and that may change something. */
export function versionActions(
  history: PluginHistory,
  version: PluginHistory['versions'][number],
  { isHost, isPublisher }: Roles,
): VersionAction[] {
  if (!isHost && !isPublisher) return [];
  switch (version.state) {
    case 'awaiting_approval':
      return isHost ? ['approve', 'reject'] : [];
    case 'cooling_down':
      return isHost ? ['release', 'yank', 'reject'] : ['yank'];
    case 'published':
      return canRollBackTo(history, version) ? ['rollBack', 'yank'] : ['yank'];
    case 'yanked':
      // The publisher can't restore a version that the team has yanked.
      return isHost || version.decidedBy === 'publisher' ? ['restore'] : [];
    case 'testing':
    case 'failed':
    case 'rejected':
      return [];
  }
}

function canRollBackTo(history: PluginHistory, version: Pick<Version, 'number' | 'guestIds' | 'rollOut'>): boolean {
  const { number, guestIds, rollOut } = version;
  // The server refuses a version that has not reached all guests.
  if (rollOut !== null && rollOut.state !== 'completed') return false;
  if (hasMoreGuests(history)) return true;
  return history.plugin.status.bindings.some(
    (binding) => guestIds.includes(binding.guestId) && (binding.rolledBackTo ?? newestFor(history, binding)) !== number,
  );
}

/** Whether rolling back to a version only ends roll backs, because no guest has a newer one. */
export function isNewestEverywhere(history: PluginHistory, { number, guestIds }: Pick<Version, 'number' | 'guestIds'>) {
  const bindings = history.plugin.status.bindings.filter(({ guestId }) => guestIds.includes(guestId));
  return bindings.every((binding) => newestFor(history, binding) === number);
}

/** The newest published version that was published under the binding's guest. */
function newestFor({ versions }: PluginHistory, { guestId }: Binding): number | undefined {
  return versions.find(({ state, guestIds }) => state === 'published' && guestIds.includes(guestId))?.number;
}

/** Whether the plugin or one of its versions has more guests than the server lists. */
export function hasMoreGuests({ plugin, versions }: PluginHistory): boolean {
  return plugin.hasMoreGuests || versions.some((version) => version.hasMoreGuests);
}
