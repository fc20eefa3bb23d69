import { useEffect, useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { href } from '../base-path.ts';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { explainRefusal, readProviderReturn, reportConfirmation } from '../components/provider-buttons.tsx';
import type { ProviderReturn } from '../state/provider-sign-in.ts';
import { takeReturnPath } from '../state/return-path.ts';
import { useServices, useSession } from '../state/services.ts';
import { SignInForm } from './sign-in-form.tsx';

/** The sign-in page. Browsers also come back to it from a provider. */
export function SignInPage() {
  const { view } = useSession();
  const { toasts } = useServices();
  const { route } = useLocation();
  const returned = useMemo(() => readProviderReturn(location.search), []);
  const isSignedIn = view.status === 'ready' && view.account !== null;
  const refusal = view.status === 'ready' ? refusalOf(returned, view.providers) : undefined;
  const isConfirmation = returned?.purpose === 'confirm';
  useEffect(() => {
    if (!isSignedIn || isConfirmation) return;
    if (refusal !== undefined) toasts.show(refusal, 'failed');
    else if (returned?.purpose === 'link') toasts.show('Linked.');
    route(href(takeReturnPath()), true);
  }, [isSignedIn]);
  if (returned !== undefined && isConfirmation) return <Confirmed returned={returned} refusal={refusal} />;
  if (isSignedIn) return null;
  return <SignInForm notice={refusal === undefined ? null : <Notice kind="failed">{refusal}</Notice>} />;
}

function refusalOf(
  returned: ProviderReturn | undefined,
  providers: readonly { readonly id: string; readonly label: string }[],
): string | undefined {
  if (returned?.refused === undefined) return undefined;
  const label = providers.find(({ id }) => id === returned.provider)?.label ?? 'The provider';
  return explainRefusal(returned.refused, label);
}

/** The end of a confirmation, in a window of its own. Browsers may not let a page close its window. */
function Confirmed({ returned, refusal }: { readonly returned: ProviderReturn; readonly refusal: string | undefined }) {
  useEffect(() => reportConfirmation(returned), []);
  return (
    <Page title={refusal === undefined ? 'Confirmed' : 'Not confirmed'}>
      {refusal === undefined ? null : <Notice kind="failed">{refusal}</Notice>}
      <p>You can close this window.</p>
    </Page>
  );
}
