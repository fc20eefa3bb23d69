import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { href } from '../base-path.ts';
import { NewPasswordField } from '../components/account-fields.tsx';
import { CheckboxField } from '../components/field.tsx';
import { SubmitRow } from '../components/submit-row.tsx';
import { clearLinkCode } from '../state/link-codes.ts';
import { useSession, useToast } from '../state/services.ts';
import type { SecondFactor } from '../state/session.ts';
import { useSubmit } from '../state/use-submit.ts';
import { OneTimeLinkPage } from './one-time-link.tsx';
import { SecondFactorForm } from './second-factor-form.tsx';

/** The page of an operator's link that resets a password. */
export function ResetPasswordPage() {
  const { view } = useSession();
  const { route } = useLocation();
  const [needed, setNeeded] = useState<SecondFactor>();
  const isSignedIn = needed !== undefined && view.status === 'ready' && view.account !== null;
  useEffect(() => {
    if (isSignedIn) route(href('/'), true);
  }, [isSignedIn]);
  if (needed !== undefined) {
    return <SecondFactorForm secondFactor={needed} onBack={() => route(href('/sign-in'), true)} />;
  }
  return (
    <OneTimeLinkPage kind="reset-password" title="Set a new password">
      {(code, { email }) => <NewPasswordForm code={code} email={email} onSecondFactor={setNeeded} />}
    </OneTimeLinkPage>
  );
}

function NewPasswordForm(props: {
  readonly code: string;
  readonly email: string | null;
  readonly onSecondFactor: (needed: SecondFactor) => void;
}) {
  const { code, email } = props;
  const { session } = useSession();
  const toast = useToast();
  const { route } = useLocation();
  const [password, setPassword] = useState('');
  const [revokeTokens, setRevokeTokens] = useState(true);
  const form = useSubmit(async () => {
    const needed = await session.resetPassword({ code, password, revokeTokens });
    clearLinkCode('reset-password');
    toast('Password changed.');
    if (needed === undefined) route(href('/'), true);
    else props.onSecondFactor(needed);
  }, ['password']);
  return (
    <form onSubmit={form.submit} class="stack">
      {email === null ? null : (
        <p>
          Account: <strong>{email}</strong>. Setting a password signs out every browser and cancels other password links
          and unfinished logins.
        </p>
      )}
      {/* Password managers look for the name that belongs to the password. */}
      <input type="hidden" name="email" autocomplete="username" value={email ?? ''} />
      <NewPasswordField
        label="New password"
        name="password"
        value={password}
        onInput={setPassword}
        error={form.fieldError('password')}
        hasFocus
      />
      <CheckboxField
        label="Revoke all access tokens and API keys"
        name="revokeTokens"
        isChecked={revokeTokens}
        onChange={setRevokeTokens}
        hint="Others may have created some. Programs that use them stop working. Clear the box to keep them."
      />
      <SubmitRow form={form} action="Set password and sign in" />
    </form>
  );
}
