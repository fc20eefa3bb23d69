import { type MissingRule, takesValue, whyNotCallable } from '@tenon/run-kit';
import { visible } from '@tenon/trace/unsafe-characters';
import { SelectField, TextAreaField, TextField } from '../../../components/field.tsx';
import { RadioGroup } from '../../../components/radio-group.tsx';
import type { CallableExport, ModuleFacts } from '../inspect/open-module.ts';
import type { Plan, PlanFaults } from './plan.ts';

/** Names come from modules and may be very long. */
const maxNameLength = 120;

/** The fields of a run: the export, its arguments, and what its host provides. */
export function PlanFields(props: {
  readonly facts: ModuleFacts;
  readonly plan: Plan;
  readonly faults: PlanFaults;
  readonly onPlan: (plan: Plan) => void;
}) {
  const { facts, plan, faults, onPlan } = props;
  const { usesWasi, usesExtism, missingFunctions } = facts;
  const at = facts.exports.findIndex(({ name }) => name === plan.exportName);
  const entry = facts.exports[at];
  const change = (part: Partial<Plan>): void => onPlan({ ...plan, ...part });
  return (
    <>
      <SelectField
        label="Export to call"
        name="export"
        value={`${at}`}
        error={faults.get('export')}
        onChange={(value) => change({ exportName: facts.exports[Number(value)]?.name ?? '', args: new Map() })}
        options={facts.exports.map((each, index) => ({ value: `${index}`, label: labelOf(each) }))}
        hint={facts.moreExports === 0 ? undefined : `${facts.moreExports} more are not listed.`}
      />
      {entry === undefined ? null : <Arguments entry={entry} plan={plan} faults={faults} onPlan={onPlan} />}
      {usesWasi ? (
        <TextField
          label="Program arguments"
          name="programArgs"
          value={plan.programArgs}
          onInput={(programArgs) => change({ programArgs })}
          isRequired={false}
          isCode
          placeholder='--name "Ada Lovelace"'
        />
      ) : null}
      {usesWasi || usesExtism ? (
        <TextAreaField
          label={usesExtism ? 'Input' : 'Standard input'}
          name="input"
          value={plan.input}
          onInput={(input) => change({ input })}
          isRequired={false}
          isCode
          rows={3}
        />
      ) : null}
      {usesWasi ? (
        <TextAreaField
          label="Environment"
          name="env"
          value={plan.env}
          onInput={(env) => change({ env })}
          isRequired={false}
          isCode
          rows={2}
          placeholder="NAME=value"
          hint="One variable per line. The program has no files and no network."
        />
      ) : null}
      {usesExtism ? (
        <TextAreaField
          label="Configuration"
          name="config"
          value={plan.config}
          onInput={(config) => change({ config })}
          isRequired={false}
          isCode
          rows={2}
          placeholder="key=value"
          hint="One value per line."
        />
      ) : null}
      {missingFunctions.length === 0 ? null : (
        <RadioGroup<MissingRule>
          legend={`Missing imports (${missingFunctions
            .map((name) => shortened(name, 60))
            .join(', ')
            .slice(0, 200)})`}
          name="missing"
          value={plan.missing}
          onChange={(missing) => change({ missing })}
          options={[
            { value: 'trap', label: 'End the run at the first call' },
            {
              value: 'zero',
              label: 'Return zero',
              hint: 'The run continues, possibly with wrong values.',
            },
          ]}
        />
      )}
      <div class="trace-duration">
        <TextField
          label="Hide calls shorter than"
          name="minDuration"
          type="number"
          min={0}
          value={plan.minDuration}
          onInput={(minDuration) => change({ minDuration })}
          error={faults.get('minDuration')}
          hint="Microseconds; 0 shows every call. Hidden calls are counted."
        />
      </div>
    </>
  );
}

function Arguments(props: {
  readonly entry: CallableExport;
  readonly plan: Plan;
  readonly faults: PlanFaults;
  readonly onPlan: (plan: Plan) => void;
}) {
  const { entry, plan, faults, onPlan } = props;
  if (!entry.params.some(takesValue) || whyNotCallable(entry.params, entry.results) !== undefined) return null;
  return (
    <div class="trace-arguments">
      {entry.params.map((type, at) =>
        takesValue(type) ? (
          <TextField
            key={at}
            label={`Argument ${at + 1}: ${type}`}
            name={`arg${at}`}
            value={plan.args.get(at) ?? ''}
            onInput={(text) => onPlan({ ...plan, args: new Map([...plan.args, [at, text]]) })}
            error={faults.get(`arg ${at}`)}
            isCode
          />
        ) : null,
      )}
    </div>
  );
}

function labelOf({ name, params, results }: CallableExport): string {
  const answer = results.length === 0 ? '' : ` → ${shortened(results.join(', '), 60)}`;
  return `${shortened(name, maxNameLength)}(${shortened(params.join(', '), 80)})${answer}`;
}

function shortened(text: string, most: number): string {
  const shown = visible(text.slice(0, most));
  return text.length <= most ? shown : `${shown}…`;
}
