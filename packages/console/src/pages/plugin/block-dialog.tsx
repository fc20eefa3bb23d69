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

/** Blocks a publisher, with all plugins in the application, or unblocks the publisher. */
export function BlockPublisherDialog(
  props: ActionDialogProps & {
    readonly appId: string;
    readonly plugin: Pick<Plugin, 'status' | 'userId' | 'userName'>;
  },
) {
  const { appId, plugin } = props;
  const { status, userId, userName } = plugin;
  const path = `/api/v1/apps/${appId}/publishers/${userId}/block`;
  return status.isPublisherBlocked ? (
    <ActionDialog
      {...props}
      words={{
        title: `Unblock ${userName}?`,
        text: 'Hosts get the publisher’s plugins again, except plugins that are blocked themselves.',
        button: 'Unblock publisher',
        done: 'Publisher unblocked.',
      }}
      action={{ method: 'DELETE', path }}
    />
  ) : (
    <ActionDialog
      {...props}
      words={{
        title: `Block ${userName}?`,
        text: 'Hosts stop receiving all plugins of this publisher, at all extension points. The publisher can publish nothing here.',
        button: 'Block publisher',
        done: 'Publisher blocked.',
      }}
      action={{ method: 'PUT', path }}
      reasonHint="The publisher will see this."
    />
  );
}
