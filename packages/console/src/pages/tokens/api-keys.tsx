import type { ApiKeyCreated, ApiKeyInfo } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import type { ApiClient } from '../../api/client.ts';
import { serverUrl } from '../../base-path.ts';
import { Button } from '../../components/button.tsx';
import { CommandBlock } from '../../components/command-block.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Section } from '../../components/page.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { useList } from '../../state/use-list.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { Expiry } from './expiry.tsx';

const lifetimes = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
] as const;

/** Keys for the instrumentation endpoint. */
export function ApiKeysSection() {
  const keys = useList<ApiKeyInfo>('/api/v1/api-keys', { prefix: 'keys-', sort: '-createdAt' });
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<ApiKeyCreated>();
  const [revoked, setRevoked] = useState<ApiKeyInfo>();
  const make = <Button onClick={() => setMaking(true)}>New API key</Button>;
  return (
    <Section
      title="API keys"
      intro="For the instrumentation endpoint only. They expire after the period you choose."
      actions={keys.isEmpty ? undefined : make}
    >
      <DataTable
        list={keys}
        caption="API keys"
        noun="key"
        empty={
          <EmptyState title="No API keys" action={make}>
            <p>With an API key, a build can instrument WebAssembly modules for tracing.</p>
          </EmptyState>
        }
        rowKey={({ id }) => id}
        columns={[
          { header: 'Name', cell: ({ name }) => name },
          { header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { header: 'Expires', cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
          { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: (key) => (
              <Button kind="quiet" isSmall label={`Revoke ${key.name}`} onClick={() => setRevoked(key)}>
                Revoke
              </Button>
            ),
          },
        ]}
      />
      {isMaking ? (
        <NewKeyDialog
          onMade={(key) => {
            keys.page.reload();
            setMaking(false);
            setMade(key);
          }}
          onClose={() => setMaking(false)}
        />
      ) : null}
      {made === undefined ? null : <MadeKey made={made} onClose={() => setMade(undefined)} />}
      {revoked === undefined ? null : (
        <DeleteDialog
          title={`Revoke “${revoked.name}”?`}
          action="Revoke key"
          onClose={() => setRevoked(undefined)}
          apiPath={`/api/v1/api-keys/${revoked.id}`}
          done="API key revoked."
          onDone={keys.page.reload}
        >
          <p>Builds that use it stop working immediately.</p>
        </DeleteDialog>
      )}
    </Section>
  );
}

function MadeKey({ made, onClose }: { readonly made: ApiKeyCreated; readonly onClose: () => void }) {
  const api = useApi();
  const url = useData((signal) => instrumentUrl(api, signal), [api]);
  return (
    <SecretDialog title={`API key “${made.name}”`} secret={made.apiKey} what="the key" onClose={onClose}>
      <p>Instrument a module:</p>
      <CommandBlock
        command={`curl -fsS -H "authorization: Bearer $TENON_API_KEY" \\\n  -F wasm=@code.wasm -o code.instrumented.wasm \\\n  ${
          url.status === 'ready' ? url.data : serverUrl()
        }/instrument`}
        what="the command"
      />
    </SecretDialog>
  );
}

interface Description {
  readonly paths?: { readonly '/instrument'?: { readonly post?: { readonly servers?: readonly { url: string }[] } } };
}

/** Where the instrumentation endpoint is: beside the API, unless the API's own description says otherwise. */
async function instrumentUrl(api: ApiClient, signal: AbortSignal): Promise<string> {
  const description = await api.get<Description>('/openapi.json', { signal });
  const url = description.paths?.['/instrument']?.post?.servers?.[0]?.url ?? serverUrl();
  return url.replace(/\/+$/, '');
}

function NewKeyDialog({
  onMade,
  onClose,
}: {
  readonly onMade: (key: ApiKeyCreated) => void;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const [name, setName] = useState('');
  const [lifetime, setLifetime] = useState('90');
  const form = useSubmit(async () => {
    const body = { name, expiresInDays: Number(lifetime) };
    onMade(await api.post<ApiKeyCreated>('/api/v1/api-keys', body));
  }, ['name', 'expiresInDays']);
  return (
    <FormDialog title="New API key" action="Create key" form={form} onClose={onClose}>
      <TextField
        label="Name"
        name="name"
        value={name}
        onInput={setName}
        maxLength={200}
        hasFocus
        error={form.fieldError('name')}
        placeholder="build server"
        hint="So you can recognise it later."
      />
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
