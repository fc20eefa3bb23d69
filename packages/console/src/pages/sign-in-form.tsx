import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { currentPath } from '../base-path.ts';
import { Button } from '../components/button.tsx';
import { ErrorView } from '../components/error-view.tsx';
import { PasswordField, TextField } from '../components/field.tsx';
import { Link } from '../components/link.tsx';
import { Page } from '../components/page.tsx';
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
  const { submit, isBusy, error, fieldError } = useSubmit(async () => {
    markNavigated(); // the heading of the page that replaces the form gets the focus
    await session.signIn({ email, password });
  }, ['email', 'password']);
  const maySignUp = view.status === 'ready' && (view.signUp === 'open' || readLinkCode('accept-invite') !== undefined);
  const isEnded = view.status === 'ready' && view.isEnded === true;
  return (
    <Page title={props.title ?? 'Sign in'} intro={props.intro ?? (isEnded ? ended : undefined)}>
      <form onSubmit={submit} class="stack">
        <TextField
          label="E-mail address"
          name="email"
          type="email"
          value={email}
          onInput={setEmail}
          autoComplete="username"
          error={fieldError('email')}
          hasFocus
        />
        <PasswordField
          label="Password"
          name="password"
          value={password}
          onInput={setPassword}
          autoComplete="current-password"
          error={fieldError('password')}
        />
        <ErrorView error={error} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy}>
            Sign in
          </Button>
        </div>
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
