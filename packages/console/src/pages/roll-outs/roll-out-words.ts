import type { RollOut, RollOutState } from '@tenon/protocol';
import { count, counted } from '../../components/count.ts';

/** A state in a word or two. */
export const rollOutStates: Readonly<
  Record<RollOutState, { readonly word: string; readonly kind: 'plain' | 'good' | 'waiting' | 'bad' }>
> = {
  planned: { word: 'planned', kind: 'waiting' },
  running: { word: 'rolling out', kind: 'waiting' },
  paused: { word: 'paused', kind: 'waiting' },
  halted: { word: 'halted', kind: 'bad' },
  completed: { word: 'rolled out', kind: 'good' },
  aborted: { word: 'aborted', kind: 'bad' },
  superseded: { word: 'superseded', kind: 'plain' },
};

/** The step in words: `step 2 of 3`. */
export function stepInWords({ step, steps }: Pick<RollOut, 'step' | 'steps'>): string {
  return `step ${Math.min(step + 1, steps)} of ${steps}`;
}

/** How many guests have the version: `103 of 1,000 guests`. */
export function shareInWords({ reachedGuests, totalGuests }: Pick<RollOut, 'reachedGuests' | 'totalGuests'>): string {
  return `${count(reachedGuests)} of ${counted(totalGuests, 'guest')}`;
}

/** What the version that others get is called. */
export function previousInWords({ previousVersion }: Pick<RollOut, 'previousVersion'>): string {
  return previousVersion === null ? 'the version before' : `version ${previousVersion}`;
}

/** Which guests keep the version of a halted roll-out: only those that are pinned to it. */
export function exceptPinned({ reachedGuests }: Pick<RollOut, 'reachedGuests'>): string {
  if (reachedGuests === 0) return '';
  return reachedGuests === 1
    ? ', except 1 that is pinned to this version'
    : `, except ${count(reachedGuests)} that are pinned to this version`;
}

export type RollOutAction = 'pause' | 'resume' | 'promote' | 'promoteToAll' | 'abort';

/** The actions that a state allows. */
export function rollOutActions({ state, step, steps }: Pick<RollOut, 'state' | 'step' | 'steps'>): RollOutAction[] {
  const promotions: RollOutAction[] = step + 1 < steps ? ['promote', 'promoteToAll'] : ['promoteToAll'];
  switch (state) {
    case 'running':
      return [...promotions, 'pause', 'abort'];
    case 'paused':
      return ['resume', ...promotions, 'abort'];
    case 'halted':
      return ['resume', 'abort'];
    default:
      return [];
  }
}
