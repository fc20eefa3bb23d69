import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { href } from '../base-path.ts';
import { Link } from '../components/link.tsx';
import { Page } from '../components/page.tsx';
import { readLinkCode } from '../state/link-codes.ts';
import { takeReturnPath } from '../state/return-path.ts';
import { useSession } from '../state/services.ts';
import { NewAccountForm } from './new-account-form.tsx';

/** Creates an account, on an open server or with the invitation that was opened in this tab. */
export function SignUpPage() {
  const { view } = useSession();
  const { route } = useLocation();
  const isSignedIn = view.status === 'ready' && view.account !== null;
  useEffect(() => {
    if (isSignedIn) route(href(takeReturnPath()), true);
  }, [isSignedIn]);
  if (isSignedIn || view.status !== 'ready') return null;

  const invitation = readLinkCode('accept-invite');
  const isOpen = view.signUp === 'open' || (view.signUp === 'invitation' && invitation !== undefined);
  if (!isOpen) return <SignUpClosed mayBeInvited={view.signUp === 'invitation'} />;
  return (
    <Page
      title="Create an account"
      intro={invitation === undefined ? undefined : 'You can then respond to the invitation that you opened.'}
    >
      <NewAccountForm codes={invitation === undefined ? {} : { invitationCode: invitation }} onDone={() => undefined} />
      <p class="soft">
        Already have an account? <Link to="/sign-in">Sign in</Link>
      </p>
    </Page>
  );
}

function SignUpClosed({ mayBeInvited }: { readonly mayBeInvited: boolean }) {
  return (
    <Page title={mayBeInvited ? 'Sign-up is by invitation only' : 'Sign-up is closed'}>
      {mayBeInvited ? (
        <p>
          Open your invitation link and create an account there. To get one, ask the team whose application you want to
          extend.
        </p>
      ) : (
        <p>The operator of this server creates accounts. Ask for a setup link.</p>
      )}
      <p class="soft">
        Already have an account? <Link to="/sign-in">Sign in</Link>
      </p>
    </Page>
  );
}
