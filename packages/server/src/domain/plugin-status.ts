import type { GuestId, PluginStatus } from '@tenon/protocol';
import type { PluginWithBindings } from './plugins.ts';
import type { BindingRecord, VersionRecord } from './records.ts';

/** Where a plugin stands, for its publisher: of what the host decided, that it did and why. */
export interface PluginStatusDetails {
  readonly state: PluginStatus['state'];
  readonly reason: string | null;
  /** In words for people. */
  readonly detail: string;
  readonly bindings: readonly {
    readonly guestId: GuestId;
    readonly version: number | null;
    readonly isPinned: boolean;
    readonly pinnedTo: number | null;
    readonly rolledBackTo: number | null;
  }[];
}

export function describePluginStatus({ plugin, bindings, hasMoreBindings }: PluginWithBindings): PluginStatusDetails {
  const { newest, block } = plugin;
  const claims = bindings.toSorted((a, b) => (a.guestId < b.guestId ? -1 : 1));
  return {
    state: block === null ? newest.state : 'blocked',
    reason: block === null ? newest.stateReason : block.reason,
    detail: [
      ...(block === null
        ? [newestInWords(newest)]
        : [`The application's team has blocked the plugin: “${block.reason}”.`]),
      ...(hasMoreBindings ? [`Of its first ${claims.length} guests:`] : []),
      ...boundInWords(claims),
      ...pinsInWords(claims),
    ].join(' '),
    bindings: claims.map(({ guestId, versionNumber, pinnedNumber, selectedNumber }) => ({
      guestId,
      version: versionNumber,
      isPinned: pinnedNumber !== null,
      pinnedTo: pinnedNumber,
      rolledBackTo: selectedNumber,
    })),
  };
}

function newestInWords({ number, state, stateReason, stateSide }: VersionRecord): string {
  const by = stateSide === 'host' ? " by the application's team" : '';
  const why = stateReason === null ? '' : `: “${stateReason}”`;
  switch (state) {
    case 'published':
      return `Version ${number} is published.`;
    case 'awaiting_approval':
      return `Version ${number} awaits approval by the application's team.`;
    case 'rejected':
      return `Version ${number} was rejected${by}${why}.`;
    case 'yanked':
      return `Version ${number} was yanked${by}${why}.`;
  }
}

function boundInWords(claims: readonly BindingRecord[]): string[] {
  const bound = countBy(claims, ({ versionNumber }) => versionNumber);
  if (bound.length === 0) return ['Nothing is bound.'];
  return bound.map(([version, guests]) => `Version ${version} is bound under ${inGuests(guests, claims.length)}.`);
}

function pinsInWords(claims: readonly BindingRecord[]): string[] {
  const pinned = countBy(claims, ({ pinnedNumber }) => pinnedNumber);
  return pinned.map(
    ([version, guests]) =>
      `The application's team holds it at version ${version} under ${inGuests(guests, claims.length)}.`,
  );
}

/** How many claims have each number that there is, the highest first. */
function countBy(claims: readonly BindingRecord[], numberOf: (claim: BindingRecord) => number | null) {
  const counts = new Map<number, number>();
  for (const claim of claims) {
    const number = numberOf(claim);
    if (number !== null) counts.set(number, (counts.get(number) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => b - a);
}

function inGuests(count: number, all: number): string {
  if (count === all) return all === 1 ? '1 guest' : `all ${all} guests`;
  return `${count} of ${all} guests`;
}
