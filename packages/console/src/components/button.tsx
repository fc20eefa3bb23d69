import type { ComponentChildren } from 'preact';
import { href } from '../base-path.ts';
import { Spinner } from './spinner.tsx';

export type ButtonKind = 'primary' | 'quiet' | 'danger' | 'text';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly kind?: ButtonKind | undefined;
  readonly type?: 'button' | 'submit';
  readonly onClick?: ((event: MouseEvent) => void) | undefined;
  /** Shows a spinner and ignores further clicks. */
  readonly isBusy?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
  readonly isSmall?: boolean | undefined;
  /** The accessible name, if the text alone is ambiguous: "End the session in Firefox". */
  readonly label?: string | undefined;
  /** Whether the dialog focuses it first. */
  readonly hasFocus?: boolean | undefined;
  /** The id of its description, such as why it is disabled. */
  readonly describedBy?: string | undefined;
}

export function Button(props: ButtonProps) {
  const { children, kind = 'primary', type = 'button', onClick, isBusy = false, isDisabled = false, label } = props;
  return (
    <button
      type={type}
      class={buttonClass(kind, props.isSmall)}
      onClick={isBusy ? undefined : onClick}
      disabled={isDisabled}
      aria-disabled={isBusy ? 'true' : undefined}
      aria-label={label}
      aria-describedby={props.describedBy}
      autofocus={props.hasFocus}
    >
      {isBusy ? <Spinner /> : null}
      {children}
    </button>
  );
}

/** A link that looks like a button. `to` is a path of the console. */
export function LinkButton(props: {
  readonly children: ComponentChildren;
  readonly to: string;
  readonly kind?: ButtonKind;
  readonly isSmall?: boolean;
  /** The accessible name, if the text alone is ambiguous. */
  readonly label?: string;
}) {
  return (
    <a class={buttonClass(props.kind ?? 'primary', props.isSmall)} href={href(props.to)} aria-label={props.label}>
      {props.children}
    </a>
  );
}

function buttonClass(kind: ButtonKind, isSmall = false): string {
  return `button button-${kind}${isSmall ? ' button-small' : ''}`;
}
