import type { PluginStatus } from '@tenon/protocol';
import type { BindingRecord, VersionRecord } from '../db/records.ts';
import { time } from '../http/wire-time.ts';
import type { PluginWithBindings } from './plugins.ts';

/** A plugin's status as its publisher sees it, with the host's decisions and reasons. */
interface PluginStatusDetails {
  readonly state: PluginStatus['state'];
  readonly reason: string | null;
  /** The status as English sentences. */
  readonly detail: string;
}

type PluginStatusFacts = Pick<PluginWithBindings, 'plugin' | 'hasMoreBindings'> & {
  readonly bindings: readonly BindingRecord[];
};

export function describePluginStatus({ plugin, bindings, hasMoreBindings }: PluginStatusFacts): PluginStatusDetails {
  const { newest } = plugin;
  const block = plugin.publisherBlock ?? plugin.block;
  const blocked = plugin.publisherBlock === null ? 'the plugin' : 'all plugins of the publisher';
  return {
    state: block === null ? newest.state : 'blocked',
    reason: block === null ? newest.stateReason : block.reason,
    detail: [
      ...(block === null
        ? [newestSentence(newest)]
        : [`The application's team has blocked ${blocked}: ${quoteSentence(block.reason)}`]),
      ...(hasMoreBindings ? [`Of its first ${bindings.length} guests:`] : []),
      ...boundSentences(bindings),
      ...pinSentences(bindings),
    ].join(' '),
  };
}

function newestSentence({ number, state, stateReason, stateRole, releaseAtMs }: VersionRecord): string {
  const by = stateRole === 'host' ? " by the application's team" : '';
  const why = stateReason === null ? '.' : `: ${quoteSentence(stateReason)}`;
  switch (state) {
    case 'testing':
      return `Version ${number} is being tested.`;
    case 'failed':
      return `Version ${number} failed its simulations${why}`;
    case 'published':
      return `Version ${number} is published.`;
    case 'awaiting_approval':
      return `Version ${number} awaits approval by the application's team.`;
    case 'cooling_down':
      return `Version ${number} is published automatically at ${time(releaseAtMs ?? 0)}.`;
    case 'rejected':
      return `Version ${number} was rejected${by}${why}`;
    case 'yanked':
      return `Version ${number} was yanked${by}${why}`;
  }
}

/** Quotes a reason at the end of a sentence. A reason that ends with a full stop gets no second one. */
function quoteSentence(reason: string): string {
  return /[.!?]$/.test(reason) ? `“${reason}”` : `“${reason}”.`;
}

function boundSentences(bindings: readonly BindingRecord[]): string[] {
  const bound = countByVersion(bindings, ({ versionNumber }) => versionNumber);
  if (bound.length === 0) return ['Active for no guest.'];
  return bound.map(([version, guests]) => `Version ${version} is active for ${guestCount(guests, bindings.length)}.`);
}

function pinSentences(bindings: readonly BindingRecord[]): string[] {
  const pinned = countByVersion(bindings, ({ pinnedNumber }) => pinnedNumber);
  return pinned.map(
    ([version, guests]) =>
      `The application's team holds it at version ${version} for ${guestCount(guests, bindings.length)}.`,
  );
}

/** Counts the bindings of each version number, the highest version first. */
function countByVersion(bindings: readonly BindingRecord[], versionOf: (binding: BindingRecord) => number | null) {
  const counts = new Map<number, number>();
  for (const binding of bindings) {
    const version = versionOf(binding);
    if (version !== null) counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => b - a);
}

function guestCount(count: number, all: number): string {
  if (count === all) return all === 1 ? '1 guest' : `all ${all} guests`;
  return `${count} of ${all} guests`;
}
