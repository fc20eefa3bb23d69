import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { emptySource, type RulesDraft, type SourceDraft } from './rules.ts';

/** Edits what an extension point requires of the provenance of modules. */
export function ProvenanceRules(props: {
  readonly draft: RulesDraft;
  readonly onChange: (part: Partial<RulesDraft>) => void;
}) {
  const { draft, onChange } = props;
  const { provenanceMode, sources } = draft;
  const setSource = (at: number, part: Partial<SourceDraft>): void =>
    onChange({ sources: sources.map((source, index) => (index === at ? { ...source, ...part } : source)) });
  return (
    <div class="stack">
      <RadioGroup
        legend="Provenance of new versions"
        name="provenanceMode"
        value={provenanceMode}
        onChange={(mode) =>
          onChange({
            provenanceMode: mode,
            ...(mode === 'require' && sources.length === 0 && { sources: [emptySource] }),
          })
        }
        options={[
          { value: 'none', label: 'Not required', hint: 'What publishers attach is verified and shown.' },
          { value: 'record', label: 'Record', hint: 'The audit trail also says which versions would be refused.' },
          { value: 'require', label: 'Require', hint: 'Versions from another source are refused.' },
        ]}
      />
      {sources.map((source, at) => (
        <fieldset key={at} class="source">
          <legend>Accepted source {at + 1}</legend>
          <TextField
            label="Issuer"
            name={`issuer-${at}`}
            isRequired={false}
            value={source.issuer}
            onInput={(issuer) => setSource(at, { issuer })}
            placeholder="https://token.actions.githubusercontent.com"
          />
          <TextField
            label="Repository"
            name={`repository-${at}`}
            isRequired={false}
            value={source.repository}
            onInput={(repository) => setSource(at, { repository })}
            placeholder="acme/*"
            hint="* matches any characters. Without a host, an issuer is needed."
          />
          <TextField
            label="Workflow"
            name={`workflow-${at}`}
            isRequired={false}
            value={source.workflow}
            onInput={(workflow) => setSource(at, { workflow })}
            placeholder="acme/*/.github/workflows/publish.yml@refs/tags/*"
          />
          <Button
            kind="quiet"
            isSmall
            label={`Remove source ${at + 1}`}
            onClick={() => onChange({ sources: sources.filter((_, index) => index !== at) })}
          >
            Remove
          </Button>
        </fieldset>
      ))}
      {provenanceMode === 'none' ? null : (
        <div class="actions">
          <Button kind="quiet" isSmall onClick={() => onChange({ sources: [...sources, emptySource] })}>
            Add a source
          </Button>
        </div>
      )}
      {provenanceMode === 'require' && sources.length === 0 ? (
        <Notice kind="warning" title="No source is accepted.">
          <p>Add at least one.</p>
        </Notice>
      ) : null}
    </div>
  );
}
