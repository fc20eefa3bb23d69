import type { App, Plugin, Version, VersionState } from '@tenon/protocol';

/*
 * What is bound of a plugin, and what would be after a change, so that a dialog can say so before it is made. The rule is the
 * one by which the server decides.
 */

/** A plugin's place under one guest. */
export interface Claim {
  readonly guestId: string;
  /** The version at which the team holds it. */
  readonly pinnedTo: number | null;
  readonly rolledBackTo: number | null;
}

export interface PluginModel {
  readonly isBlocked: boolean;
  readonly claims: readonly Claim[];
  /** Whether there are more guests than the claims and versions name: what becomes of those can't be told. */
  readonly hasMoreGuests: boolean;
  readonly versions: readonly {
    readonly number: number;
    readonly state: VersionState;
    readonly guestIds: readonly string[];
  }[];
}

export type Change =
  | { readonly kind: 'rollBack' | 'approve' | 'reject' | 'yank' | 'restore'; readonly version: number }
  | { readonly kind: 'block' | 'unblock' | 'delete' }
  | { readonly kind: 'pin'; readonly guestId: string; readonly version: number }
  | { readonly kind: 'unpin'; readonly guestId: string };

export function modelOf({ status, hasMoreGuests }: Plugin, versions: readonly Version[]): PluginModel {
  return {
    isBlocked: status.state === 'blocked',
    claims: status.bindings,
    hasMoreGuests: hasMoreGuests || versions.some((version) => version.hasMoreGuests),
    versions,
  };
}

/** The number of the version that a claim binds. */
export function boundBy(model: PluginModel, claim: Claim): number | null {
  const { pinnedTo, rolledBackTo } = claim;
  if (model.isBlocked) return null;
  if (pinnedTo !== null) return isPublished(model, pinnedTo) ? pinnedTo : null;
  return rolledBackTo !== null && isPublished(model, rolledBackTo) ? rolledBackTo : newestFor(model, claim);
}

function isPublished({ versions }: PluginModel, wanted: number): boolean {
  return versions.some(({ number, state }) => number === wanted && state === 'published');
}

/** The newest version that is published and was published under the claim's guest. */
function newestFor({ versions }: PluginModel, { guestId }: Claim): number | null {
  const numbers = versions
    .filter(({ state, guestIds }) => state === 'published' && guestIds.includes(guestId))
    .map(({ number }) => number);
  return numbers.length === 0 ? null : Math.max(...numbers);
}

/** A plugin as it would be after a change. */
export function changed(model: PluginModel, change: Change): PluginModel {
  switch (change.kind) {
    case 'block':
    case 'unblock':
      return { ...model, isBlocked: change.kind === 'block' };
    case 'delete':
      return { ...model, claims: model.claims.map((claim) => ({ ...claim, ...free })), versions: [] };
    case 'pin':
    case 'unpin': {
      const pinnedTo = change.kind === 'pin' ? change.version : null;
      return withClaims(model, (claim) => (claim.guestId === change.guestId ? { ...claim, pinnedTo } : claim));
    }
    case 'rollBack':
      return withClaims(model, (claim) => rolledBack(model, claim, change.version));
    default:
      return decided(model, change.version, change.kind);
  }
}

const free = { pinnedTo: null, rolledBackTo: null };

function withClaims(model: PluginModel, change: (claim: Claim) => Claim): PluginModel {
  return { ...model, claims: model.claims.map(change) };
}

function wasPublishedUnder({ versions }: PluginModel, wanted: number, guestId: string): boolean {
  return versions.some(({ number, guestIds }) => number === wanted && guestIds.includes(guestId));
}

function rolledBack(model: PluginModel, claim: Claim, to: number): Claim {
  if (!wasPublishedUnder(model, to, claim.guestId)) return claim;
  return { ...claim, rolledBackTo: newestFor(model, claim) === to ? null : to };
}

const stateAfter = { approve: 'published', reject: 'rejected', yank: 'yanked', restore: 'published' } as const;

/** A roll back ends when its version is yanked, and when a newer one is approved. */
function decided(model: PluginModel, wanted: number, action: keyof typeof stateAfter): PluginModel {
  const versions = model.versions.map((version) =>
    version.number === wanted ? { ...version, state: stateAfter[action] } : version,
  );
  const claims = model.claims.map((claim) => {
    const { rolledBackTo, guestId } = claim;
    if (rolledBackTo === null) return claim;
    const isOver =
      (action === 'yank' && rolledBackTo === wanted) ||
      (action === 'approve' && wanted > rolledBackTo && wasPublishedUnder(model, wanted, guestId));
    return isOver ? { ...claim, rolledBackTo: null } : claim;
  });
  return { ...model, versions, claims };
}

/** What becomes of what is bound under one guest. */
export interface Effect {
  readonly guestId: string;
  readonly before: number | null;
  readonly after: number | null;
}

/** What a change does under each guest, those included where it does nothing. */
export function effectOf(model: PluginModel, change: Change): Effect[] {
  const after = changed(model, change);
  return model.claims.map((claim, at) => ({
    guestId: claim.guestId,
    before: boundBy(model, claim),
    after: boundBy(after, after.claims[at] ?? claim),
  }));
}

/** Which sides somebody is on: the application's team, the plugin's publisher, or both. */
export interface Sides {
  readonly isHost: boolean;
  readonly isPublisher: boolean;
}

export function sidesOf({ role, guestIds }: App, plugin: Pick<Plugin, 'userId'>, userId: string): Sides {
  return {
    isHost: role === 'owner' || role === 'admin',
    isPublisher: plugin.userId === userId && guestIds.length > 0,
  };
}

export type VersionAction = 'rollBack' | 'approve' | 'reject' | 'yank' | 'restore';

/** What somebody may do to a version as it stands, and what would do something. */
export function versionActions(
  model: PluginModel,
  version: Pick<Version, 'number' | 'state' | 'decidedBy'>,
  { isHost, isPublisher }: Sides,
): VersionAction[] {
  if (!isHost && !isPublisher) return [];
  switch (version.state) {
    case 'awaiting_approval':
      return isHost ? ['approve', 'reject'] : [];
    case 'published':
      return isRollBack(model, version.number) ? ['rollBack', 'yank'] : ['yank'];
    case 'yanked':
      // What the team has taken back, the team alone restores.
      return isHost || version.decidedBy === 'publisher' ? ['restore'] : [];
    case 'rejected':
      return [];
  }
}

/** Whether rolling back to a version may change anything: under some guest another one is, or would be, chosen. */
function isRollBack(model: PluginModel, to: number): boolean {
  if (model.hasMoreGuests) return true;
  return model.claims.some(
    (claim) => wasPublishedUnder(model, to, claim.guestId) && (claim.rolledBackTo ?? newestFor(model, claim)) !== to,
  );
}

/** Whether rolling back to a version comes to ending the roll backs that there are. */
export function isReturnToNewest(model: PluginModel, to: number): boolean {
  return model.claims.every((claim) => !wasPublishedUnder(model, to, claim.guestId) || newestFor(model, claim) === to);
}
