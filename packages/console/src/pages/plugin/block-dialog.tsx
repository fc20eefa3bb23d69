import type { Plugin } from '@tenon/protocol';
import { ActionDialog, type ActionDialogProps } from './action-dialog.tsx';
import { undoOfBlocking } from './undo-action.ts';

/** Blocks a plugin, or unblocks it. */
export function BlockDialog(
  props: ActionDialogProps & {
    readonly plugin: Pick<Plugin, 'status'>;
    /** The plugin's path in the API. */
    readonly apiPath: string;
  },
) {
  const { plugin, apiPath } = props;
  const path = `${apiPath}/block`;
  const undo = undoOfBlocking(plugin, apiPath);
  return plugin.status.state === 'blocked' ? (
    <ActionDialog
      {...props}
      words={{
        title: 'Unblock plugin?',
        text: 'Hosts get its versions again, and its publisher can publish.',
        button: 'Unblock plugin',
        done: 'Plugin unblocked.',
      }}
      action={{ method: 'DELETE', path }}
      undo={undo}
    />
  ) : (
    <ActionDialog
      {...props}
      words={{
        title: 'Block plugin?',
        text: 'Hosts stop receiving it. Its publisher can neither publish a version nor delete it. Hosts that already have its content keep it.',
        button: 'Block plugin',
        done: 'Plugin blocked.',
      }}
      action={{ method: 'PUT', path }}
      undo={undo}
      lastUseOf={props.apiPath}
      reasonHint="The publisher will see this."
    />
  );
}
