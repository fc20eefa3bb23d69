import type { App, InvitationLink, MemberRole } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useApi } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { asRole, roleChoices } from './use-app.ts';

/** Creates an invitation to the team, and shows its link once. */
export function TeamInviteDialog(props: {
  readonly app: App;
  /** Called after creation. The list of invitations is out of date then. */
  readonly onInvited: () => void;
  readonly onClose: () => void;
}) {
  const { app, onInvited, onClose } = props;
  const api = useApi();
  const [role, setRole] = useState<MemberRole>('admin');
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [link, setLink] = useState<string>();
  const form = useSubmit(async () => {
    const notes = { ...(name.trim() === '' ? {} : { name }), ...(email.trim() === '' ? {} : { email }) };
    setLink((await api.post<InvitationLink>(`/api/v1/apps/${app.id}/members`, { role, ...notes })).link);
    onInvited();
  }, ['name', 'email']);

  if (link !== undefined) {
    return (
      <SecretDialog title="The invitation’s link" secret={link} what="the link" onClose={onClose}>
        <p>
          Send it to the person who is to become {asRole(role)}. It works once. The person sees the application, your
          name and the role, and joins the team by accepting.
        </p>
      </SecretDialog>
    );
  }
  return (
    <FormDialog title="Invite to the team" action="Create link" form={form} onClose={onClose}>
      <RadioGroup legend="Role" name="role" options={roleChoices} value={role} onChange={setRole} hasFocus />
      <TextField
        label="Name"
        name="name"
        value={name}
        onInput={setName}
        isRequired={false}
        maxLength={200}
        error={form.fieldError('name')}
        hint="Only your team sees the name and the address."
      />
      <TextField
        label="E-mail address"
        name="email"
        value={email}
        onInput={setEmail}
        isRequired={false}
        maxLength={320}
        error={form.fieldError('email')}
        hint="No e-mail is sent. You get a link to pass on."
      />
    </FormDialog>
  );
}
