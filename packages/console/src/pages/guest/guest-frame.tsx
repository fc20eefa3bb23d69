import type { App } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { hasCode } from '../../api/api-error.ts';
import { LinkButton } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { Page } from '../../components/page.tsx';

/** In the place of a page of an application that could not be shown. */
export function GuestPageError({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const crumbs = [{ label: 'Applications', to: '/' }];
  if (!hasCode(error, 'not_found')) {
    return (
      <Page title="Application" crumbs={crumbs}>
        <ErrorView error={error} onRetry={onRetry} />
      </Page>
    );
  }
  return (
    <Page title="Not here" crumbs={crumbs}>
      <EmptyState title="You see nothing at this address" action={<LinkButton to="/">Your applications</LinkButton>}>
        <p>
          The application or extension point is gone, or you are not a guest of it any more. Its team can invite you
          again.
        </p>
      </EmptyState>
    </Page>
  );
}

/** In the place of what a guest sees, for somebody of the team who holds no guest. */
export function NotAGuest({ app }: { readonly app: App }) {
  return (
    <EmptyState title="You are no guest here" action={<LinkButton to={`/apps/${app.id}/guests`}>Guests</LinkButton>}>
      <p>
        Plugins are published by guests, and you are in the team alone. Invite yourself under a guest key of your own
        and accept, to try what your guests see.
      </p>
    </EmptyState>
  );
}

/** What stands on each of a guest's pages below its head. */
export function GuestOnly({ app, children }: { readonly app: App; readonly children: ComponentChildren }) {
  return app.guestIds.length === 0 ? <NotAGuest app={app} /> : children;
}
