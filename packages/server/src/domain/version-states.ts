import type { VersionState } from '@tenon/protocol';
import { DomainError } from './errors.ts';
import type { Side, VersionRecord } from './records.ts';

/** The states that a version is in while it comes, before there is anything stored of it, and when it does not. */
export type TransientState = 'received' | 'checking' | 'refused';

/** What people do to a version. */
export type VersionAction = 'approve' | 'reject' | 'yank' | 'restore';

/** What a publish does by itself before it is answered. */
export const publishTransitions = [
  { from: 'received', to: 'checking', when: 'the upload is whole' },
  { from: 'checking', to: 'refused', when: 'a check fails' },
  { from: 'checking', to: 'published', when: 'all is well' },
  { from: 'checking', to: 'awaiting_approval', when: 'approval is required' },
] as const satisfies readonly {
  readonly from: TransientState;
  readonly to: TransientState | VersionState;
  readonly when: string;
}[];

interface Transition {
  readonly from: VersionState;
  readonly to: VersionState;
  readonly action: VersionAction;
  readonly sides: readonly Side[];
}

/**
 * What people do to a version, and who may. What the host has yanked, the publisher can't restore: {@link requireTransition}.
 * With {@link publishTransitions}, this is every way from one state to another, and the one place of it; the page on publishing draws it.
 */
export const versionTransitions: readonly Transition[] = [
  { action: 'approve', from: 'awaiting_approval', to: 'published', sides: ['host'] },
  { action: 'reject', from: 'awaiting_approval', to: 'rejected', sides: ['host'] },
  { action: 'yank', from: 'published', to: 'yanked', sides: ['publisher', 'host'] },
  { action: 'restore', from: 'yanked', to: 'published', sides: ['publisher', 'host'] },
];

const pastTense: Readonly<Record<VersionAction, string>> = {
  approve: 'approved',
  reject: 'rejected',
  yank: 'yanked',
  restore: 'restored',
};

const inWords: Readonly<Record<VersionState, string>> = {
  awaiting_approval: 'awaits approval',
  rejected: 'is rejected',
  published: 'is published',
  yanked: 'is yanked',
};

/** A state in words that complete "Version 3 …". */
export function stateInWords(state: VersionState): string {
  return inWords[state];
}

/**
 * What an action on a version comes to.
 *
 * @param sides those on which the actor may act: both, when the publisher is one of the application's managers
 * @returns the state that it leads to, and the side that brings it there
 * @throws DomainError `conflict` for a version whose state knows no such action, `forbidden` for sides that may not
 */
export function requireTransition(
  version: Pick<VersionRecord, 'number' | 'state' | 'stateSide'>,
  action: VersionAction,
  sides: readonly Side[],
): { readonly state: VersionState; readonly side: Side } {
  const { number, state, stateSide } = version;
  const found = versionTransitions.find((transition) => transition.from === state && transition.action === action);
  if (found === undefined) {
    throw new DomainError('conflict', `Version ${number} ${stateInWords(state)}, and can't be ${pastTense[action]}.`);
  }
  const isHosts = action === 'restore' && stateSide === 'host';
  const side = sides.find((one) => found.sides.includes(one) && (one === 'host' || !isHosts));
  if (side === undefined) {
    const whose = isHosts ? "the application's team, which yanked it" : "the application's team alone";
    throw new DomainError('forbidden', `Version ${number} can be ${pastTense[action]} by ${whose}.`);
  }
  return { state: found.to, side };
}
