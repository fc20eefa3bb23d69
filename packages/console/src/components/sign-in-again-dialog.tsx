import { useState } from 'preact/hooks';
import { hasPasskeys } from '../state/passkeys.ts';
import { useServices } from '../state/services.ts';
import type { SignInRequest } from '../state/session.ts';
import { useStore } from '../state/store.ts';
import { useSubmit } from '../state/use-submit.ts';
import { CurrentPasswordField } from './account-fields.tsx';
import { Button } from './button.tsx';
import { ErrorView } from './error-view.tsx';
import { FormDialog } from './form-dialog.tsx';
import { Providers } from './providers.tsx';

/** Asks for the password over the current page after the session has ended. The page below keeps its state and is hidden. */
export function SignInAgainDialog() {
  const request = useStore(useServices().session.signInRequest);
  return request === undefined ? null : <SignInAgainForm request={request} />;
}

function SignInAgainForm({
  request: { account, signIn, signInWithPasskey, giveUp },
}: {
  readonly request: SignInRequest;
}) {
  const { hasPassword } = account;
  const [password, setPassword] = useState('');
  const form = useSubmit(() => (hasPassword ? signIn(password) : signInWithPasskey()));
  const passkey = useSubmit(signInWithPasskey);
  return (
    <div class="sign-in-again">
      <FormDialog
        title="Sign in again"
        action={hasPassword ? 'Sign in' : 'Use a passkey'}
        cancel="Use another account"
        isFirm
        form={form}
        onClose={giveUp}
      >
        <p>
          Your session expired or was ended from another device.
          {hasPassword ? ' Sign in to continue where you were. What you typed is kept.' : null}
        </p>
        <p>
          {account.name} <span class="soft">{account.email}</span>
        </p>
        <input type="email" name="email" value={account.email ?? ''} autocomplete="username" readOnly hidden />
        {hasPassword ? (
          <CurrentPasswordField value={password} onInput={setPassword} hasFocus />
        ) : (
          <Providers codes={{}} />
        )}
        {hasPassword && hasPasskeys() ? (
          <p>
            <Button kind="quiet" isSmall isBusy={passkey.isBusy} onClick={passkey.submit}>
              Use a passkey
            </Button>
          </p>
        ) : null}
        <ErrorView error={passkey.error} />
      </FormDialog>
    </div>
  );
}
