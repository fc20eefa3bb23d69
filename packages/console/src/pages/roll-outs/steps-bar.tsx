import type { RollOut } from '@tenon/protocol';
import { guestsOf, holdInWords } from './plan-draft.ts';

/** The steps of a roll-out, with the present one marked. */
export function StepsBar({ plan, step, state }: Pick<RollOut, 'plan' | 'step' | 'state'>) {
  if (plan === null) return null;
  const isOver = state === 'completed';
  const stages = [
    ...plan.steps.map((each) => ({ guests: guestsOf(each), hold: holdInWords(each.holdSeconds) })),
    ...(plan.steps.some((each) => guestsOf(each) === '100%') ? [] : [{ guests: 'all guests', hold: '' }]),
  ];
  return (
    <ol class={`roll-out-steps roll-out-${state}`} aria-label="Steps">
      {stages.map(({ guests, hold }, at) => {
        const stage = isOver || at < step ? 'done' : at === step ? 'current' : 'next';
        return (
          <li key={at} class={`roll-out-step-${stage}`} aria-current={stage === 'current' ? 'step' : undefined}>
            <span class="roll-out-step-guests">{guests}</span>
            <span class="soft small">{hold}</span>
            {stage === 'done' ? <span class="visually-hidden">done</span> : null}
          </li>
        );
      })}
    </ol>
  );
}
