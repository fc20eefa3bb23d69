import { visible } from '@tenon/trace/unsafe-characters';
import { SelectField, TextAreaField, TextField } from '../../../components/field.tsx';
import { RadioGroup } from '../../../components/radio-group.tsx';
import type { CallableExport, ModuleFacts } from '../look/open-module.ts';
import { isWritten, whyNotCallable } from './arguments.ts';
import { type Plan, type PlanFaults, surroundingsOf } from './plan.ts';
import type { MissingRule } from './stand-ins.ts';

/** Names come with modules: so much of one is shown. */
const maxNameLength = 120;

/** What a run needs to know: the export, its arguments, and what the module finds around it. */
export function PlanFields(props: {
  readonly facts: ModuleFacts;
  readonly plan: Plan;
  readonly faults: PlanFaults;
  readonly onPlan: (plan: Plan) => void;
}) {
  const { facts, plan, faults, onPlan } = props;
  const { isWasi, isExtism, unknown } = surroundingsOf(facts);
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
        hint={facts.moreExports === 0 ? undefined : `There are ${facts.moreExports} more, which are not listed.`}
      />
      {entry === undefined ? null : <Arguments entry={entry} plan={plan} faults={faults} onPlan={onPlan} />}
      {isWasi ? (
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
      {isWasi || isExtism ? (
        <TextAreaField
          label={isExtism ? 'Input' : 'Standard input'}
          name="input"
          value={plan.input}
          onInput={(input) => change({ input })}
          isRequired={false}
          isCode
          rows={3}
        />
      ) : null}
      {isWasi ? (
        <TextAreaField
          label="Environment"
          name="env"
          value={plan.env}
          onInput={(env) => change({ env })}
          isRequired={false}
          isCode
          rows={2}
          placeholder="NAME=value"
          hint="A variable a line. The program finds no files and no network."
        />
      ) : null}
      {unknown.length === 0 ? null : (
        <RadioGroup<MissingRule>
          legend={`When it calls an import that is not here (${unknown
            .map((name) => shortened(name, 40))
            .join(', ')
            .slice(0, 200)})`}
          name="missing"
          value={plan.missing}
          onChange={(missing) => change({ missing })}
          options={[
            { value: 'fail', label: 'End the run, and say which' },
            {
              value: 'zero',
              label: 'Answer zero',
              hint: 'It goes on as if all was well, which may be far from the truth.',
            },
          ]}
        />
      )}
      <div class="trace-duration">
        <TextField
          label="Leave out calls shorter than"
          name="minDuration"
          type="number"
          min={0}
          value={plan.minDuration}
          onInput={(minDuration) => change({ minDuration })}
          error={faults.get('minDuration')}
          hint="Microseconds; 0 keeps every call. What is left out is counted all the same."
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
  if (!entry.params.some(isWritten) || whyNotCallable(entry.params, entry.results) !== undefined) return null;
  return (
    <div class="trace-arguments">
      {entry.params.map((type, at) =>
        isWritten(type) ? (
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
