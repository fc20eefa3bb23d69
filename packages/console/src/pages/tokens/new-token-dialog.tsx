import type { App, TokenCreated, TokenScope } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { CheckboxField, SelectField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useApi } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { CredentialName } from './credential-name.tsx';
import { ExtensionPointField } from './extension-point-field.tsx';
import { scopes, scopeText } from './scope-text.ts';

const lifetimes = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: 'other', label: 'a custom period…' },
] as const;

/** The maximum lifetimes of read-only tokens and of other tokens. */
const maxDaysToRead = 3650;
const maxDaysToChange = 90;

/** Creates a token. The API client asks for the password if the server requires it. */
export function NewTokenDialog(props: {
  readonly apps: readonly App[];
  readonly onMade: (token: TokenCreated) => void;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const [name, setName] = useState('');
  const [wanted, setWanted] = useState<ReadonlySet<TokenScope>>(new Set(['read']));
  const [appId, setAppId] = useState('');
  const [extensionPointId, setExtensionPoint] = useState('');
  const [pluginName, setPluginName] = useState('');
  const [networks, setNetworks] = useState('');
  const [chosen, setLifetime] = useState<string>();
  const [days, setDays] = useState('60');
  const onlyReads = [...wanted].every((scope) => scope === 'read');
  const maxDays = onlyReads ? maxDaysToRead : maxDaysToChange;
  const offered = lifetimes.filter(({ value }) => value === 'other' || Number(value) <= maxDays);
  const lifetime = offered.find(({ value }) => value === chosen)?.value ?? (onlyReads ? '90' : '7');
  const expiresInDays = Number(lifetime === 'other' ? days : lifetime);
  const form = useSubmit(async () => {
    const body = {
      name,
      scopes: scopes.filter((scope) => wanted.has(scope)),
      expiresInDays,
      ...(appId === '' ? {} : { appId }),
      ...(extensionPointId === '' ? {} : { plugin: { extensionPointId, name: pluginName } }),
      ...(networks.trim() === '' ? {} : { networks: networks.trim().split(/[\s,]+/) }),
    };
    props.onMade(await api.post<TokenCreated>('/api/v1/tokens', body));
  }, ['name', 'appId', 'expiresInDays']);
  const toggle = (scope: TokenScope, isWanted: boolean): void => {
    const next = new Set(wanted);
    if (isWanted) next.add(scope);
    else next.delete(scope);
    setWanted(next);
  };
  return (
    <FormDialog
      title="New access token"
      action="Create token"
      isDisabled={wanted.size === 0}
      form={form}
      onClose={props.onClose}
    >
      <CredentialName value={name} onInput={setName} error={form.fieldError('name')} />
      <fieldset class="choices">
        <legend>Permissions</legend>
        {scopes.map((scope) => (
          <CheckboxField
            key={scope}
            name={scope}
            label={<strong>{scope}</strong>}
            hint={scopeText[scope]}
            isChecked={wanted.has(scope)}
            onChange={(isWanted) => toggle(scope, isWanted)}
          />
        ))}
      </fieldset>
      <SelectField
        label="Applications"
        name="appId"
        value={appId}
        onChange={setAppId}
        error={form.fieldError('appId')}
        options={[
          { value: '', label: 'all applications' },
          ...props.apps.map(({ id, name: label }) => ({ value: id, label: `only ${label}` })),
        ]}
      />
      <ExtensionPointField value={extensionPointId} onChange={setExtensionPoint} none="all plugins" />
      {extensionPointId === '' ? null : (
        <TextField label="Plugin" name="plugin" value={pluginName} onInput={setPluginName} maxLength={100} />
      )}
      <TextField
        label="Networks"
        name="networks"
        value={networks}
        onInput={setNetworks}
        isRequired={false}
        hint="Addresses or CIDR blocks, such as 192.0.2.0/24, separated by commas. Elsewhere, the token does not work."
      />
      <SelectField label="Expires in" name="lifetime" value={lifetime} onChange={setLifetime} options={offered} />
      {lifetime === 'other' ? (
        <TextField
          label="Days"
          name="expiresInDays"
          type="number"
          min={1}
          max={maxDays}
          value={days}
          onInput={setDays}
          error={form.fieldError('expiresInDays')}
        />
      ) : null}
    </FormDialog>
  );
}
