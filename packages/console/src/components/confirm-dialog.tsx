import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useSubmit } from '../state/use-submit.ts';
import { TextField } from './field.tsx';
import { FormDialog } from './form-dialog.tsx';

/** Asks for confirmation of an action that can't be undone. */
export function ConfirmDialog(props: {
  readonly title: string;
  readonly children: ComponentChildren;
  /** What the button says: "Delete the application". */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Text that must be typed to enable the button. */
  readonly typed?: string | undefined;
  /** What is missing, such as a reason. Disables the button. */
  readonly missing?: string | undefined;
  /** Errors that it throws are shown, and the dialog stays. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}) {
  const { isDangerous = true, typed } = props;
  const [text, setText] = useState('');
  const isTyped = typed === undefined || oneSpaced(text) === oneSpaced(typed);
  const missing = props.missing ?? (isTyped ? undefined : `Type the name to enable “${props.action}”.`);
  const form = useSubmit(props.onConfirm);
  return (
    <FormDialog
      title={props.title}
      action={props.action}
      isDangerous={isDangerous}
      missing={missing}
      form={form}
      onClose={props.onClose}
    >
      {props.children}
      {typed === undefined ? null : (
        <TextField
          label={`Type “${typed}” to confirm`}
          name="confirmation"
          value={text}
          onInput={setText}
          isCode
          isRequired
          hasFocus
        />
      )}
    </FormDialog>
  );
}

/** Collapses spaces, as a page displays them. */
function oneSpaced(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
