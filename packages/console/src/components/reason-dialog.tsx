import { maxReasonLength } from '@tenon/protocol/names';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { TextAreaField } from './field.tsx';

/** Asks for the reason of an action, which others will read. */
export function ReasonDialog(props: {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Who reads the reason. */
  readonly hint: string;
  readonly initialReason?: string;
  /** What is missing besides the reason. Disables the button. */
  readonly missing?: string | undefined;
  readonly onConfirm: (reason: string) => Promise<void>;
  readonly onClose: () => void;
}) {
  const [reason, setReason] = useState(props.initialReason ?? '');
  return (
    <ConfirmDialog
      title={props.title}
      action={props.action}
      isDangerous={props.isDangerous ?? true}
      missing={props.missing ?? (reason.trim() === '' ? 'A reason is required.' : undefined)}
      onConfirm={() => props.onConfirm(reason.trim())}
      onClose={props.onClose}
    >
      {props.children}
      <TextAreaField
        label="Reason"
        name="reason"
        value={reason}
        onInput={setReason}
        rows={3}
        hasFocus
        maxLength={maxReasonLength}
        hint={props.hint}
      />
    </ConfirmDialog>
  );
}
