import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import {
  type HoldUnit,
  type LimitField,
  mayAddStep,
  nextStep,
  type PlanDraft,
  type PlanFaults,
  type StepDraft,
} from './plan-draft.ts';
import './roll-outs.css';

const kinds = [
  { value: 'percent', label: 'Percent' },
  { value: 'ring', label: 'Ring' },
];

const units: readonly { readonly value: HoldUnit; readonly label: string }[] = [
  { value: 'minutes', label: 'minutes' },
  { value: 'hours', label: 'hours' },
  { value: 'days', label: 'days' },
  { value: 'promoted', label: 'until promoted' },
];

const limits: readonly { readonly field: LimitField; readonly label: string; readonly hint: string }[] = [
  { field: 'errorPoints', label: 'Errors', hint: 'Percentage points more than the version before.' },
  { field: 'p95Ratio', label: 'Call time', hint: 'Times the 95th percentile of the version before.' },
  { field: 'memoryRatio', label: 'Memory', hint: 'Times that of the version before.' },
];

/** Edits the steps of a roll-out, and the limits that halt it. */
export function PlanEditor(props: {
  readonly draft: PlanDraft;
  readonly faults: PlanFaults | undefined;
  readonly onChange: (draft: PlanDraft) => void;
}) {
  const { draft, faults, onChange } = props;
  const { steps } = draft;
  const setStep = (at: number, part: Partial<StepDraft>): void =>
    onChange({ ...draft, steps: steps.map((step, index) => (index === at ? { ...step, ...part } : step)) });
  return (
    <div class="stack plan-editor">
      <ol class="plan-steps">
        {steps.map((step, at) => (
          <li key={at}>
            <StepFields
              step={step}
              number={at + 1}
              faults={faults?.steps[at] ?? {}}
              onChange={(part) => setStep(at, part)}
              onRemove={
                steps.length === 1
                  ? undefined
                  : () => onChange({ ...draft, steps: steps.filter((_, index) => index !== at) })
              }
            />
          </li>
        ))}
      </ol>
      <p class="soft small">After the last step, all guests get the version.</p>
      {mayAddStep(draft) ? (
        <div class="actions">
          <Button kind="quiet" isSmall onClick={() => onChange({ ...draft, steps: [...steps, nextStep(steps)] })}>
            Add a step
          </Button>
        </div>
      ) : null}
      <LimitFields {...props} />
    </div>
  );
}

function StepFields(props: {
  readonly step: StepDraft;
  readonly number: number;
  readonly faults: PlanFaults['steps'][number];
  readonly onChange: (part: Partial<StepDraft>) => void;
  readonly onRemove: (() => void) | undefined;
}) {
  const { step, number, faults, onChange, onRemove } = props;
  const isRing = step.kind === 'ring';
  return (
    <fieldset class="plan-step">
      <legend>Step {number}</legend>
      <SelectField
        label="Guests"
        name={`step-${number}-kind`}
        value={step.kind}
        options={kinds}
        onChange={(kind) => onChange({ kind: kind as StepDraft['kind'] })}
      />
      {isRing ? (
        <TextField
          label="Ring"
          name={`step-${number}-ring`}
          value={step.ring}
          onInput={(ring) => onChange({ ring })}
          placeholder="staff"
          maxLength={40}
          isCode
          error={faults.guests}
        />
      ) : (
        <TextField
          label="Percent"
          name={`step-${number}-percent`}
          type="number"
          min={1}
          max={100}
          value={step.percent}
          onInput={(percent) => onChange({ percent })}
          error={faults.guests}
        />
      )}
      {step.unit === 'promoted' ? null : (
        <TextField
          label="Hold"
          name={`step-${number}-hold`}
          type="number"
          min={0}
          step="any"
          value={step.hold}
          onInput={(hold) => onChange({ hold })}
          error={faults.hold}
        />
      )}
      <SelectField
        label={step.unit === 'promoted' ? 'Hold' : 'Unit'}
        name={`step-${number}-unit`}
        value={step.unit}
        options={units}
        onChange={(unit) => onChange({ unit: unit as HoldUnit })}
      />
      {onRemove === undefined ? null : (
        <Button kind="quiet" isSmall label={`Remove step ${number}`} onClick={onRemove}>
          Remove
        </Button>
      )}
    </fieldset>
  );
}

function LimitFields(props: {
  readonly draft: PlanDraft;
  readonly faults: PlanFaults | undefined;
  readonly onChange: (draft: PlanDraft) => void;
}) {
  const { draft, faults, onChange } = props;
  const hasLimit = limits.some(({ field }) => draft[field].trim() !== '');
  const field = (name: LimitField, label: string, hint: string, isRequired: boolean) => (
    <TextField
      key={name}
      label={label}
      name={name}
      type="number"
      step="any"
      value={draft[name]}
      onInput={(text) => onChange({ ...draft, [name]: text })}
      isRequired={isRequired}
      error={faults?.limits[name]}
      hint={hint}
    />
  );
  return (
    <fieldset class="plan-limits">
      <legend>Limits that halt it</legend>
      <p class="soft small">Hosts report calls. A halt takes all guests back to the version before.</p>
      <div class="plan-limit-fields">
        {limits.map(({ field: name, label, hint }) => field(name, label, hint, false))}
        {hasLimit
          ? field('minCalls', 'Reported calls', 'How many calls a decision needs. A step holds until then.', true)
          : null}
      </div>
    </fieldset>
  );
}
