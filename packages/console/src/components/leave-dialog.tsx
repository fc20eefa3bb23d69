import type { LeaveQuestion } from '../state/use-leave-question.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Asks who is about to lose unsaved changes. */
export function LeaveDialog({ question: { isAsking, leave, stay } }: { readonly question: LeaveQuestion }) {
  if (!isAsking) return null;
  return (
    <Dialog title="Leave without saving?" onClose={stay}>
      <div class="stack">
        <p>What you have changed here is not saved.</p>
        <div class="actions actions-end">
          <Button kind="quiet" onClick={stay}>
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
