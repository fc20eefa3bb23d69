import { useId } from 'preact/hooks';

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
}

/** A choice of one option, each with a hint. */
export function RadioGroup<Value extends string>(props: {
  readonly legend: string;
  readonly name: string;
  readonly options: readonly Choice<Value>[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  /** Whether the dialog focuses the chosen option first. */
  readonly hasFocus?: boolean;
}) {
  const id = useId();
  return (
    <fieldset class="choices">
      <legend>{props.legend}</legend>
      {props.options.map(({ value, label, hint }) => (
        <div key={value} class="field-check">
          <input
            id={`${id}-${value}`}
            type="radio"
            name={props.name}
            value={value}
            checked={value === props.value}
            autofocus={props.hasFocus === true && value === props.value}
            aria-describedby={hint === undefined ? undefined : `${id}-${value}-hint`}
            onChange={() => props.onChange(value)}
          />
          <label for={`${id}-${value}`}>{label}</label>
          {hint === undefined ? null : (
            <p class="field-hint" id={`${id}-${value}-hint`}>
              {hint}
            </p>
          )}
        </div>
      ))}
    </fieldset>
  );
}
