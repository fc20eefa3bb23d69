import type { App, InvitationLink } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { CheckboxField } from '../../components/field.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useApi, useSendsMail } from '../../state/services.ts';

/** Gives an invitation another link, after a question, and shows it once. */
export function RenewButton(props: {
  readonly app: App;
  readonly invitationId: string;
  /** Whom the invitation is for. */
  readonly whom: string;
  /** The address to which the server can mail the link. */
  readonly email: string | null;
  /** Called after the change. The list of invitations is out of date then. */
  readonly onRenewed: () => void;
}) {
  const { app, invitationId, whom, email, onRenewed } = props;
  const canBeMailed = useSendsMail() && email !== null;
  const [isMailed, setMailed] = useState(false);
  const api = useApi();
  const [isAsking, setAsking] = useState(false);
  const [link, setLink] = useState<string>();
  const close = (): void => {
    setAsking(false);
    setLink(undefined);
  };
  const renew = async (): Promise<void> => {
    setLink(
      (
        await api.post<InvitationLink>(`/api/v1/apps/${app.id}/invitations/${invitationId}/renew`, {
          deliveryMethod: isMailed ? 'email' : 'link',
        })
      ).link,
    );
    onRenewed();
  };
  return (
    <>
      <Button kind="quiet" isSmall label={`Create a new link for ${whom}`} onClick={() => setAsking(true)}>
        New link…
      </Button>
      {link !== undefined ? (
        <SecretDialog title="New invitation link" secret={link} what="the link" onClose={close}>
          <p>
            {isMailed ? `A mail to ${email} is on its way. This link works too.` : `Send it to ${whom}.`} It works once,
            for 7 days by default. The previous link doesn’t work.
          </p>
        </SecretDialog>
      ) : isAsking ? (
        <ConfirmDialog
          title="Create a new link?"
          action="Create link"
          isDangerous={false}
          onConfirm={renew}
          onClose={close}
        >
          <p>The invitation gets a new link and a full lifetime. The previous link stops working.</p>
          {canBeMailed ? (
            <CheckboxField label={`Send it to ${email}`} name="isMailed" isChecked={isMailed} onChange={setMailed} />
          ) : null}
        </ConfirmDialog>
      ) : null}
    </>
  );
}
