import type { InvitationPreview, InvitationSettled } from '@tenon/protocol';
import { useEffect, useState } from 'preact/hooks';
import { hasCode } from '../api/api-error.ts';
import { ErrorView } from '../components/error-view.tsx';
import { Page } from '../components/page.tsx';
import { Skeleton } from '../components/spinner.tsx';
import { type InvitationOutcome, readInvitationOutcome, storeInvitationOutcome } from '../state/invitation-outcome.ts';
import { clearLinkCode, readLinkCode } from '../state/link-codes.ts';
import { markNavigated } from '../state/navigation.ts';
import { useSession } from '../state/services.ts';
import { useData, useReloadOnReturn } from '../state/use-data.ts';
import { Answer } from './invitation/invitation-response.tsx';
import { InvitationSignIn } from './invitation/invitation-sign-in.tsx';
import { OutcomePage } from './invitation/outcome-page.tsx';

/** The page of an invitation link. `storeLinkCode` has removed the code from the URL before. Opening the page changes nothing. */
export function AcceptInvitePage() {
  const [code, setCode] = useState(() => readLinkCode('accept-invite'));
  const [outcome, setOutcome] = useState(readInvitationOutcome);
  const settle = (found: InvitationOutcome): void => {
    storeInvitationOutcome(found);
    clearLinkCode('accept-invite');
    markNavigated(); // screen readers treat the result as a new page
    setOutcome(found);
    setCode(undefined);
  };
  return code === undefined ? <OutcomePage outcome={outcome} /> : <OpenInvitation code={code} onSettled={settle} />;
}

function OpenInvitation({
  code,
  onSettled,
}: {
  readonly code: string;
  readonly onSettled: (outcome: InvitationOutcome) => void;
}) {
  const { session, view } = useSession();
  const account = view.status === 'ready' ? view.account : null;
  // Public, because the reader may not have an account yet.
  const preview = useData(() => session.calls.post<InvitationPreview>('/api/v1/invitations/preview', { code }), [code]);

  useReloadOnReturn(preview.reload); // answered in another tab, or revoked

  const settleIfOver = (error: unknown): boolean => {
    const kind = endOf(error);
    if (kind !== undefined) onSettled({ kind });
    return kind !== undefined;
  };
  const failure = preview.status === 'failed' ? preview.error : undefined;
  useEffect(() => {
    if (failure !== undefined) settleIfOver(failure);
  }, [failure]);

  if (preview.status === 'loading' || endOf(failure) !== undefined) {
    return (
      <Page title="Invitation">
        <Skeleton lines={5} />
      </Page>
    );
  }
  if (preview.status === 'failed') {
    const isTooOften = hasCode(preview.error, 'rate_limited');
    return (
      <Page
        title={isTooOften ? 'Too many attempts' : 'Couldn’t load this invitation'}
        intro={
          isTooOften
            ? 'Too many unknown codes were tried from your network. Wait a moment; your link keeps working.'
            : undefined
        }
      >
        <ErrorView error={preview.error} onRetry={preview.reload} />
      </Page>
    );
  }
  if (account === null) return <InvitationSignIn code={code} preview={preview.data} />;
  const settled = ({ status, app, role }: InvitationSettled): void =>
    onSettled({ kind: status, app, role, userId: account.id });
  return <Answer code={code} preview={preview.data} onAnswered={settled} onRefused={settleIfOver} />;
}

/** Why the invitation can't be used any more, according to an error. */
function endOf(error: unknown): 'used' | 'expired' | 'revoked' | 'unknown' | undefined {
  if (hasCode(error, 'invitation_used')) return 'used';
  if (hasCode(error, 'invitation_expired')) return 'expired';
  if (hasCode(error, 'invitation_revoked')) return 'revoked';
  return hasCode(error, 'not_found', 'invalid_field') ? 'unknown' : undefined;
}
