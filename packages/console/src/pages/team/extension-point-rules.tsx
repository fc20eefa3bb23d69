import type { ExtensionPoint } from '@tenon/protocol';
import { wasmProposals } from '@tenon/protocol/wasm-proposals';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { ConflictDialog } from '../../components/conflict-dialog.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { CheckboxField, TextField } from '../../components/field.tsx';
import { LeaveDialog } from '../../components/leave-dialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { Section } from '../../components/page.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { useServices, useSession } from '../../state/services.ts';
import { useEdit } from '../../state/use-edit.ts';
import { useNavigationGuard } from '../../state/use-navigation-guard.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { type PlanFaults, planFaults } from '../roll-outs/plan-draft.ts';
import { PlanEditor } from '../roll-outs/plan-editor.tsx';
import { ExtensionPointEditFrame } from './extension-point-edit-frame.tsx';
import { ProvenanceRules } from './provenance-rules.tsx';
import {
  ageFault,
  changeOf,
  compilerProposals,
  draftOf,
  numberFault,
  proposalWords,
  type RulesDraft,
  rebaseDraft,
  ruleFields,
  serverLimitFault,
  sizeHint,
} from './rules.ts';
import { useExtensionPointPath } from './use-extension-point.ts';
import { useTrial } from './use-trial.tsx';
import './extension-point-rules.css';

/** Edits the limits on modules at an extension point, and whether the team approves versions. */
export function ExtensionPointRulesPage() {
  return (
    <ExtensionPointEditFrame titleOf={({ name }) => `Rules of ${name}`}>
      {(point) => <RulesForm key={point.id} point={point} />}
    </ExtensionPointEditFrame>
  );
}

const minModuleBytes = 8;
const pageBytes = 65_536;

function RulesForm({ point }: { readonly point: ExtensionPoint }) {
  const { session, toasts } = useServices();
  const { route } = useLocation();
  const { apiPath, pagePath } = useExtensionPointPath();
  const trial = useTrial(point.appId, apiPath);
  const fieldsOf = (state: ExtensionPoint) => ruleFields(draftOf(state));
  const edit = useEdit(point, () => session.api.get<ExtensionPoint>(apiPath), fieldsOf);
  const first = draftOf(edit.base);
  const [draft, setDraft] = useState(first);
  const leaving = useNavigationGuard(JSON.stringify(draft) !== JSON.stringify(first));
  const change = (part: Partial<RulesDraft>): void => setDraft((now) => ({ ...now, ...part }));
  const { view } = useSession();
  const sizeFault =
    numberFault(draft.maxModuleBytes, minModuleBytes) ??
    serverLimitFault(draft.maxModuleBytes, view.status === 'ready' ? view.maxModuleBytes : Infinity);
  const memoryFault = numberFault(draft.maxInitialMemoryPages, 0);
  const minAgeFault = ageFault(draft.minVersionAgeHours);
  const rollOutFaults = draft.hasRollOut ? planFaults(draft.plan) : undefined;
  const { submit, isBusy, error } = useSubmit(async () => {
    const rules = changeOf(first, draft);
    if (rules.limits !== undefined) await trial.confirm({ limits: rules.limits });
    if (Object.keys(rules).length > 0) {
      await edit.save((basedOn) => session.api.put<ExtensionPoint>(apiPath, rules, { basedOn }));
      toasts.show('Saved. Applies to new versions.');
    }
    route(href(pagePath), true);
  });
  const settle = (isKept: boolean): void => {
    if (edit.conflict === undefined) return;
    const now = draftOf(edit.conflict.now);
    setDraft(isKept ? rebaseDraft(first, draft, now) : now);
    edit.rebase();
  };
  return (
    <>
      <form class="rules-form" onSubmit={submit} noValidate>
        <Section isBeside title="Approval" intro="Whether each version needs the team’s approval.">
          <CheckboxField
            label="New versions need the team’s approval"
            name="requiresApproval"
            isChecked={draft.requiresApproval}
            onChange={(requiresApproval) => change({ requiresApproval })}
            hint="Hosts keep the previous version until then. Versions awaiting approval are listed under Approvals. Published versions are unaffected."
          />
        </Section>
        <Section isBeside title="Minimum age" intro="Time in which a bad version can be noticed before hosts get it.">
          <TextField
            label="Minimum age of new versions, in hours"
            name="minVersionAgeHours"
            type="number"
            min={0}
            value={draft.minVersionAgeHours}
            onInput={(minVersionAgeHours) => change({ minVersionAgeHours })}
            isRequired={false}
            error={minAgeFault}
            hint="Hosts keep the previous version until then. The team can release a version earlier. Versions that wait keep their time."
          />
        </Section>
        <Section isBeside title="Roll-out" intro="Whether new versions reach a part of the guests first.">
          <RollOutRules draft={draft} faults={rollOutFaults} onChange={change} />
        </Section>
        <Section isBeside title="Provenance" intro="Where modules come from, as their publishers’ CI signs it.">
          <ProvenanceRules draft={draft} onChange={change} />
        </Section>
        <Section
          isBeside
          title="Size"
          intro="Leave a field empty for no limit of its kind. The server’s limit for modules always applies."
        >
          <TextField
            label="Maximum module size, in bytes"
            name="maxModuleBytes"
            type="number"
            min={minModuleBytes}
            value={draft.maxModuleBytes}
            onInput={(maxModuleBytes) => change({ maxModuleBytes })}
            isRequired={false}
            error={sizeFault}
            hint={sizeHint(draft.maxModuleBytes, 1) ?? 'Server limit.'}
          />
          <TextField
            label="Maximum initial memory, in pages of 64 KiB"
            name="maxInitialMemoryPages"
            type="number"
            min={0}
            value={draft.maxInitialMemoryPages}
            onInput={(maxInitialMemoryPages) => change({ maxInitialMemoryPages })}
            isRequired={false}
            error={memoryFault}
            hint={sizeHint(draft.maxInitialMemoryPages, pageBytes) ?? 'No limit.'}
          />
        </Section>
        <Section isBeside title="WASI" intro="Clocks, random numbers, files: interfaces to an operating system.">
          <CheckboxField
            label="Modules may import WASI preview 1"
            name="allowWasi"
            isChecked={draft.allowWasi}
            onChange={(allowWasi) => change({ allowWasi })}
            hint="Most languages need it, except AssemblyScript, C, and Rust without its standard library."
          />
        </Section>
        <Section isBeside title="Proposals" intro="Post-MVP features of WebAssembly that your hosts support.">
          <ProposalChoice draft={draft} onChange={change} />
        </Section>
        <div class="rules-end">
          <ErrorView error={error} />
          <div class="actions">
            <Button
              type="submit"
              isBusy={isBusy}
              isDisabled={[sizeFault, memoryFault, minAgeFault, rollOutFaults].some((fault) => fault !== undefined)}
            >
              Save
            </Button>
            <LinkButton kind="quiet" to={pagePath}>
              Cancel
            </LinkButton>
          </div>
        </div>
      </form>
      {trial.dialog}
      <LeaveDialog question={leaving} />
      <ConflictDialog
        conflict={edit.conflict}
        fieldsOf={fieldsOf}
        mine={ruleFields(draft)}
        onKeep={() => settle(true)}
        onDiscard={() => settle(false)}
      />
    </>
  );
}

