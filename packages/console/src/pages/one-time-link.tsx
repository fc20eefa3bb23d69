import type { OneTimeLinkInfo } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { hasCode } from '../api/api-error.ts';
import { ErrorView } from '../components/error-view.tsx';
import { Link } from '../components/link.tsx';
import { Page } from '../components/page.tsx';
import { Skeleton } from '../components/spinner.tsx';
import { clearLinkCode, readLinkCode } from '../state/link-codes.ts';
import { useSession } from '../state/services.ts';
import { useData } from '../state/use-data.ts';

/** The page of an operator's link: renders its children if the link works, else the reason. */
export function OneTimeLinkPage(props: {
  readonly kind: 'set-up' | 'reset-password';
  readonly title: string;
  readonly intro?: string;
  readonly children: (code: string, link: OneTimeLinkInfo) => ComponentChildren;
}) {
  const { kind, title } = props;
  const code = readLinkCode(kind);
  const { session } = useSession();
  const link = useData(
    async () => (code === undefined ? undefined : session.calls.post<OneTimeLinkInfo>('/session/link', { code })),
    [code],
  );
  const isUseless = link.status === 'failed' && hasCode(link.error, 'not_found', 'link_used', 'link_expired');
  useEffect(() => {
    if (isUseless) clearLinkCode(kind);
  }, [isUseless]);

  if (link.status === 'loading') {
    return (
      <Page title={title}>
        <Skeleton />
      </Page>
    );
  }
  if (link.status === 'failed') {
    return isUseless ? (
      <UselessLink error={link.error} />
    ) : (
      <Page title={title}>
        <ErrorView error={link.error} onRetry={link.reload} />
      </Page>
    );
  }
  if (code === undefined || link.data === undefined || link.data.purpose !== kind.replace('-', '_')) {
    return (
      <Page title="This link is incomplete">
        <p>Open the full link that the operator gave you; some apps cut long links.</p>
      </Page>
    );
  }
  return (
    <Page title={title} intro={props.intro}>
      {props.children(code, link.data)}
    </Page>
  );
}

function UselessLink({ error }: { readonly error: unknown }) {
  const title = hasCode(error, 'link_used')
    ? 'This link has been used'
    : hasCode(error, 'link_expired')
      ? 'This link has expired'
      : 'This link isn’t valid';
  return (
    <Page title={title}>
      <p>Each link works once and for a limited time. Ask the operator of this server for a new one.</p>
      <p class="soft">
        Already have an account? <Link to="/sign-in">Sign in</Link>
      </p>
    </Page>
  );
}
