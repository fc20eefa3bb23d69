import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Submit } from '../state/use-submit.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorView } from './error-view.tsx';

/** A dialog with a form, its error, and the buttons that submit and cancel. */
export function FormDialog(props: {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The button that submits: "Create token". */
  readonly action: string;
  readonly cancel?: string;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** What is missing, such as a reason. Disables the button. */
  readonly missing?: string | undefined;
  /** Whether only its own buttons close it. */
  readonly isFirm?: boolean;
  readonly form: Submit;
  readonly onClose: () => void;
}) {
  const { missing, form, onClose } = props;
  const missingId = useId();
  return (
    <Dialog title={props.title} isFirm={props.isFirm ?? false} onClose={onClose}>
      <form onSubmit={form.submit}>
        {props.children}
        <ErrorView error={form.error} />
        {missing === undefined ? null : (
          <p class="soft small" id={missingId}>
            {missing}
          </p>
        )}
        <div class="actions actions-end">
          {/* The browser focuses the first element with `autofocus`: a field, or this button if no field has it. */}
          <Button kind="quiet" onClick={onClose} hasFocus>
            {props.cancel ?? 'Cancel'}
          </Button>
          <Button
            type="submit"
            kind={props.isDangerous === true ? 'danger' : 'primary'}
            isBusy={form.isBusy}
            isDisabled={props.isDisabled === true || missing !== undefined}
            describedBy={missing === undefined ? undefined : missingId}
          >
            {props.action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
