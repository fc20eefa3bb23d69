import type { InvitationPreview, InvitationSettled } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { Page } from '../../components/page.tsx';
import { SignedInAs } from '../../components/signed-in-as.tsx';
import { Time } from '../../components/time.tsx';
import { useServices } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { Terms } from './terms.tsx';

/** The invitation for a signed-in user: Accept or Decline. */
export function Answer(props: {
  readonly code: string;
  readonly preview: InvitationPreview;
  /** Called with the server's response. */
  readonly onAnswered: (settled: InvitationSettled) => void;
  /** Called with an error; returns whether it means that the invitation can't be used any more. */
  readonly onRefused: (error: unknown) => boolean;
}) {
  const { preview, onAnswered, onRefused } = props;
  const { app, expiresAt } = preview;
  const { session } = useServices();
  const [isDeclining, setDeclining] = useState(false);

  const send = async (answer: 'accept' | 'decline'): Promise<void> => {
    try {
      onAnswered(await session.api.post<InvitationSettled>(`/api/v1/invitations/${answer}`, { code: props.code }));
      void session.load(); // a member of a team may do more
    } catch (error) {
      if (!onRefused(error)) throw error;
    }
  };
  const { submit, isBusy, error } = useSubmit(() => send('accept'));

  return (
    <Page title={`${app.name} invites you`}>
      <Terms preview={preview} />
      <SignedInAs />
      <ErrorView error={error} />
      <div class="choice">
        <Button onClick={submit} isBusy={isBusy}>
          Accept
        </Button>
        <Button kind="quiet" onClick={() => setDeclining(true)} isDisabled={isBusy}>
          Decline
        </Button>
      </div>
      <p class="soft small">
        The invitation expires <Time at={expiresAt} />.
      </p>
      {isDeclining ? (
        <ConfirmDialog
          title="Decline the invitation?"
          action="Decline"
          onConfirm={() => send('decline')}
          onClose={() => setDeclining(false)}
        >
          <p>The link stops working. If you change your mind, ask the team to invite you again.</p>
        </ConfirmDialog>
      ) : null}
    </Page>
  );
}
