import type { Version } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { ReasonDialog } from '../../components/reason-dialog.tsx';
import { useServices } from '../../state/services.ts';
import { Effects } from './effects.tsx';
import { isReturnToNewest, type PluginModel, type VersionAction } from './plugin-model.ts';

/** Asks before something is done to a version: what it means, and what programs get then. */
export function VersionDialog(props: {
  readonly action: VersionAction;
  readonly version: Pick<Version, 'number'>;
  readonly model: PluginModel;
  /** Where the plugin is in the API. */
  readonly apiPath: string;
  readonly guests: ReadonlyMap<string, string>;
  /** Whether it is done for the application's team, to somebody else's plugin. */
  readonly isHost: boolean;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const { action, model, apiPath, onDone, onClose, isHost } = props;
  const { number } = props.version;
  const { session, toasts } = useServices();
  const isReturn = action === 'rollBack' && isReturnToNewest(model, number);
  const words = actionText(action, number, isReturn);
  const send = async (reason?: string): Promise<void> => {
    const body = action === 'rollBack' ? { version: number } : reason === undefined ? undefined : { reason };
    const path = action === 'rollBack' ? `${apiPath}/rollback` : `${apiPath}/versions/${number}/${action}`;
    await session.api.post(path, body);
    onClose();
    toasts.show(words.done);
    onDone();
  };
  const content: ComponentChildren = (
    <>
      <p>{words.text}</p>
      <Effects model={model} change={{ kind: action, version: number }} guests={props.guests} />
    </>
  );
  if (action === 'yank' || action === 'reject') {
    return (
      <ReasonDialog
        title={words.title}
        action={words.button}
        hint={isHost ? 'Who published it reads this.' : 'It stands in the history, where you and the team read it.'}
        onConfirm={send}
        onClose={onClose}
      >
        {content}
      </ReasonDialog>
    );
  }
  return (
    <ConfirmDialog
      title={words.title}
      action={words.button}
      isDangerous={false}
      onConfirm={() => send()}
      onClose={onClose}
    >
      {content}
    </ConfirmDialog>
  );
}

interface Words {
  readonly title: string;
  readonly text: string;
  readonly button: string;
  readonly done: string;
}

function actionText(action: VersionAction, number: number, isReturn: boolean): Words {
  switch (action) {
    case 'rollBack':
      return isReturn
        ? {
            title: `Go back to version ${number}?`,
            text: 'It is the newest that is published: the roll back ends, and further versions follow as they come.',
            button: 'Go back to it',
            done: `Version ${number} is in use again.`,
          }
        : {
            title: `Roll back to version ${number}?`,
            text: 'It is used in place of the newer ones until the next version is published, or until somebody goes back to the newest.',
            button: 'Roll back',
            done: `Rolled back to version ${number}.`,
          };
    case 'yank':
      return {
        title: `Yank version ${number}?`,
        text: 'It is taken back: no program that asks from now on is told of it. Those that were told before can still fetch its bytes. It can be restored.',
        button: 'Yank the version',
        done: `Version ${number} is yanked.`,
      };
    case 'restore':
      return {
        title: `Restore version ${number}?`,
        text: 'It counts as published again, as if it had not been yanked.',
        button: 'Restore the version',
        done: `Version ${number} is published again.`,
      };
    case 'approve':
      return {
        title: `Approve version ${number}?`,
        text: 'It is published with that, and follows the version before it.',
        button: 'Approve the version',
        done: `Version ${number} is approved.`,
      };
    case 'reject':
      return {
        title: `Reject version ${number}?`,
        text: 'It is never used, and this can’t be taken back. Who published it can send another version.',
        button: 'Reject the version',
        done: `Version ${number} is rejected.`,
      };
  }
}
