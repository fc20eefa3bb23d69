import type { PasswordLink, UserDetails } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Section } from '../../components/page.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useApi } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';

interface Props {
  readonly user: UserDetails;
  readonly apiPath: string;
  readonly onChanged: () => void;
}

/** Creates a link that sets the user's password, and shows it once. */
export function PasswordLinkSection(props: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section isBeside title="Password" intro="A user who forgot the password needs a link that sets a new one.">
      {props.user.suspendedAt === null ? (
        <Button kind="quiet" onClick={() => setOpen(true)}>
          Create a password link…
        </Button>
      ) : (
        <p class="soft">A suspended user can’t use a password link.</p>
      )}
      {isOpen ? <PasswordLinkDialog {...props} onClose={() => setOpen(false)} /> : null}
    </Section>
  );
}

function PasswordLinkDialog({ user, apiPath, onChanged, onClose }: Props & { readonly onClose: () => void }) {
  const api = useApi();
  const [email, setEmail] = useState('');
  const [link, setLink] = useState<string>();
  const hasEmail = user.email !== null;
  const form = useSubmit(async () => {
    const body = hasEmail ? {} : { email };
    setLink((await api.post<PasswordLink>(`${apiPath}/password-link`, body)).link);
    if (!hasEmail) onChanged();
  }, ['email']);
  if (link !== undefined) {
    return (
      <SecretDialog title="Password link" secret={link} what="the link" onClose={onClose}>
        <p>Send it to {user.name} privately: it works for the first person who opens it, once, within a day.</p>
      </SecretDialog>
    );
  }
  return (
    <FormDialog title="Create a password link" action="Create the link" form={form} onClose={onClose}>
      <p>
        The person who uses the link sets the password and is signed in as {user.name}. This ends the account’s sessions
        and, unless the person chooses otherwise, revokes its tokens and keys.
      </p>
      {hasEmail ? (
        <p>
          They sign in with <strong>{user.email}</strong>, an address that may be unverified.
        </p>
      ) : (
        <TextField
          label="E-mail address to sign in with"
          name="email"
          type="email"
          value={email}
          onInput={setEmail}
          error={form.fieldError('email')}
          isRequired
          hasFocus
        />
      )}
    </FormDialog>
  );
}
