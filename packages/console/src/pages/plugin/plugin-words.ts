import type { Plugin, PluginSummary, Version, VersionState } from '@tenon/protocol';
import { isRollOutOpen } from '@tenon/protocol/roll-out-limits';
import { counted } from '../../components/count.ts';
import type { Binding, PluginHistory } from './version-actions.ts';

/** A state in a word or two. */
export const stateWords: Readonly<Record<Plugin['status']['state'], string>> = {
  testing: 'being tested',
  failed: 'failed its simulations',
  published: 'published',
  awaiting_approval: 'awaiting approval',
  cooling_down: 'waiting for its minimum age',
  rejected: 'rejected',
  yanked: 'yanked',
  blocked: 'blocked',
};

export const stateBadges = {
  testing: 'waiting',
  failed: 'bad',
  published: 'good',
  awaiting_approval: 'waiting',
  cooling_down: 'waiting',
  rejected: 'bad',
  yanked: 'bad',
  blocked: 'bad',
} as const satisfies Readonly<Record<Plugin['status']['state'], string>>;

/** A plugin's active versions, and its newest version if that is another one: "v3 active · newest v4 yanked". */
export interface InUse {
  readonly text: string;
  readonly kind: 'good' | 'waiting' | 'bad';
}

export function inUse({ status, version }: Pick<Plugin, 'status' | 'version'>): InUse {
  const activeVersions = status.bindings.flatMap((binding) => binding.version ?? []);
  return versionsInUse({ state: status.state, version, activeVersions });
}

/** As {@link inUse}, for a plugin in the list of an application's plugins. */
export function versionsInUse(plugin: Pick<PluginSummary, 'state' | 'version' | 'activeVersions'>): InUse {
  const { state, version, activeVersions } = plugin;
  const numbers = new Set(activeVersions);
  const bound = [...numbers].sort((a, b) => b - a).map((number) => `v${number}`);
  if (state === 'blocked') return { text: stateWords.blocked, kind: 'bad' };
  const used = bound.length === 0 ? 'not active' : `${new Intl.ListFormat('en').format(bound)} active`;
  if (numbers.has(version.number) && numbers.size === 1) return { text: used, kind: 'good' };
  const newest = version.state === 'published' ? '' : ` ${stateWords[version.state]}`;
  const kind = bound.length > 0 ? 'good' : version.state === 'published' ? 'waiting' : stateBadges[version.state];
  return { text: `${used} · newest v${version.number}${newest}`, kind };
}

/** How many guests there are of a list that the server may have cut off: "more than 100 guests". */
export function guestCount({ length }: readonly string[], hasMore: boolean): string {
  return (hasMore ? 'more than ' : '') + counted(length, 'guest');
}

/** A binding's version: "version 2", "nothing". */
export function versionWords(number: number | null): string {
  return number === null ? 'nothing' : `version ${number}`;
}

/** Why a binding has its version, in a few words. */
export function whyBound({ plugin, versions }: PluginHistory, binding: Binding): string {
  const { version: bound, pinnedTo, rolledBackTo } = binding;
  const pinned = pinnedTo === null ? '' : `pinned to version ${pinnedTo}`;
  if (plugin.status.state === 'blocked')
    return pinned === '' ? 'the plugin is blocked' : `the plugin is blocked, and ${pinned}`;
  if (pinnedTo !== null)
    return bound === null ? `${pinned}, which is ${stateOf(versions, pinnedTo)}` : 'pinned by the team';
  if (bound === null) return 'no version is published for this guest';
  if (rolledBackTo === bound) return 'rolled back';
  const rollingOut = versions.filter(({ rollOut }) => rollOut !== null && isRollOutOpen(rollOut.state));
  if (rollingOut.some(({ number }) => number === bound)) return 'reached by the roll-out';
  const missed = rollingOut.find(({ number, guestIds }) => number > bound && guestIds.includes(binding.guestId));
  if (missed !== undefined) return `version ${missed.number} has not reached it`;
  return versions.every(({ number }) => number <= bound) ? 'the newest' : 'the newest for this guest';
}

function stateOf(versions: PluginHistory['versions'], wanted: number): string {
  const found = versions.find(({ number }) => number === wanted);
  return found === undefined ? 'deleted' : stateWords[found.state];
}

/** Who brought a version into its state, and how: "Yanked by the team". Nothing of one that came there by itself. */
export function decisionWords({ state, decidedBy }: Pick<Version, 'state' | 'decidedBy'>): string | undefined {
  if (decidedBy === null || state === 'testing' || state === 'failed' || state === 'awaiting_approval')
    return undefined;
  if (state !== 'published' && state !== 'cooling_down')
    return `${decisions[state]} by ${decidedBy === 'host' ? 'the team' : 'its publisher'}`;
  // The team approves and restores, publishers restore alone.
  return decidedBy === 'host' ? 'Approved by the team' : 'Restored by its publisher';
}

const decisions = { rejected: 'Rejected', yanked: 'Yanked' } as const satisfies Partial<Record<VersionState, string>>;
