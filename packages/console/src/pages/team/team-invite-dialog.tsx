import type { App, InvitationLink, MemberRole } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { FormDialog } from '../../components/form-dialog.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useApi, useToast } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { InviteeFields, useInvitee } from './invitee-fields.tsx';
import { roleChoices } from './use-app.ts';

/** Creates an invitation to the team, and shows its link once. */
export function TeamInviteDialog(props: {
  readonly app: App;
  /** Called after creation. The list of invitations is out of date then. */
  readonly onInvited: () => void;
  readonly onClose: () => void;
}) {
  const { app, onInvited, onClose } = props;
  const api = useApi();
  const toast = useToast();
  const [role, setRole] = useState<MemberRole>('admin');
  const invitee = useInvitee();
  const [link, setLink] = useState<string>();
  const form = useSubmit(async () => {
    const invited = await api.post<InvitationLink>(`/api/v1/apps/${app.id}/members`, { role, ...invitee.body });
    onInvited();
    if (!invitee.isMailed) return setLink(invited.link);
    toast(`The invitation to ${invitee.email.trim()} is on its way.`);
    onClose();
  }, ['name', 'email']);

  if (link !== undefined) {
    return (
      <SecretDialog title="Invitation link" secret={link} what="the link" onClose={onClose}>
        <p>
          Send it to the new {role}. It works once, for 7 days by default. The person sees the application, your name
          and the role, and joins the team by accepting.
        </p>
      </SecretDialog>
    );
  }
  return (
    <FormDialog
      title="Invite to the team"
      action={invitee.isMailed ? 'Send invitation' : 'Create link'}
      form={form}
      onClose={onClose}
    >
      <p class="soft">
        {invitee.isMailed
          ? 'The person gets a mail with a link. They'
          : 'You get a link, and send it to the person yourself. They'}{' '}
        open it, sign in or create an account, and join the team by accepting. Until then, you can revoke the invitation
        or create a new link.
      </p>
      <RadioGroup legend="Role" name="role" options={roleChoices} value={role} onChange={setRole} hasFocus />
      <InviteeFields invitee={invitee} form={form} />
    </FormDialog>
  );
}
