import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { href } from '../base-path.ts';
import { takeReturnPath } from '../state/return-path.ts';
import { useSession } from '../state/services.ts';
import { SignInForm } from './sign-in-form.tsx';

/** The sign-in page. */
export function SignInPage() {
  const { view } = useSession();
  const { route } = useLocation();
  const isSignedIn = view.status === 'ready' && view.account !== null;
  useEffect(() => {
    if (isSignedIn) route(href(takeReturnPath()), true);
  }, [isSignedIn]);
  return isSignedIn ? null : <SignInForm />;
}
