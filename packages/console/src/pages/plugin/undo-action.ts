import type { Plugin, Version } from '@tenon/protocol';
import type { PluginAction } from './plugin-action.ts';
import { type Binding, hasMoreGuests, type PluginHistory, type Roles, type VersionAction } from './version-actions.ts';

/** The action that reverses another one, and the toast after it. */
export interface UndoAction {
  readonly action: PluginAction;
  readonly done: string;
}

/** Reverses blocking or unblocking a plugin. Blocking again needs the reason of the earlier block. */
export function undoOfBlocking({ status }: Pick<Plugin, 'status'>, apiPath: string): UndoAction | undefined {
  const path = `${apiPath}/block`;
  if (status.state !== 'blocked') return { action: { method: 'DELETE', path }, done: 'Plugin unblocked.' };
  const { reason } = status;
  if (reason === null) return undefined;
  return { action: { method: 'PUT', path, json: { reason } }, done: 'Plugin blocked again.' };
}

/** Reverses pinning, changing a pin, or unpinning. */
export function undoOfPinning({ pinnedTo }: Pick<Binding, 'pinnedTo'>, path: string): UndoAction {
  if (pinnedTo === null) return { action: { method: 'DELETE', path }, done: 'Unpinned.' };
  return { action: { method: 'PUT', path, json: { version: pinnedTo } }, done: `Pinned to version ${pinnedTo} again.` };
}

type ChangedVersion = Pick<Version, 'number' | 'state' | 'stateReason' | 'guestIds' | 'hasMoreGuests' | 'decidedBy'>;

/** Reverses an action on a version; `undefined` if one action can't do that, as for approvals. */
export function undoOfVersionAction(
  action: VersionAction,
  version: ChangedVersion,
  history: PluginHistory,
  { name, apiPath, roles }: { readonly name: string; readonly apiPath: string; readonly roles: Roles },
): UndoAction | undefined {
  const path = `${apiPath}/versions/${version.number}`;
  const words = `${name} version ${version.number}`;
  switch (action) {
    case 'yank':
      return { action: { method: 'POST', path: `${path}/restore` }, done: `${words} restored.` };
    case 'restore': {
      // A yank has a reason, and belongs to the team or to the publisher.
      const reason = version.stateReason;
      const isSameRole = roles.isHost !== roles.isPublisher && (version.decidedBy === 'host') === roles.isHost;
      if (reason === null || !isSameRole) return undefined;
      return { action: { method: 'POST', path: `${path}/yank`, json: { reason } }, done: `${words} yanked again.` };
    }
    case 'rollBack': {
      const before = selectionBefore(version, history);
      if (before === undefined) return undefined;
      const request: PluginAction = { method: 'POST', path: `${apiPath}/rollback`, json: { version: before.number } };
      return {
        action: request,
        done: before.isNewest ? 'Rollback undone.' : `Rolled back to version ${before.number} again.`,
      };
    }
    case 'approve':
    case 'release':
    case 'reject':
      return undefined;
  }
}

/** The version that all guests of a version follow; `undefined` if they differ, or aren't all known. */
function selectionBefore(
  { guestIds }: Pick<Version, 'guestIds'>,
  history: PluginHistory,
): { readonly number: number; readonly isNewest: boolean } | undefined {
  if (hasMoreGuests(history)) return undefined;
  const { plugin, versions } = history;
  const bindings = plugin.status.bindings.filter(({ guestId }) => guestIds.includes(guestId));
  const selected = bindings.map(({ guestId, rolledBackTo }) => {
    const newest = versions.find((one) => one.state === 'published' && one.guestIds.includes(guestId))?.number;
    return rolledBackTo ?? newest;
  });
  const [number] = selected;
  const [followed] = bindings;
  if (number === undefined || followed === undefined || selected.some((other) => other !== number)) return undefined;
  const earlier = versions.find((one) => one.number === number);
  // The reverse action changes the guests of the earlier version, which must be the same.
  const isSame = earlier?.guestIds.length === guestIds.length && guestIds.every((id) => earlier.guestIds.includes(id));
  return isSame ? { number, isNewest: followed.rolledBackTo === null } : undefined;
}
