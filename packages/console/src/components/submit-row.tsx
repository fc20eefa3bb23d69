import type { Submit } from '../state/use-submit.ts';
import { Button, type ButtonKind } from './button.tsx';
import { ErrorView } from './error-view.tsx';

/** The end of a form: its error, and the button that submits it. */
export function SubmitRow(props: {
  readonly form: Submit;
  readonly action: string;
  readonly kind?: ButtonKind;
  readonly isDisabled?: boolean;
}) {
  const { form, action, kind, isDisabled } = props;
  return (
    <>
      <ErrorView error={form.error} />
      <div class="actions">
        <Button type="submit" kind={kind} isBusy={form.isBusy} isDisabled={isDisabled}>
          {action}
        </Button>
      </div>
    </>
  );
}