function RollOutRules(props: {
  readonly draft: RulesDraft;
  readonly faults: PlanFaults | undefined;
  readonly onChange: (part: Partial<RulesDraft>) => void;
}) {
  const { draft, faults, onChange } = props;
  return (
    <div class="stack">
      <RadioGroup
        legend="A new version reaches"
        name="rollOut"
        value={draft.hasRollOut ? 'steps' : 'all'}
        onChange={(value) => onChange({ hasRollOut: value === 'steps' })}
        options={[
          { value: 'all', label: 'All guests at once' },
          {
            value: 'steps',
            label: 'Guests in steps',
            hint: 'The team can choose other steps for each version that it approves or releases.',
          },
        ]}
      />
      {draft.hasRollOut ? (
        <PlanEditor draft={draft.plan} faults={faults} onChange={(plan) => onChange({ plan })} />
      ) : null}
    </div>
  );
}

function ProposalChoice(props: { readonly draft: RulesDraft; readonly onChange: (part: Partial<RulesDraft>) => void }) {
  const { draft, onChange } = props;
  const ticked = new Set(draft.proposals);
  return (
    <div class="stack">
      <RadioGroup
        legend="Modules may use"
        name="allowsAllProposals"
        value={draft.allowsAllProposals ? 'all' : 'some'}
        onChange={(value) =>
          onChange({
            allowsAllProposals: value === 'all',
            ...(draft.proposals.length === 0 && { proposals: compilerProposals }),
          })
        }
        options={[
          { value: 'all', label: 'All proposals that the server supports' },
          { value: 'some', label: 'Only the selected proposals' },
        ]}
      />
      {draft.allowsAllProposals ? null : (
        <fieldset class="proposals">
          <legend class="visually-hidden">Proposals that modules may use</legend>
          {wasmProposals.map((proposal) => (
            <CheckboxField
              key={proposal}
              label={<code>{proposal}</code>}
              name={proposal}
              isChecked={ticked.has(proposal)}
              onChange={(isTicked) =>
                onChange({
                  proposals: wasmProposals.filter((each) => (each === proposal ? isTicked : ticked.has(each))),
                })
              }
              hint={proposalWords[proposal]}
            />
          ))}
        </fieldset>
      )}
      {draft.allowsAllProposals || ticked.size > 0 ? null : (
        <Notice kind="warning" title="No proposal is selected.">
          <p>Modules from today’s compilers will be refused.</p>
        </Notice>
      )}
    </div>
  );
}
