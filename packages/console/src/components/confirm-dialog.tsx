import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useSubmit } from '../state/use-submit.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorView } from './error-view.tsx';
import { TextField } from './field.tsx';

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
  const missingId = useId();
  const isTyped = typed === undefined || oneSpaced(text) === oneSpaced(typed);
  const missing = props.missing ?? (isTyped ? undefined : `Type the name to enable “${props.action}”.`);
  const { submit, isBusy, error } = useSubmit(props.onConfirm);
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form onSubmit={submit}>
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
        <ErrorView error={error} />
        {missing === undefined ? null : (
          <p class="soft small" id={missingId}>
            {missing}
          </p>
        )}
        <div class="actions actions-end">
          <Button kind="quiet" onClick={props.onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            kind={isDangerous ? 'danger' : 'primary'}
            isBusy={isBusy}
            isDisabled={missing !== undefined}
            describedBy={missing === undefined ? undefined : missingId}
          >
            {props.action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Collapses spaces, as a page displays them. */
function oneSpaced(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
