import type { NavigationPrompt } from '../state/use-navigation-guard.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Asks for confirmation before leaving loses unsaved changes or stops an upload. */
export function LeaveDialog({
  question: { isAsking, leave, stay },
  title = 'Leave without saving?',
  text = 'Your changes are not saved.',
}: {
  readonly question: NavigationPrompt;
  readonly title?: string;
  readonly text?: string;
}) {
  if (!isAsking) return null;
  return (
    <Dialog title={title} onClose={stay}>
      <div class="stack">
        <p>{text}</p>
        <div class="actions actions-end">
          <Button kind="quiet" onClick={stay} hasFocus>
            Stay
          </Button>
          <Button kind="danger" onClick={leave}>
            Leave
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
