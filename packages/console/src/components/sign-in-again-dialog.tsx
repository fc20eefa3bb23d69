import { useState } from 'preact/hooks';
import { useServices } from '../state/services.ts';
import type { SignInRequest } from '../state/session.ts';
import { useStore } from '../state/store.ts';
import { useSubmit } from '../state/use-submit.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorView } from './error-view.tsx';
import { PasswordField } from './field.tsx';

/** Asks for the password over the current page after the session has ended. The page below keeps its state and is hidden. */
export function SignInAgainDialog() {
  const request = useStore(useServices().session.signInRequest);
  return request === undefined ? null : <SignInAgainForm request={request} />;
}

function SignInAgainForm({ request: { account, signIn, giveUp } }: { readonly request: SignInRequest }) {
  const [password, setPassword] = useState('');
  const { submit, isBusy, error } = useSubmit(() => signIn(password));
  return (
    <div class="sign-in-again">
      <Dialog title="Sign in again" isFirm onClose={giveUp}>
        <form onSubmit={submit}>
          <p>
            Your session expired or was ended from another device. Sign in to continue where you were. What you typed is
            kept.
          </p>
          <p>
            {account.name} <span class="soft">{account.email}</span>
          </p>
          <input type="email" name="email" value={account.email ?? ''} autocomplete="username" readOnly hidden />
          <PasswordField
            label="Password"
            name="password"
            value={password}
            onInput={setPassword}
            autoComplete="current-password"
            hasFocus
          />
          <ErrorView error={error} />
          <div class="actions actions-end">
            <Button kind="quiet" onClick={giveUp}>
              Use another account
            </Button>
            <Button type="submit" isBusy={isBusy}>
              Sign in
            </Button>
          </div>
        </form>
      </Dialog>
    </div>
  );
}
