import type { ApiKeyCreated, ApiKeyInfo } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import type { ApiClient } from '../../api/client.ts';
import { serverUrl } from '../../base-path.ts';
import { Button } from '../../components/button.tsx';
import { CommandBlock } from '../../components/command-block.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { SelectField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import type { PagedList } from '../../state/use-list.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { CredentialName } from './credential-name.tsx';
import { Expiry } from './expiry.tsx';
import { LastUse } from './last-use.tsx';

const lifetimes = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
] as const;

/** Keys for the instrumentation endpoint. */
export function ApiKeysSection({ keys }: { readonly keys: PagedList<ApiKeyInfo> }) {
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<ApiKeyCreated>();
  const [toRevoke, setToRevoke] = useState<ApiKeyInfo>();
  const newKeyButton = <Button onClick={() => setCreating(true)}>New API key</Button>;
  return (
    <Section
      title="API keys"
      intro="For the instrumentation endpoint only. They expire after the period you choose."
      actions={keys.isEmpty ? undefined : newKeyButton}
    >
      <DataTable
        list={keys}
        caption="API keys"
        noun="key"
        empty={
          <EmptyState title="No API keys" action={newKeyButton}>
            <p>With an API key, a build can instrument WebAssembly modules for tracing.</p>
          </EmptyState>
        }
        rowKey={({ id }) => id}
        columns={[
          { header: 'Name', cell: ({ name }) => name },
          { header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            header: 'Last used',
            cell: ({ lastUsedAt, lastUsedAddress }) => <LastUse at={lastUsedAt} address={lastUsedAddress} />,
          },
          { header: 'Expires', cell: ({ expiresAt, createdAt }) => <Expiry at={expiresAt} createdAt={createdAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: (key) => (
              <Button kind="quiet" isSmall label={`Revoke ${key.name}`} onClick={() => setToRevoke(key)}>
                Revoke…
              </Button>
            ),
          },
        ]}
      />
      {isCreating ? (
        <NewKeyDialog
          onCreated={(key) => {
            keys.page.reload();
            setCreating(false);
            setCreated(key);
          }}
          onClose={() => setCreating(false)}
        />
      ) : null}
      {created === undefined ? null : <CreatedKey created={created} onClose={() => setCreated(undefined)} />}
      {toRevoke === undefined ? null : (
        <DeleteDialog
          title={`Revoke “${toRevoke.name}”?`}
          action="Revoke key"
          onClose={() => setToRevoke(undefined)}
          apiPath={`/api/v1/api-keys/${toRevoke.id}`}
          done="API key revoked."
          onDone={keys.page.reload}
        >
          <p>Builds that use it stop working immediately.</p>
        </DeleteDialog>
      )}
    </Section>
  );
}

function CreatedKey({ created, onClose }: { readonly created: ApiKeyCreated; readonly onClose: () => void }) {
  const api = useApi();
  const url = useData((signal) => instrumentBaseUrl(api, signal), [api]);
  return (
    <SecretDialog title={`API key “${created.name}”`} secret={created.apiKey} what="the key" onClose={onClose}>
      <p>Instrument a module:</p>
      <Loaded of={url}>
        {(baseUrl) => (
          <CommandBlock
            command={`curl -fsS -H "authorization: Bearer $TENON_API_KEY" \\\n  -F wasm=@code.wasm -o code.instrumented.wasm \\\n  ${baseUrl}/instrument`}
          />
        )}
      </Loaded>
    </SecretDialog>
  );
}

interface Description {
  readonly paths?: { readonly '/instrument'?: { readonly post?: { readonly servers?: readonly { url: string }[] } } };
}

/** Returns the base URL of the instrumentation endpoint: the server's, unless the API's description names another. */
async function instrumentBaseUrl(api: ApiClient, signal: AbortSignal): Promise<string> {
  const description = await api.get<Description>('/openapi.json', { signal });
  const url = description.paths?.['/instrument']?.post?.servers?.[0]?.url ?? serverUrl();
  return url.replace(/\/+$/, '');
}

function NewKeyDialog({
  onCreated,
  onClose,
}: {
  readonly onCreated: (key: ApiKeyCreated) => void;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const [name, setName] = useState('');
  const [lifetime, setLifetime] = useState('90');
  const form = useSubmit(async () => {
    const body = { name, expiresInDays: Number(lifetime) };
    onCreated(await api.post<ApiKeyCreated>('/api/v1/api-keys', body));
  }, ['name', 'expiresInDays']);
  return (
    <FormDialog title="New API key" action="Create key" form={form} onClose={onClose}>
      <CredentialName value={name} onInput={setName} error={form.fieldError('name')} />
      <SelectField
        label="Expires in"
        name="lifetime"
        value={lifetime}
        onChange={setLifetime}
        error={form.fieldError('expiresInDays')}
        options={lifetimes}
      />
    </FormDialog>
  );
}
