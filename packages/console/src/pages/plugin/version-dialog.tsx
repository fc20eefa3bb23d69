import type { Version } from '@tenon/protocol';
import { ActionDialog, type ActionDialogProps, type ActionWords } from './action-dialog.tsx';
import type { PluginAction } from './plugin-action.ts';
import type { VersionAction } from './version-actions.ts';

/** Confirms an action on a version. */
export function VersionDialog(
  props: ActionDialogProps & {
    readonly action: VersionAction;
    readonly version: Pick<Version, 'number'>;
    /** Whether this is the newest version, so that rolling back to it only ends earlier rollbacks. */
    readonly endsRollback?: boolean;
    /** The plugin's path in the API. */
    readonly apiPath: string;
    /** Whether the plugin belongs to another user. */
    readonly isPublishedByOther: boolean;
  },
) {
  const { action, version, endsRollback = false, apiPath, isPublishedByOther } = props;
  const { number } = version;
  const needsReason = action === 'yank' || action === 'reject';
  const hint = isPublishedByOther ? 'The publisher will see this.' : 'You and the team see this in the history.';
  const request: PluginAction =
    action === 'rollBack'
      ? { method: 'POST', path: `${apiPath}/rollback`, json: { version: number } }
      : { method: 'POST', path: `${apiPath}/versions/${number}/${action}` };
  return (
    <ActionDialog
      {...props}
      words={wordsOf(action, number, endsRollback)}
      action={request}
      {...(needsReason && { reasonHint: hint })}
    />
  );
}

function wordsOf(action: VersionAction, number: number, endsRollback: boolean): ActionWords {
  switch (action) {
    case 'rollBack':
      return endsRollback
        ? {
            title: `Use version ${number} again?`,
            text: 'This ends the rollback: hosts get the newest version, and later versions as they are published.',
            button: `Use version ${number}`,
            done: `Version ${number} is active again.`,
          }
        : {
            title: `Roll back to version ${number}?`,
            text: 'Hosts get this version until a new one is published or the rollback ends.',
            button: 'Roll back',
            done: `Rolled back to version ${number}.`,
          };
    case 'yank':
      return {
        title: `Yank version ${number}?`,
        text: 'Hosts stop receiving this version. Hosts that already have its address can still fetch its content. You can restore it.',
        button: 'Yank version',
        done: `Version ${number} yanked.`,
      };
    case 'restore':
      return {
        title: `Restore version ${number}?`,
        text: 'The version is published again.',
        button: 'Restore version',
        done: `Version ${number} restored.`,
      };
    case 'approve':
      return {
        title: `Approve version ${number}?`,
        text: 'Approving publishes this version and replaces the previous one.',
        button: 'Approve version',
        done: `Version ${number} approved.`,
      };
    case 'reject':
      return {
        title: `Reject version ${number}?`,
        text: 'This version will never be published. You can’t undo this. The publisher can publish another version.',
        button: 'Reject version',
        done: `Version ${number} rejected.`,
      };
  }
}
