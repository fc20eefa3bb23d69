import type { AuthorizationOutcome, AuthorizationView } from '@tenon/protocol';
import { useEffect, useState } from 'preact/hooks';
import { hasCode } from '../api/api-error.ts';
import { LinkButton } from '../components/button.tsx';
import { CommandBlock } from '../components/command-block.tsx';
import { ErrorView } from '../components/error-view.tsx';
import { Page } from '../components/page.tsx';
import { Skeleton } from '../components/spinner.tsx';
import { useSession } from '../state/services.ts';
import { useData } from '../state/use-data.ts';
import { type ApprovalDecision, ApprovalForm } from './approval/approval-form.tsx';
import { isLoopbackAddress } from './approval/loopback.ts';
import { sessionCall } from './approval/session-call.ts';
import { SignInForm } from './sign-in-form.tsx';

/**
 * The page of OAuth's authorization endpoint (RFC 6749 §3.1), where a program on this machine requests access. The query stays
 * in the URL and goes to the server unchanged, so that the page survives a reload and a sign-in.
 */
export function AuthorizePage() {
  const { view } = useSession();
  if (view.status !== 'ready') return null;
  return view.account === null ? (
    <SignInForm
      title="Sign in to review this login"
      intro="A program on your machine requests access to your account. Sign in to review the request."
    />
  ) : (
    <Approval request={location.search.slice(1)} />
  );
}

function Approval({ request }: { readonly request: string }) {
  const { session } = useSession();
  const [isDone, setDone] = useState(false);
  const asked = useData(
    () => sessionCall<AuthorizationView | AuthorizationOutcome>(session, '/session/authorization/view', { request }),
    [request],
  );

  const leave = ({ redirectTo }: AuthorizationOutcome): void => {
    if (!isLoopbackAddress(redirectTo)) throw new Error('The server names an address that is not on this machine');
    setDone(true);
    location.replace(redirectTo); // going back must not lead to a request that is decided
  };
  const decide = async (decided: ApprovalDecision): Promise<void> =>
    leave(await sessionCall<AuthorizationOutcome>(session, '/session/authorization', { request, ...decided }));

  // If only the request's other parameters are invalid, the program gets the error at once, through a redirect.
  const outcome = asked.status === 'ready' && 'redirectTo' in asked.data ? asked.data : undefined;
  useEffect(() => {
    if (outcome !== undefined) leave(outcome);
  }, [outcome]);

  if (isDone || outcome !== undefined) {
    return (
      <Page title="Return to your terminal">
        <p>You can close this page.</p>
      </Page>
    );
  }
  if (asked.status === 'failed') {
    return hasCode(asked.error, 'invalid_request', 'invalid_field') ? (
      <NoLogin detail={request === '' ? undefined : asked.error.message} />
    ) : (
      <Page title="Couldn’t load this login">
        <ErrorView error={asked.error} onRetry={asked.reload} />
      </Page>
    );
  }
  return (
    <Page title="Approve this login?" intro="A program on your machine requests access to your account.">
      {asked.status === 'ready' && 'flow' in asked.data ? (
        <ApprovalForm view={asked.data} onDecide={decide} />
      ) : (
        <Skeleton lines={6} />
      )}
    </Page>
  );
}

/** An unknown client or redirect URI: the page redirects nowhere (RFC 6749 §4.1.2.1). */
function NoLogin({ detail }: { readonly detail: string | undefined }) {
  return (
    <Page title="This login link isn’t valid">
      <p>
        The <code>tenon</code> command did not create this link, or the link was cut. Nothing was approved or shared.
      </p>
      {detail === undefined ? null : <p class="soft small">{detail}</p>}
      <div class="stack">
        <p>To log in, start again in your terminal:</p>
        <CommandBlock command="tenon login" what="the login command" />
      </div>
      <div class="actions">
        <LinkButton to="/" kind="quiet">
          Go to your applications
        </LinkButton>
      </div>
    </Page>
  );
}
