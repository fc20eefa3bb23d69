import type { ComponentChildren } from 'preact';
import { serverUrl } from '../../base-path.ts';
import { LinkButton } from '../../components/button.tsx';
import { CommandBlock } from '../../components/command-block.tsx';
import { Page } from '../../components/page.tsx';
import type { InvitationOutcome } from '../../state/invitation-outcome.ts';
import { useSession } from '../../state/services.ts';

/** What became of an invitation, and what to do next. */
export function OutcomePage({ outcome }: { readonly outcome: InvitationOutcome | undefined }) {
  const { view } = useSession();
  const userId = view.status === 'ready' ? view.account?.id : undefined;
  if (outcome === undefined) return <NoCode />;
  switch (outcome.kind) {
    case 'accepted':
      // Who signs in after somebody else is not told what that one did.
      if (outcome.userId !== userId) return <Used />;
      return outcome.role === undefined ? (
        <BecameGuest app={outcome.app} />
      ) : (
        <BecameMember app={outcome.app} role={outcome.role} />
      );
    case 'declined':
      return outcome.userId === userId ? <Declined appName={outcome.app.name} /> : <Used />;
    case 'used':
      return <Used />;
    case 'expired':
      return (
        <Useless title="The invitation has expired">
          <p>Invitations work for a limited time, and this one’s is over. Ask whoever sent it to invite you again.</p>
        </Useless>
      );
    case 'revoked':
      return (
        <Useless title="The invitation was taken back">
          <p>It was revoked, or the person who made it may not invite any more. Ask the team to invite you again.</p>
        </Useless>
      );
    case 'unknown':
      return (
        <Useless title="There is no such invitation">
          <p>
            The link may have been broken on its way: programs sometimes cut long ones. Open it again, all of it, or
            copy it into the address bar. If that does not help, ask whoever sent it for another one.
          </p>
        </Useless>
      );
  }
}

interface AppName {
  readonly id: string;
  readonly name: string;
}

function BecameMember({ app, role }: { readonly app: AppName; readonly role: string }) {
  return (
    <Page title={`You are on the team of ${app.name}`} intro={`Your role is ${role}.`}>
      <div class="actions">
        <LinkButton to={`/apps/${app.id}`}>Go to {app.name}</LinkButton>
      </div>
    </Page>
  );
}

function BecameGuest({ app }: { readonly app: AppName }) {
  return (
    <Page title={`You are a guest of ${app.name}`}>
      <p>See what its extension points expect of a plugin, and publish one there by dropping it on the page.</p>
      <div class="actions">
        <LinkButton to={`/apps/${app.id}/plugins`}>Go to {app.name}</LinkButton>
      </div>
      <div class="stack next-way">
        <h2>Or from the command line</h2>
        <CommandBlock command={`tenon login --server ${serverUrl()}`} what="the login command" />
        <p class="soft small">
          It opens a page here, on which you approve it. Each extension point’s page then shows the command that
          publishes.
        </p>
      </div>
    </Page>
  );
}

function Declined({ appName }: { readonly appName: string }) {
  return (
    <Useless title="You declined the invitation">
      <p>
        {appName} has nothing of yours, and the link does not work any more. If you change your mind, ask the team to
        invite you again.
      </p>
    </Useless>
  );
}

function Used() {
  return (
    <Useless title="The invitation has been used">
      <p>
        An invitation works once. If it was you who accepted it, the application is among yours already. If not, ask
        whoever sent the link for another one.
      </p>
    </Useless>
  );
}

function NoCode() {
  return (
    <Useless title="The link is not whole">
      <p>
        An invitation link ends in a code, and this one has none. Open the link that you were sent again, all of it:
        programs sometimes cut long ones.
      </p>
    </Useless>
  );
}

function Useless({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const { view } = useSession();
  const isSignedIn = view.status === 'ready' && view.account !== null;
  return (
    <Page title={title}>
      {children}
      <div class="actions">
        {isSignedIn ? (
          <LinkButton to="/" kind="quiet">
            To your applications
          </LinkButton>
        ) : (
          <LinkButton to="/sign-in" kind="quiet">
            Sign in
          </LinkButton>
        )}
      </div>
    </Page>
  );
}
