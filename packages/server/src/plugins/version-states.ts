import type { VersionState } from '@tenon/protocol';
import type { PluginRole, VersionRecord } from '../db/records.ts';
import { DomainError } from '../http/domain-errors.ts';

/** The states of a publish for which no version is stored (yet). */
type TransientState = 'received' | 'checking' | 'refused';

/** The decisions of users on a version. */
export type VersionAction = 'approve' | 'reject' | 'release' | 'yank' | 'restore';

/** The actions of users that change a version's state. */
type StateAction = VersionAction | 'retest';

/** The transitions during a publish, before the server responds. */
export const publishTransitions = [
  { from: 'received', to: 'checking', when: 'the upload is whole' },
  { from: 'checking', to: 'refused', when: 'a check fails' },
  { from: 'checking', to: 'testing', when: 'the extension point has simulations' },
  { from: 'checking', to: 'published', when: 'all is well' },
  { from: 'checking', to: 'awaiting_approval', when: 'approval is required' },
  { from: 'checking', to: 'cooling_down', when: 'a minimum age is required' },
] as const satisfies readonly {
  readonly from: TransientState;
  readonly to: TransientState | VersionState;
  readonly when: string;
}[];

/** The transitions when the simulations of a version end. An errored run is repeated, and the version stays in `testing`. */
export const verdictTransitions = [
  { from: 'testing', to: 'failed', when: 'a simulation fails' },
  { from: 'testing', to: 'published', when: 'the simulations pass' },
  { from: 'testing', to: 'awaiting_approval', when: 'they pass, and approval is required' },
  { from: 'testing', to: 'cooling_down', when: 'they pass, before the minimum age' },
  { from: 'testing', to: 'yanked', when: 'they pass, but the team has yanked the bytes' },
  { from: 'awaiting_approval', to: 'failed', when: 'a repeated simulation fails' },
] as const satisfies readonly { readonly from: VersionState; readonly to: VersionState; readonly when: string }[];

/** The transitions when a version has its minimum age. */
export const ageTransitions = [
  { from: 'cooling_down', to: 'published', when: 'it has the minimum age' },
  { from: 'cooling_down', to: 'awaiting_approval', when: 'it has the age, and approval is required now' },
] as const satisfies readonly { readonly from: VersionState; readonly to: VersionState; readonly when: string }[];

interface Transition {
  /** Whether it applies to a version that does not have its minimum age yet, instead of the one that leads to `published`. */
  readonly isEarly?: true;
  readonly from: VersionState;
  readonly to: VersionState;
  readonly action: StateAction;
  /** The roles that may do it. */
  readonly roles: readonly PluginRole[];
}

/**
 * The transitions by users. {@link requireTransition} adds one rule: a publisher can't restore a version that the host yanked.
 * `docs/explanation/publishing.md` draws these, the {@link publishTransitions}, the {@link verdictTransitions} and the
 * {@link ageTransitions}; a test compares them.
 */
export const versionTransitions: readonly Transition[] = [
  { action: 'retest', from: 'failed', to: 'testing', roles: ['publisher', 'host'] },
  { action: 'reject', from: 'testing', to: 'rejected', roles: ['host'] },
  { action: 'approve', from: 'awaiting_approval', to: 'published', roles: ['host'] },
  { action: 'approve', from: 'awaiting_approval', to: 'cooling_down', roles: ['host'], isEarly: true },
  { action: 'reject', from: 'awaiting_approval', to: 'rejected', roles: ['host'] },
  { action: 'release', from: 'cooling_down', to: 'published', roles: ['host'] },
  { action: 'reject', from: 'cooling_down', to: 'rejected', roles: ['host'] },
  { action: 'yank', from: 'cooling_down', to: 'yanked', roles: ['publisher', 'host'] },
  { action: 'yank', from: 'published', to: 'yanked', roles: ['publisher', 'host'] },
  { action: 'restore', from: 'yanked', to: 'published', roles: ['publisher', 'host'] },
  { action: 'restore', from: 'yanked', to: 'cooling_down', roles: ['publisher', 'host'], isEarly: true },
];

const pastTense: Readonly<Record<StateAction, string>> = {
  retest: 'tested again',
  approve: 'approved',
  reject: 'rejected',
  release: 'released',
  yank: 'yanked',
  restore: 'restored',
};

const statePredicates: Readonly<Record<VersionState, string>> = {
  testing: 'is being tested',
  failed: 'failed its simulations',
  awaiting_approval: 'awaits approval',
  cooling_down: 'does not have its minimum age yet',
  rejected: 'is rejected',
  published: 'is published',
  yanked: 'is yanked',
};

/** Describes a state as a predicate that completes "Version 3 …". */
export function statePredicate(state: VersionState): string {
  return statePredicates[state];
}

/** Whether a version does not have its minimum age yet. */
export function isEarly({ releaseAtMs }: Pick<VersionRecord, 'releaseAtMs'>, nowMs: number): boolean {
  return releaseAtMs !== null && releaseAtMs > nowMs;
}

/**
 * Finds the transition of a user's action on a version.
 *
 * @param roles the actor's roles towards the plugin; both, if the publisher is also a manager of the application
 * @returns the new state, and the role in which the actor decides
 * @throws DomainError `conflict` if the action is invalid in the version's state, `forbidden` if none of the roles may do it
 */
export function requireTransition(
  version: Pick<VersionRecord, 'number' | 'state' | 'stateRole' | 'releaseAtMs'>,
  action: StateAction,
  roles: readonly PluginRole[],
  nowMs: number,
): { readonly state: VersionState; readonly side: PluginRole } {
  const { number, state, stateRole } = version;
  const possible = versionTransitions.filter(({ from, action: of }) => from === state && of === action);
  const transition = (isEarly(version, nowMs) && possible.find((one) => one.isEarly)) || possible[0];
  if (transition === undefined) {
    throw new DomainError('conflict', `Version ${number} ${statePredicate(state)}, and can't be ${pastTense[action]}.`);
  }
  const isHostOnly = action === 'restore' && stateRole === 'host';
  const side = roles.find((role) => transition.roles.includes(role) && (role === 'host' || !isHostOnly));
  if (side === undefined) {
    const allowed = isHostOnly ? "the application's team, which yanked it" : "the application's team";
    throw new DomainError('forbidden', `Version ${number} can be ${pastTense[action]} only by ${allowed}.`);
  }
  return { state: transition.to, side };
}
