import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { currentPath } from '../base-path.ts';
import { CurrentPasswordField, EmailField } from '../components/account-fields.tsx';
import { Button } from '../components/button.tsx';
import { ErrorView } from '../components/error-view.tsx';
import { Link } from '../components/link.tsx';
import { Page } from '../components/page.tsx';
import { Providers } from '../components/providers.tsx';
import { SubmitRow } from '../components/submit-row.tsx';
import { readLinkCode } from '../state/link-codes.ts';
import { markNavigated } from '../state/navigation.ts';
import { hasPasskeyAutofill, hasPasskeys, stopPasskeyAutofill } from '../state/passkeys.ts';
import { saveReturnPath } from '../state/return-path.ts';
import { useSession } from '../state/services.ts';
import type { SecondFactor, Session } from '../state/session.ts';
import { useSubmit } from '../state/use-submit.ts';
import type { ForgottenPassword } from './forgotten-password.tsx';
import type { SecondFactorForm } from './second-factor-form.tsx';

/** The sign-in form. It replaces pages that require an account; after sign-in, the page itself renders at the same URL. */
export function SignInForm(props: {
  readonly title?: string;
  /** Why to sign in, if a program or a link opened the page. */
  readonly intro?: ComponentChildren;
  /** Why a sign-in at a provider failed. */
  readonly notice?: ComponentChildren;
  /** Replaces the link to sign-up below the form. */
  readonly children?: ComponentChildren;
}) {
  const { session, view } = useSession();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  /** The form that replaces this one, once it is loaded. */
  const [second, setSecond] = useState<{ readonly needed: SecondFactor; readonly Form: typeof SecondFactorForm }>();
  const [forgotten, setForgotten] = useState<{ readonly Form: typeof ForgottenPassword }>();
  const form = useSubmit(async () => {
    markNavigated(); // the heading of the page that replaces the form gets the focus
    const needed = await session.signIn({ email, password });
    setPassword('');
    if (needed !== undefined) setSecond({ needed, Form: (await import('./second-factor-form.tsx')).SecondFactorForm });
  }, ['email', 'password']);
  const passkey = useSubmit(async () => {
    markNavigated();
    await session.signInWithPasskey();
  });
  usePasskeyAutofill(session, second === undefined && !passkey.isBusy);
  const forgot = useSubmit(async () =>
    setForgotten({ Form: (await import('./forgotten-password.tsx')).ForgottenPassword }),
  );
  const ready = view.status === 'ready' ? view : undefined;
  const invitationCode = readLinkCode('accept-invite');
  const maySignUp = ready?.signUp === 'open' || invitationCode !== undefined;
  const hasPasswords = ready?.passwordSignIn !== false;
  const sendsMail = hasPasswords && ready?.sendsMail;
  if (second !== undefined) return <second.Form secondFactor={second.needed} onBack={() => setSecond(undefined)} />;
  if (forgotten !== undefined) return <forgotten.Form email={email} onBack={() => setForgotten(undefined)} />;
  return (
    <Page title={props.title ?? 'Sign in'} intro={props.intro ?? (ready?.isEnded ? ended : undefined)}>
      {props.notice}
      {hasPasswords ? (
        <form onSubmit={form.submit} class="stack">
          <EmailField value={email} onInput={setEmail} error={form.fieldError('email')} hasFocus />
          <CurrentPasswordField value={password} onInput={setPassword} error={form.fieldError('password')} />
          <SubmitRow form={form} action="Sign in" />
        </form>
      ) : null}
      {hasPasskeys() ? (
        <>
          <ErrorView error={passkey.error} />
          <p>
            <Button kind="quiet" isBusy={passkey.isBusy} onClick={passkey.submit}>
              Use a passkey
            </Button>
          </p>
        </>
      ) : null}
      <Providers codes={invitationCode ? { invitationCode } : {}} />
      {sendsMail ? (
        <p>
          <Button kind="quiet" onClick={forgot.submit}>
            Forgot your password?
          </Button>
        </p>
      ) : null}
      {props.children ??
        (!hasPasswords ? null : maySignUp ? (
          <p class="soft">
            New here?{' '}
            <Link to="/sign-up" onClick={() => saveReturnPath(currentPath())}>
              Create an account
            </Link>
          </p>
        ) : (
          <p class="soft small">
            You need an invitation to create an account.
            {sendsMail ? null : ' Forgot your password? Ask the operator for a reset link.'}
          </p>
        ))}
    </Page>
  );
}

/** Offers passkeys in the field of the e-mail address, where the browser can. Its errors are no use: the button shows its own. */
function usePasskeyAutofill(session: Session, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    let isWaiting = false;
    let isGone = false;
    const offer = async (): Promise<void> => {
      if (!(await hasPasskeyAutofill()) || isGone) return;
      isWaiting = true;
      await session.signInWithPasskey(true).catch(() => undefined);
      isWaiting = false;
    };
    void offer();
    return () => {
      isGone = true;
      if (isWaiting) void stopPasskeyAutofill();
    };
  }, [isOn]);
}

const ended = 'You were signed out: your session ended, or you signed out in another tab.';
