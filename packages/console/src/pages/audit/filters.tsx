import { Button } from '../../components/button.tsx';
import { Field, type Option, SelectField } from '../../components/field.tsx';
import { actionText } from './audit-text.ts';
import { type AuditFilter, noFilter } from './filter.ts';

/** The filter's fields; each change applies at once. */
export function Filters(props: {
  readonly filter: AuditFilter;
  /** The actions that the trail can have. */
  readonly actions: readonly string[];
  /** The users to choose from; `undefined` in the user's own trail. */
  readonly people?: readonly Option[];
  readonly onChange: (change: Partial<AuditFilter>) => void;
}) {
  const { filter, actions, people, onChange } = props;
  const isFiltered = Object.values(filter).some((value) => value !== '');
  return (
    <search class="stack">
      <div class="audit-filters">
        <SelectField
          label="Action"
          name="action"
          value={filter.action}
          onChange={(action) => onChange({ action })}
          options={[
            { value: '', label: 'all actions' },
            ...withPresent(
              actions.map((action) => ({ value: action, label: actionText(action) })),
              filter.action,
            ),
          ]}
        />
        {people === undefined ? null : (
          <SelectField
            label="User"
            name="user"
            value={filter.user}
            onChange={(user) => onChange({ user })}
            options={[{ value: '', label: 'all users' }, ...withPresent(people, filter.user)]}
          />
        )}
        <DayField label="From" name="from" value={filter.from} onChange={(from) => onChange({ from })} />
        <DayField label="To" name="to" value={filter.to} onChange={(to) => onChange({ to })} />
      </div>
      {filter.target === '' ? null : (
        <p class="audit-only">
          <span>
            Only events of <code>{filter.target}</code>
          </span>
          <Button kind="quiet" isSmall onClick={() => onChange({ target: '' })}>
            Show all targets
          </Button>
        </p>
      )}
      {isFiltered ? (
        <Button kind="quiet" isSmall onClick={() => onChange(noFilter)}>
          Clear filters
        </Button>
      ) : null}
    </search>
  );
}

function DayField(props: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly onChange: (day: string) => void;
}) {
  return (
    <Field
      label={props.label}
      control={(control) => (
        <input
          {...control}
          type="date"
          name={props.name}
          value={props.value}
          onChange={(event) => props.onChange(event.currentTarget.value)}
        />
      )}
    />
  );
}

/** Adds the selected value to the options if it is missing. */
function withPresent(options: readonly Option[], present: string): readonly Option[] {
  const isThere = present === '' || options.some(({ value }) => value === present);
  return isThere ? options : [...options, { value: present, label: present }];
}
