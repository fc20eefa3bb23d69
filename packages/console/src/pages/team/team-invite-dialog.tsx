import type { App, InvitationLink, MemberRole } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { TextField } from '../../components/field.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useApi } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { asRole, roleChoices } from './use-app.ts';

/** Makes an invitation to the team, and shows its link once. */
export function TeamInviteDialog(props: {
  readonly app: App;
  /** An invitation was made: the list of them is out of date. */
  readonly onInvited: () => void;
  readonly onClose: () => void;
}) {
  const { app, onInvited, onClose } = props;
  const api = useApi();
  const [role, setRole] = useState<MemberRole>('admin');
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [link, setLink] = useState<string>();
  const { submit, isBusy, error, fieldError } = useSubmit(async () => {
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
    <Dialog title="Invite to the team" onClose={onClose}>
      <form onSubmit={submit}>
        <RadioGroup legend="Role" name="role" options={roleChoices} value={role} onChange={setRole} />
        <TextField
          label="Name"
          name="name"
          value={name}
          onInput={setName}
          isRequired={false}
          maxLength={200}
          error={fieldError('name')}
          hint="Only your team sees the name and the address."
        />
        <TextField
          label="E-mail address"
          name="email"
          value={email}
          onInput={setEmail}
          isRequired={false}
          maxLength={320}
          error={fieldError('email')}
          hint="No e-mail is sent. You get a link to pass on."
        />
        <ErrorView error={error} />
        <div class="actions actions-end">
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" isBusy={isBusy}>
            Create link
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
