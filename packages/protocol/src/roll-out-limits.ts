/** Whether a roll-out in the state decides which guests get the version. */
export function isRollOutOpen(state: string): boolean {
  return state === 'running' || state === 'paused' || state === 'halted';
}

/** How many steps a plan has at most. */
export const maxRollOutSteps = 10;

/** How long a step lasts at most: 90 days. */
export const maxHoldSeconds = 90 * 24 * 60 * 60;

/** The name of a ring, a group of guests that steps name. */
export const ringPattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$';

/** How many reported calls a decision of a roll-out needs by default, and at most. */
export const [defaultMinCalls, maxMinCalls] = [20, 1_000_000];

/** The greatest multiple of the version before that a limit can be. */
export const maxRatio = 1000;
