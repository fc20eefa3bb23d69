import type { SignUpInput } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { EmailField, NewPasswordField, YourNameField } from '../components/account-fields.tsx';
import { Providers } from '../components/providers.tsx';
import { SubmitRow } from '../components/submit-row.tsx';
import { useSession } from '../state/services.ts';
import { useSubmit } from '../state/use-submit.ts';

/** Creates an account and signs in. */
export function NewAccountForm({
  codes,
  onDone,
}: {
  /** The code that allows sign-up on a server where it is restricted. */
  readonly codes: Pick<SignUpInput, 'invitationCode' | 'linkCode'>;
  readonly onDone: () => void;
}) {
  const { session, view } = useSession();
  const sendsMail = view.status === 'ready' && view.sendsMail;
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const form = useSubmit(async () => {
    await session.signUp({ name, email, password, ...codes });
    onDone();
  }, ['name', 'email', 'password']);
  const providers = <Providers codes={codes} />;
  if (view.status === 'ready' && !view.passwordSignIn) return providers;
  return (
    <>
      <form onSubmit={form.submit} class="stack">
        <YourNameField value={name} onInput={setName} error={form.fieldError('name')} hasFocus />
        <EmailField
          hint={sendsMail ? 'You sign in with it.' : 'You sign in with it. No e-mail is sent.'}
          value={email}
          onInput={setEmail}
          error={form.fieldError('email')}
        />
        <NewPasswordField
          label="Password"
          name="password"
          value={password}
          onInput={setPassword}
          error={form.fieldError('password')}
        />
        <SubmitRow form={form} action="Create account" />
      </form>
      {providers}
    </>
  );
}
