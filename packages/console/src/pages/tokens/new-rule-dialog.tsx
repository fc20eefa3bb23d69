import type { App, ListPage, TrustProvider } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { SelectField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { guestNames } from '../guest/guest-names.ts';
import { ExtensionPointField } from './extension-point-field.tsx';

const providers = [
  { value: 'github', label: 'GitHub Actions' },
  { value: 'gitlab', label: 'GitLab CI/CD' },
  { value: 'forgejo', label: 'Forgejo Actions' },
  { value: 'generic', label: 'another OpenID Connect issuer' },
] as const satisfies readonly { readonly value: TrustProvider; readonly label: string }[];

/** Creates a rule. The API client asks for step-up if the server requires it. */
export function NewRuleDialog(props: { readonly onMade: () => void; readonly onClose: () => void }) {
  const api = useApi();
  const [guestId, setGuest] = useState('');
  const [extensionPointId, setExtensionPoint] = useState('');
  const [name, setName] = useState('');
  const [provider, setProvider] = useState<TrustProvider>('github');
  const [issuer, setIssuer] = useState('');
  const [repository, setRepository] = useState('');
  const [environment, setEnvironment] = useState('');
  const [subject, setSubject] = useState('');
  const hasDefault = provider === 'github' || provider === 'gitlab';
  const isGeneric = provider === 'generic';
  const form = useSubmit(async () => {
    const claims = {
      ...(repository !== '' && !isGeneric && { [provider === 'gitlab' ? 'project_path' : 'repository']: repository }),
      ...(environment !== '' && !isGeneric && { environment }),
      ...(subject !== '' && isGeneric && { sub: subject }),
    };
    const target = guestId === '' ? { plugin: { extensionPointId, name } } : { guestId };
    await api.post('/api/v1/trust-rules', { ...target, provider, claims, ...(issuer !== '' && { issuer }) });
    props.onMade();
  }, ['issuer']);
  return (
    <FormDialog
      title="New rule for CI jobs"
      action="Create rule"
      isDisabled={guestId === '' && extensionPointId === ''}
      form={form}
      onClose={props.onClose}
    >
      <GuestField value={guestId} onChange={setGuest} />
      {guestId === '' ? (
        <>
          <ExtensionPointField value={extensionPointId} onChange={setExtensionPoint} none="choose one…" />
          <TextField label="Plugin" name="plugin" value={name} onInput={setName} maxLength={100} />
        </>
      ) : null}
      <SelectField
        label="CI service"
        name="provider"
        value={provider}
        onChange={(value) => setProvider(value as TrustProvider)}
        options={providers}
      />
      <TextField
        label="Issuer"
        name="issuer"
        value={issuer}
        onInput={setIssuer}
        isRequired={!hasDefault}
        hint={hasDefault ? 'Leave it empty for the public service.' : 'The claim “iss” of the identity tokens.'}
        error={form.fieldError('issuer')}
      />
      {isGeneric ? (
        <TextField
          label="Subject"
          name="subject"
          value={subject}
          onInput={setSubject}
          hint="The claim “sub”. Each * stands for any characters except colons."
        />
      ) : (
        <>
          <TextField
            label="Repository"
            name="repository"
            value={repository}
            onInput={setRepository}
            hint="Such as octo/median."
          />
          <TextField
            label="Environment"
            name="environment"
            value={environment}
            onInput={setEnvironment}
            isRequired={false}
            hint="Only jobs with this environment."
          />
        </>
      )}
    </FormDialog>
  );
}

/** The number of applications whose guests are offered. */
const maxApps = 20;

/** Chooses between one plugin and all plugins under a guest that the user holds. */
function GuestField(props: { readonly value: string; readonly onChange: (value: string) => void }) {
  const api = useApi();
  const found = useData(
    (signal) => {
      return api.get<ListPage<App>>('/api/v1/apps', { query: { sort: 'name', limit: maxApps }, signal });
    },
    [api],
  );
  const apps = found.status === 'ready' ? found.data.objects : [];
  const guests = apps.flatMap((app) =>
    [...guestNames(app)].map(([value, name]) => ({ value, label: `all plugins under ${name} of ${app.name}` })),
  );
  return (
    <SelectField
      label="Jobs publish"
      name="guestId"
      value={props.value}
      onChange={props.onChange}
      options={[{ value: '', label: 'one plugin' }, ...guests]}
    />
  );
}
