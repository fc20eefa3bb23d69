import type { ComponentChildren } from 'preact';
import { serverUrl } from '../../base-path.ts';
import { LinkButton } from '../../components/button.tsx';
import { CommandBlock } from '../../components/command-block.tsx';
import { InstallCommand } from '../../components/install-command.tsx';
import { Page } from '../../components/page.tsx';
import type { InvitationOutcome } from '../../state/invitation-outcome.ts';
import { useSession } from '../../state/services.ts';

/** The outcome of an invitation and the next step. */
export function OutcomePage({ outcome }: { readonly outcome: InvitationOutcome | undefined }) {
  const { view } = useSession();
  const userId = view.status === 'ready' ? view.account?.id : undefined;
  if (outcome === undefined) return <NoCode />;
  switch (outcome.kind) {
    case 'accepted':
      // A user doesn't see what the previous user of this tab did.
      if (outcome.userId !== userId) return <Used />;
      return outcome.role === undefined ? (
        <BecameGuest app={outcome.app} />
      ) : (
        <BecameMember app={outcome.app} role={outcome.role} />
      );
    case 'declined':
      return outcome.userId === userId ? <Declined /> : <Used />;
    case 'used':
      return <Used />;
    case 'expired':
      return (
        <Useless title="This invitation has expired">
          <p>Invitations work for a limited time. Ask the sender to invite you again.</p>
        </Useless>
      );
    case 'revoked':
      return (
        <Useless title="The invitation was revoked">
          <p>The team revoked it, or its sender lost the right to invite. Ask the team to invite you again.</p>
        </Useless>
      );
    case 'unknown':
      return (
        <Useless title="Invitation not found">
          <p>
            Open the full link again, or copy it into the address bar; some apps cut long links. If that does not help,
            ask the sender for a new one.
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
    <Page title={`You joined the team of ${app.name}`} intro={`Your role is ${role}.`}>
      <div class="actions">
        <LinkButton to={`/apps/${app.id}`}>Go to {app.name}</LinkButton>
      </div>
    </Page>
  );
}

function BecameGuest({ app }: { readonly app: AppName }) {
  return (
    <Page title={`You are a guest of ${app.name}`}>
      <p>Each extension point’s page shows what a plugin must export. Drop a plugin on that page to publish it.</p>
      <div class="actions">
        <LinkButton to={`/apps/${app.id}/my-plugins`}>Go to {app.name}</LinkButton>
      </div>
      <div class="stack next-way">
        <h2>Or from the command line</h2>
        <InstallCommand />
        <CommandBlock command={`tenon login --server ${serverUrl()}`} what="the login command" />
        <p class="soft small">
          The command opens a page where you approve the login. Each extension point’s page shows the publish command.
        </p>
      </div>
    </Page>
  );
}

function Declined() {
  return (
    <Useless title="You declined the invitation">
      <p>The link no longer works. If you change your mind, ask the team to invite you again.</p>
    </Useless>
  );
}

function Used() {
  return (
    <Useless title="This invitation has been used">
      <p>
        Each invitation works once. If you accepted it, the application is in your list. Otherwise ask the sender for a
        new one.
      </p>
    </Useless>
  );
}

function NoCode() {
  return (
    <Useless title="This link is incomplete">
      <p>An invitation link ends in a code, which is missing. Open the full link again; some apps cut long links.</p>
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
            Go to your applications
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
