import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { currentPath } from '../base-path.ts';
import { CurrentPasswordField, EmailField } from '../components/account-fields.tsx';
import { Link } from '../components/link.tsx';
import { Page } from '../components/page.tsx';
import { SubmitRow } from '../components/submit-row.tsx';
import { readLinkCode } from '../state/link-codes.ts';
import { markNavigated } from '../state/navigation.ts';
import { saveReturnPath } from '../state/return-path.ts';
import { useSession } from '../state/services.ts';
import { useSubmit } from '../state/use-submit.ts';

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
  const form = useSubmit(async () => {
    markNavigated(); // the heading of the page that replaces the form gets the focus
    await session.signIn({ email, password });
  }, ['email', 'password']);
  const maySignUp = view.status === 'ready' && (view.signUp === 'open' || readLinkCode('accept-invite') !== undefined);
  const isEnded = view.status === 'ready' && view.isEnded === true;
  return (
    <Page title={props.title ?? 'Sign in'} intro={props.intro ?? (isEnded ? ended : undefined)}>
      <form onSubmit={form.submit} class="stack">
        <EmailField value={email} onInput={setEmail} error={form.fieldError('email')} hasFocus />
        <CurrentPasswordField value={password} onInput={setPassword} error={form.fieldError('password')} />
        <SubmitRow form={form} action="Sign in" />
      </form>
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
          You need an invitation to create an account. Forgot your password? Ask the operator for a reset link.
        </p>
      )}
    </Page>
  );
}

const ended = 'You were signed out: your session ended, or you signed out in another tab.';
