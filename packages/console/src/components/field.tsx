import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';

interface CommonProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What is wrong with it: a sentence, or a predicate such as `must not be empty`, whose subject is the label. */
  readonly error?: string | undefined;
  readonly isRequired?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
}

interface ControlProps {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': 'true' | undefined;
}

/** A label, a control, a hint and a fault, tied together. The other fields are made of it. */
export function Field(props: CommonProps & { readonly control: (props: ControlProps) => ComponentChildren }) {
  const { label, hint, error, isRequired = true, control } = props;
  const id = useId();
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  const describedBy = [error === undefined ? '' : errorId, hint === undefined ? '' : hintId].filter(
    (part) => part !== '',
  );
  return (
    <div class={error === undefined ? 'field' : 'field field-invalid'}>
      <label for={id}>
        {label}
        {isRequired ? null : <span class="field-optional"> (optional)</span>}
      </label>
      {control({
        id,
        'aria-describedby': describedBy.length === 0 ? undefined : describedBy.join(' '),
        'aria-invalid': error === undefined ? undefined : 'true',
      })}
      {error === undefined ? null : (
        <p class="field-error" id={errorId}>
          {/^[a-z]/.test(error) ? `${label} ${error}` : error}
        </p>
      )}
      {hint === undefined ? null : (
        <p class="field-hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextProps extends CommonProps {
  readonly name: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly placeholder?: string | undefined;
  readonly maxLength?: number | undefined;
  readonly hasFocus?: boolean | undefined;
}

interface TextFieldProps extends TextProps {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'search' | 'datetime-local';
  readonly autoComplete?: string | undefined;
  /** For names, codes and keys: no capital letters, no spelling, equally wide letters. */
  readonly isCode?: boolean | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** `any` for a number with decimals. */
  readonly step?: 'any' | undefined;
}

export function TextField(props: TextFieldProps) {
  const { type = 'text', autoComplete = 'off', isCode = false } = props;
  return (
    <Field
      {...props}
      control={(control) => (
        <input
          {...control}
          type={type as 'text'} // the types know each kind of input, but no variable that is one of several
          name={props.name}
          value={props.value}
          onInput={(event) => props.onInput(event.currentTarget.value)}
          required={props.isRequired ?? true}
          disabled={props.isDisabled}
          placeholder={props.placeholder}
          maxLength={props.maxLength}
          autocomplete={autoComplete}
          autofocus={props.hasFocus}
          min={props.min}
          max={props.max}
          step={props.step}
          {...(isCode ? { class: 'code-input', autocapitalize: 'none', spellcheck: false } : {})}
        />
      )}
    />
  );
}

/** A password with a button that shows it. */
export function PasswordField(props: TextProps & { readonly autoComplete: 'current-password' | 'new-password' }) {
  const [isShown, setShown] = useState(false);
  return (
    <Field
      {...props}
      control={(control) => (
        <div class="password-input">
          <input
            {...control}
            type={(isShown ? 'text' : 'password') as 'text'}
            name={props.name}
            value={props.value}
            onInput={(event) => props.onInput(event.currentTarget.value)}
            required={props.isRequired ?? true}
            autocomplete={props.autoComplete}
            autocapitalize="none"
            spellcheck={false}
            autofocus={props.hasFocus}
          />
          <button type="button" class="password-toggle" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
            Show<span class="visually-hidden"> what I type as {props.label}</span>
          </button>
        </div>
      )}
    />
  );
}

export function TextAreaField(props: TextProps & { readonly rows?: number; readonly isCode?: boolean }) {
  const { isCode = false, rows = 4 } = props;
  return (
    <Field
      {...props}
      control={(control) => (
        <textarea
          {...control}
          name={props.name}
          rows={rows}
          value={props.value}
          onInput={(event) => props.onInput(event.currentTarget.value)}
          required={props.isRequired ?? true}
          disabled={props.isDisabled}
          placeholder={props.placeholder}
          maxLength={props.maxLength}
          autofocus={props.hasFocus}
          {...(isCode ? { class: 'code-input', autocapitalize: 'none', spellcheck: false } : {})}
        />
      )}
    />
  );
}

export interface Option {
  readonly value: string;
  readonly label: string;
}

export function SelectField(
  props: CommonProps & {
    readonly name: string;
    readonly value: string;
    readonly options: readonly Option[];
    readonly hasFocus?: boolean | undefined;
    readonly onChange: (value: string) => void;
  },
) {
  return (
    <Field
      {...props}
      control={(control) => (
        <select
          {...control}
          name={props.name}
          value={props.value}
          disabled={props.isDisabled}
          autofocus={props.hasFocus}
          onChange={(event) => props.onChange(event.currentTarget.value)}
        >
          {props.options.map(({ value, label }) => (
            <option key={value} value={value} selected={value === props.value}>
              {label}
            </option>
          ))}
        </select>
      )}
    />
  );
}

export function CheckboxField(props: {
  readonly label: ComponentChildren;
  readonly name: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
  readonly hint?: ComponentChildren;
  readonly isDisabled?: boolean;
}) {
  const id = useId();
  return (
    <div class="field-check">
      <input
        id={id}
        type="checkbox"
        name={props.name}
        checked={props.isChecked}
        disabled={props.isDisabled}
        aria-describedby={props.hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <label for={id}>{props.label}</label>
      {props.hint === undefined ? null : (
        <p class="field-hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
    </div>
  );
}
