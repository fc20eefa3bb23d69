import { ActionDialog, type ActionDialogProps } from './action-dialog.tsx';

/** Blocks a plugin, or unblocks it. */
export function BlockDialog(
  props: ActionDialogProps & {
    readonly isBlocked: boolean;
    /** The plugin's path in the API. */
    readonly apiPath: string;
  },
) {
  const path = `${props.apiPath}/block`;
  return props.isBlocked ? (
    <ActionDialog
      {...props}
      words={{
        title: 'Unblock plugin?',
        text: 'Hosts get its versions again, and its publisher can publish.',
        button: 'Unblock plugin',
        done: 'Plugin unblocked.',
      }}
      action={{ method: 'DELETE', path }}
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
      reasonHint="The publisher will see this."
    />
  );
}
