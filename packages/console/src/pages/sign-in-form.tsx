import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { currentPath } from '../base-path.ts';
import { CurrentPasswordField, EmailField } from '../components/account-fields.tsx';
import { Button } from '../components/button.tsx';
import { Link } from '../components/link.tsx';
import { Page } from '../components/page.tsx';
import { SubmitRow } from '../components/submit-row.tsx';
import { readLinkCode } from '../state/link-codes.ts';
import { markNavigated } from '../state/navigation.ts';
import { saveReturnPath } from '../state/return-path.ts';
import { useSession } from '../state/services.ts';
import { useSubmit } from '../state/use-submit.ts';
import type { ForgottenPassword } from './forgotten-password.tsx';

/** The sign-in form. It replaces pages that require an account; after sign-in, the page itself renders at the same URL. */
export function SignInForm(props: {
  readonly title?: string;
  /** Why to sign in, if a program or a link opened the page. */
  readonly intro?: ComponentChildren;
  /** Replaces the link to sign-up below the form. */
  readonly children?: ComponentChildren;
}) {
  const { session, view } = useSession();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  /** The form that replaces this one, once it is loaded. */
  const [forgotten, setForgotten] = useState<{ readonly Form: typeof ForgottenPassword }>();
  const form = useSubmit(async () => {
    markNavigated(); // the heading of the page that replaces the form gets the focus
    await session.signIn({ email, password });
  }, ['email', 'password']);
  const forgot = useSubmit(async () =>
    setForgotten({ Form: (await import('./forgotten-password.tsx')).ForgottenPassword }),
  );
  const maySignUp = view.status === 'ready' && (view.signUp === 'open' || readLinkCode('accept-invite') !== undefined);
  const sendsMail = view.status === 'ready' && view.sendsMail;
  const isEnded = view.status === 'ready' && view.isEnded === true;
  if (forgotten !== undefined) return <forgotten.Form email={email} onBack={() => setForgotten(undefined)} />;
  return (
    <Page title={props.title ?? 'Sign in'} intro={props.intro ?? (isEnded ? ended : undefined)}>
      <form onSubmit={form.submit} class="stack">
        <EmailField value={email} onInput={setEmail} error={form.fieldError('email')} hasFocus />
        <CurrentPasswordField value={password} onInput={setPassword} error={form.fieldError('password')} />
        <SubmitRow form={form} action="Sign in" />
      </form>
      {sendsMail ? (
        <p>
          <Button kind="quiet" onClick={forgot.submit}>
            Forgot your password?
          </Button>
        </p>
      ) : null}
      {props.children !== undefined ? (
        props.children
      ) : maySignUp ? (
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
      )}
    </Page>
  );
}

const ended = 'You were signed out: your session ended, or you signed out in another tab.';
