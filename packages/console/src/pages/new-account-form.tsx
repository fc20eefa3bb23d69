import type { SignUpInput } from '@tenon/protocol';
import { minPasswordLength } from '@tenon/protocol/password-length';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ErrorView } from '../components/error-view.tsx';
import { PasswordField, TextField } from '../components/field.tsx';
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
  const { session } = useSession();
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { submit, isBusy, error, fieldError } = useSubmit(async () => {
    await session.signUp({ name, email, password, ...codes });
    onDone();
  }, ['name', 'email', 'password']);
  return (
    <form onSubmit={submit} class="stack">
      <TextField
        label="Your name"
        name="name"
        value={name}
        onInput={setName}
        autoComplete="name"
        maxLength={200}
        error={fieldError('name')}
        hint="Visible to the teams and guests that you work with."
        hasFocus
      />
      <TextField
        label="E-mail address"
        name="email"
        type="email"
        value={email}
        onInput={setEmail}
        autoComplete="username"
        error={fieldError('email')}
        hint="You sign in with it. No e-mail is sent."
      />
      <PasswordField
        label="Password"
        name="password"
        value={password}
        onInput={setPassword}
        autoComplete="new-password"
        error={fieldError('password')}
        hint={`At least ${minPasswordLength} characters. Try a few unrelated words.`}
      />
      <ErrorView error={error} />
      <div class="actions">
        <Button type="submit" isBusy={isBusy}>
          Create account
        </Button>
      </div>
    </form>
  );
}
