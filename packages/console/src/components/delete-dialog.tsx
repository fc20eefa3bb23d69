import type { ComponentChildren } from 'preact';
import { useServices } from '../state/services.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';

interface DeleteDialogProps {
  readonly title: string;
  readonly action: string;
  readonly children: ComponentChildren;
  /** The resource's path in the API. */
  readonly apiPath: string;
  /** The toast afterwards. */
  readonly done: string;
  /** Text that must be typed to enable the button. */
  readonly typed?: string | undefined;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Confirms the deletion of a resource, and deletes it. */
export function DeleteDialog({ apiPath, done, onDone, ...dialog }: DeleteDialogProps) {
  const { session, toasts } = useServices();
  const remove = async (): Promise<void> => {
    await session.api.delete(apiPath);
    dialog.onClose();
    toasts.show(done);
    onDone();
  };
  return <ConfirmDialog {...dialog} onConfirm={remove} />;
}
