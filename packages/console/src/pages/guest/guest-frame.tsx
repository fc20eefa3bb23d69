import type { App } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { LinkButton } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';

/** Replaces a guest's page for a team member who isn't a guest. */
function NotAGuest({ app }: { readonly app: App }) {
  return (
    <EmptyState title="You are not a guest here" action={<LinkButton to={`/apps/${app.id}/guests`}>Guests</LinkButton>}>
      <p>
        Guests publish plugins, and you are only on the team. To try it, invite yourself as a guest and accept the
        invitation.
      </p>
    </EmptyState>
  );
}

/** Shows its children to guests only. */
export function GuestOnly({ app, children }: { readonly app: App; readonly children: ComponentChildren }) {
  return app.guests.length === 0 ? <NotAGuest app={app} /> : children;
}
