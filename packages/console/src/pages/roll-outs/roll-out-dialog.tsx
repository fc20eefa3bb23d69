import type { RollOut } from '@tenon/protocol';
import { ActionDialog, type ActionDialogProps, type ActionWords } from '../plugin/action-dialog.tsx';
import type { PluginAction } from '../plugin/plugin-action.ts';
import { guestsOf } from './plan-draft.ts';
import { previousInWords, type RollOutAction } from './roll-out-words.ts';

/** Confirms an action on a roll-out, and shows what it changes for hosts. */
export function RollOutDialog(
  props: ActionDialogProps & {
    readonly action: RollOutAction;
    readonly rollOut: RollOut;
    /** The path of the roll-out in the API. */
    readonly apiPath: string;
    readonly isPublishedByOther: boolean;
  },
) {
  const { action, rollOut, apiPath, isPublishedByOther } = props;
  return (
    <ActionDialog
      {...props}
      words={wordsOf(action, rollOut)}
      action={requestOf(action, rollOut, apiPath)}
      {...(action === 'abort' && {
        reasonHint: isPublishedByOther ? 'The publisher will see this.' : 'You and the team see this in the history.',
      })}
    />
  );
}

function requestOf(action: RollOutAction, { step }: RollOut, apiPath: string): PluginAction {
  const isPromotion = action === 'promote' || action === 'promoteToAll';
  return {
    method: 'POST',
    path: `${apiPath}/${isPromotion ? 'promote' : action}`,
    // Fails if the roll-out is in another step than the one that the dialog shows.
    ...(isPromotion && { json: { step, full: action === 'promoteToAll' } }),
  };
}

function wordsOf(action: RollOutAction, rollOut: RollOut): ActionWords {
  const { version, plan, step, state } = rollOut;
  const next = plan?.steps[step + 1];
  const previous = previousInWords(rollOut);
  switch (action) {
    case 'promote':
      return {
        title: `Promote version ${version} to the next step?`,
        text: next === undefined ? 'All guests get it.' : `The next step is ${guestsOf(next)}. It begins now.`,
        button: 'Promote',
        done: `Version ${version} promoted.`,
      };
    case 'promoteToAll':
      return {
        title: `Promote version ${version} to all guests?`,
        text: 'All guests get it now, and the roll-out ends.',
        button: 'Promote to all guests',
        done: `Version ${version} promoted to all guests.`,
      };
    case 'pause':
      return {
        title: `Pause the roll-out of version ${version}?`,
        text: 'Guests keep the version that they have. The next step waits until you resume.',
        button: 'Pause',
        done: 'Roll-out paused.',
      };
    case 'resume':
      return {
        title: `Resume the roll-out of version ${version}?`,
        text:
          state === 'halted'
            ? 'The guests of this step get the version again. The reports before count no more.'
            : 'The step holds for its whole time, from now.',
        button: 'Resume',
        done: 'Roll-out resumed.',
      };
    case 'abort':
      return {
        title: `Abort the roll-out of version ${version}?`,
        text: `Yanks the version: all guests get ${previous}. To roll it out again, restore it.`,
        button: 'Abort roll-out',
        done: 'Roll-out aborted.',
      };
  }
}
