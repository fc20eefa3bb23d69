import type { Identity, ListPage, ProviderRedirect, SignInProviderInfo } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { saveReturnPath } from '../../state/return-path.ts';
import { useServices, useSession } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { sessionCall } from '../approval/session-call.ts';

/** The user's accounts at sign-in providers: link and remove. Renders nothing on a server without providers. */
export function LinkedSignInsSection() {
  const { view } = useSession();
  const providers = view.status === 'ready' ? view.providers : [];
  return providers.length === 0 ? null : <LinkedSignIns providers={providers} />;
}

function LinkedSignIns({ providers }: { readonly providers: readonly SignInProviderInfo[] }) {
  const { session } = useServices();
  const linked = useData(() => session.api.get<ListPage<Identity>>('/api/v1/me/identities'), []);
  return (
    <Section title="Linked sign-ins" intro="Accounts at providers with which you sign in.">
      <Loaded of={linked} lines={2}>
        {({ objects }) => (
          <>
            {objects.length === 0 ? (
              <p class="soft">None yet.</p>
            ) : (
              <Table
                caption="Linked sign-ins"
                rows={objects}
                rowKey={({ id }) => id}
                columns={[
                  { header: 'Provider', cell: ({ provider, issuer }) => provider?.label ?? issuer },
                  { header: 'User', cell: ({ email }) => email ?? '–' },
                  { header: 'Linked', cell: ({ createdAt }) => <Time at={createdAt} /> },
                  { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
                  {
                    header: 'Actions',
                    isActions: true,
                    cell: (identity) => <RemoveButton identity={identity} onDone={linked.reload} />,
                  },
                ]}
              />
            )}
            <div class="actions">
              {providers
                .filter(({ id }) => objects.every(({ provider }) => provider?.id !== id))
                .map((provider) => (
                  <LinkProvider key={provider.id} provider={provider} />
                ))}
            </div>
          </>
        )}
      </Loaded>
    </Section>
  );
}

function LinkProvider({ provider }: { readonly provider: SignInProviderInfo }) {
  const { session } = useServices();
  const { submit, isBusy, error } = useSubmit(async () => {
    const { redirectTo } = await sessionCall<ProviderRedirect>(session, `/session/oidc/${provider.id}/link`, {});
    saveReturnPath('/account');
    location.assign(redirectTo);
  });
  return (
    <>
      <Button kind="quiet" isBusy={isBusy} onClick={submit}>
        Link {provider.label}
      </Button>
      <ErrorView error={error} />
    </>
  );
}

function RemoveButton({ identity, onDone }: { readonly identity: Identity; readonly onDone: () => void }) {
  const { session, toasts } = useServices();
  const [isOpen, setOpen] = useState(false);
  const name = identity.provider?.label ?? identity.issuer;
  return (
    <>
      <Button kind="quiet" isSmall label={`Remove ${name}`} onClick={() => setOpen(true)}>
        Remove
      </Button>
      {isOpen ? (
        <ConfirmDialog
          title={`Remove ${name}?`}
          action="Remove"
          onClose={() => setOpen(false)}
          onConfirm={async () => {
            await session.api.delete(`/api/v1/me/identities/${identity.id}`);
            toasts.show(`${name} removed.`);
            setOpen(false);
            onDone();
          }}
        >
          <p>You can’t sign in with it any more. Browsers in which you signed in with it are signed out.</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}
