import type { App, ListPage, TokenCreated, TokenInfo } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { serverUrl } from '../../base-path.ts';
import { Button } from '../../components/button.tsx';
import { CommandBlock } from '../../components/command-block.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Section } from '../../components/page.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Time } from '../../components/time.tsx';
import { useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import type { PagedList } from '../../state/use-list.ts';
import { Expiry } from './expiry.tsx';
import { LastUse } from './last-use.tsx';
import { NewTokenDialog } from './new-token-dialog.tsx';

/** Tokens for the distribution API, in one's own name. */
export function AccessTokensSection({ tokens }: { readonly tokens: PagedList<TokenInfo> }) {
  const { session } = useServices();
  const apps = useCachedData('apps by name', (signal) =>
    session.api.get<ListPage<App>>('/api/v1/apps', { query: { maxGuests: 1, sort: 'name' }, signal }),
  );
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<TokenCreated>();
  const [revoked, setRevoked] = useState<TokenInfo>();
  const knownApps = apps.status === 'ready' ? apps.data.objects : [];
  const make = <Button onClick={() => setMaking(true)}>New access token</Button>;
  return (
    <Section
      title="Access tokens"
      intro="For hosts that fetch plugins and CI that publishes. They expire after the period you choose."
      actions={tokens.isEmpty ? undefined : make}
    >
      <TokenTable
        tokens={tokens}
        apps={knownApps}
        empty={
          <EmptyState title="No access tokens" action={make}>
            <p>
              On your own machine, <code>tenon login</code> creates one for you. Create one here for a program, with
              only the permissions and the application that it needs.
            </p>
          </EmptyState>
        }
        onRevoke={setRevoked}
      />
      {isMaking ? (
        <NewTokenDialog
          apps={knownApps}
          onMade={(token) => {
            tokens.page.reload();
            setMaking(false);
            setMade(token);
          }}
          onClose={() => setMaking(false)}
        />
      ) : null}
      {made === undefined ? null : (
        <SecretDialog
          title={`Token “${made.name}”`}
          secret={made.token}
          what="the token"
          onClose={() => setMade(undefined)}
        >
          <p>Programs read it from the environment. Check that it works:</p>
          <CommandBlock
            command={`curl -H "authorization: Bearer $TENON_TOKEN" \\\n  ${serverUrl()}/api/v1/me`}
            what="the command"
          />
        </SecretDialog>
      )}
      {revoked === undefined ? null : (
        <DeleteDialog
          title={`Revoke “${revoked.name}”?`}
          action="Revoke token"
          onClose={() => setRevoked(undefined)}
          apiPath={`/api/v1/tokens/${revoked.id}`}
          done="Token revoked."
          onDone={tokens.page.reload}
        >
          <p>Programs that use it stop working immediately.</p>
        </DeleteDialog>
      )}
    </Section>
  );
}

function TokenTable(props: {
  readonly tokens: PagedList<TokenInfo>;
  readonly apps: readonly App[];
  readonly empty: ComponentChildren;
  readonly onRevoke: (token: TokenInfo) => void;
}) {
  const nameOf = new Map(props.apps.map(({ id, name }) => [id, name]));
  return (
    <DataTable
      caption="Access tokens"
      list={props.tokens}
      noun="token"
      empty={props.empty}
      rowKey={({ id }) => id}
      columns={[
        { header: 'Name', cell: ({ name }) => name },
        { header: 'Permissions', cell: ({ scopes }) => scopes.join(', ') },
        { header: 'Only for', cell: (token) => <Restrictions token={token} nameOf={nameOf} /> },
        { header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          header: 'Last used',
          cell: ({ lastUsedAt, lastUsedAddress }) => <LastUse at={lastUsedAt} address={lastUsedAddress} />,
        },
        { header: 'Expires', cell: ({ expiresAt, createdAt }) => <Expiry at={expiresAt} createdAt={createdAt} /> },
        {
          header: 'Actions',
          isActions: true,
          cell: (token) => (
            <Button kind="quiet" isSmall label={`Revoke ${token.name}`} onClick={() => props.onRevoke(token)}>
              Revoke…
            </Button>
          ),
        },
      ]}
    />
  );
}

/** What a token is restricted to, and the CI job that it was issued to. */
function Restrictions({
  token: { appId, plugin, networks, claims },
  nameOf,
}: {
  readonly token: TokenInfo;
  /** The names of applications, by their ids. */
  readonly nameOf: ReadonlyMap<string, string>;
}) {
  const lines = [
    ...(plugin === null ? [] : [`only the plugin ${plugin.name}`]),
    ...(networks === null ? [] : [`only from ${networks.join(', ')}`]),
    ...(claims === null ? [] : [`for a job of ${claims.issuer}`]),
  ];
  return (
    <>
      {appId === null ? (
        <span class="soft">all applications</span>
      ) : (
        (nameOf.get(appId) ?? <code class="small">{appId}</code>)
      )}
      {lines.map((line) => (
        <div key={line} class="soft small">
          {line}
        </div>
      ))}
    </>
  );
}
