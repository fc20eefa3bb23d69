import type { TrustProvider, TrustRule } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import type { PagedList } from '../../state/use-list.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { ExtensionPointField } from './extension-point-field.tsx';

const providers = [
  { value: 'github', label: 'GitHub Actions' },
  { value: 'gitlab', label: 'GitLab CI/CD' },
  { value: 'forgejo', label: 'Forgejo Actions' },
  { value: 'generic', label: 'another OpenID Connect issuer' },
] as const satisfies readonly { readonly value: TrustProvider; readonly label: string }[];

/** The rules by which CI jobs publish in the user's name. */
export function TrustRulesSection({ rules }: { readonly rules: PagedList<TrustRule> }) {
  const [isAdding, setAdding] = useState(false);
  const [toDelete, setToDelete] = useState<TrustRule>();
  const addButton = <Button onClick={() => setAdding(true)}>New rule</Button>;
  return (
    <Section
      title="Trusted publishing"
      intro="CI jobs that these rules allow publish a plugin of yours, without a stored token."
      actions={rules.isEmpty ? undefined : addButton}
    >
      <DataTable
        list={rules}
        caption="Rules for CI jobs"
        noun="rule"
        empty={
          <EmptyState title="No rules" action={addButton}>
            <p>
              With a rule, jobs of a repository on GitHub, GitLab, Forgejo, or elsewhere run{' '}
              <code>tenon plugin push</code> without a token.
            </p>
          </EmptyState>
        }
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'Publishes',
            cell: ({ plugin, guestId }) =>
              plugin === null ? (
                <>
                  all plugins under <code class="small">{guestId}</code>
                </>
              ) : (
                plugin.name
              ),
          },
          { header: 'Issuer', cell: ({ issuer }) => <code class="small">{issuer}</code> },
          {
            header: 'Claims',
            cell: ({ claims }) => (
              <code class="small">
                {Object.entries(claims)
                  .map(([name, value]) => `${name}=${value}`)
                  .join(' ')}
              </code>
            ),
          },
          { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: (rule) => (
              <Button kind="quiet" isSmall label={`Delete the rule ${rule.id}`} onClick={() => setToDelete(rule)}>
                Delete…
              </Button>
            ),
          },
        ]}
      />
      {isAdding ? (
        <NewRuleDialog
          onMade={() => {
            rules.page.reload();
            setAdding(false);
          }}
          onClose={() => setAdding(false)}
        />
      ) : null}
      {toDelete === undefined ? null : (
        <DeleteDialog
          title="Delete this rule?"
          action="Delete rule"
          onClose={() => setToDelete(undefined)}
          apiPath={`/api/v1/trust-rules/${toDelete.id}`}
          done="Rule deleted."
          onDone={rules.page.reload}
        >
          <p>CI jobs can’t publish by it any more. The tokens that it issued stop working immediately.</p>
        </DeleteDialog>
      )}
    </Section>
  );
}

/** Creates a rule. The API client asks for step-up if the server requires it. */
function NewRuleDialog(props: { readonly onMade: () => void; readonly onClose: () => void }) {
  const api = useApi();
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
    const plugin = { extensionPointId, name };
    await api.post('/api/v1/trust-rules', { plugin, provider, claims, ...(issuer !== '' && { issuer }) });
    props.onMade();
  }, ['issuer']);
  return (
    <FormDialog
      title="New rule for CI jobs"
      action="Create rule"
      isDisabled={extensionPointId === ''}
      form={form}
      onClose={props.onClose}
    >
      <ExtensionPointField value={extensionPointId} onChange={setExtensionPoint} none="choose one…" />
      <TextField label="Plugin" name="plugin" value={name} onInput={setName} maxLength={100} />
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
