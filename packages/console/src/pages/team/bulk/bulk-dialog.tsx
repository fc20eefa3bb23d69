import type { App, RenewedInvitations, RevokedInvitations } from '@tenon/protocol';
import { maxCounted } from '@tenon/protocol/list-limits';
import { useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { count, counted } from '../../../components/count.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { CheckboxField } from '../../../components/field.tsx';
import { FormDialog } from '../../../components/form-dialog.tsx';
import { Notice } from '../../../components/notice.tsx';
import { useSendsMail, useServices } from '../../../state/services.ts';
import { useSubmit } from '../../../state/use-submit.ts';
import { Results, type RowResult } from './results.tsx';

export interface BulkChange {
  readonly action: 'renew' | 'revoke';
  readonly count: number;
  /** Whether there are more than the server counts. */
  readonly isMore: boolean;
  /** The selection, as the server expects it. */
  readonly body: object;
}

/** Confirms a change of many invitations, makes it in batches, and shows the new links. */
export function BulkDialog(props: {
  readonly app: App;
  readonly change: BulkChange;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}) {
  const { app, change, onChanged, onClose } = props;
  const { session, toasts } = useServices();
  const [done, setDone] = useState(0);
  const [cursor, setCursor] = useState<string>();
  const [results, setResults] = useState<readonly RowResult[]>([]);
  const [isComplete, setComplete] = useState(false);
  const [isSaved, setSaved] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const isRenewal = change.action === 'renew';

  const canBeMailed = useSendsMail() && isRenewal;
  const [isMailed, setMailed] = useState(false);
  const form = useSubmit(async () => {
    let [changed, after, links] = [done, cursor, results];
    do {
      const path = `/api/v1/apps/${app.id}/invitations/${change.action}`;
      const batch = await session.api.post<RenewedInvitations | RevokedInvitations>(path, {
        ...change.body,
        ...(isMailed && { deliveryMethod: 'email' }),
        cursor: after,
      });
      if ('objects' in batch) links = [...links, ...batch.objects.map(toResult)];
      changed += 'objects' in batch ? batch.objects.length : batch.revoked;
      after = batch.nextCursor;
      setDone(changed);
      setCursor(after);
      setResults(links);
    } while (after !== undefined);
    onChanged();
    if (links.length > 0) return setComplete(true);
    toasts.show(`${counted(changed, 'invitation')} ${isRenewal ? 'renewed' : 'revoked'}.`);
    onClose();
  });
  const close = (): void => {
    if (results.length > 0 && !isSaved && !isLeaving) {
      setLeaving(true);
      return;
    }
    if (done > 0 && !isComplete) onChanged();
    onClose();
  };
  if (isComplete || (isLeaving && results.length > 0)) {
    return (
      <Dialog title="New links" isWide onClose={close}>
        <div class="stack">
          <Results results={results} onSaved={() => setSaved(true)} />
          {isLeaving && !isSaved ? (
            <Notice kind="failed" title="You haven’t saved the links yet">
              <p>After you close this dialog, they can’t be shown again.</p>
            </Notice>
          ) : null}
          <div class="actions actions-end">
            <Button kind={isLeaving && !isSaved ? 'danger' : 'primary'} onClick={close}>
              {isLeaving && !isSaved ? 'Close without saving' : 'Done'}
            </Button>
          </div>
        </div>
      </Dialog>
    );
  }
  const many = `${change.isMore ? 'more than ' : ''}${counted(Math.min(change.count, maxCounted), isRenewal ? 'new link' : 'invitation')}`;
  return (
    <FormDialog
      title={isRenewal ? `Create ${many}?` : `Revoke ${many}?`}
      action={isRenewal ? 'Create links' : 'Revoke'}
      isDangerous={!isRenewal}
      form={form}
      onClose={close}
    >
      <p>
        {isRenewal
          ? 'Each invitation gets a new link and a full lifetime. The previous links stop working.'
          : 'Their links stop working at once. You can invite again at any time.'}
      </p>
      {canBeMailed ? (
        <CheckboxField
          label="Also send the links by e-mail"
          name="isMailed"
          isChecked={isMailed}
          onChange={setMailed}
          hint="To the invitations that have an e-mail address."
        />
      ) : null}
      {form.isBusy || done > 0 ? (
        <p role="status">
          {count(done)} of {count(change.count)} done
        </p>
      ) : null}
    </FormDialog>
  );
}

function toResult({
  guestKey,
  name,
  email,
  link,
  expiresAt,
  isMailed,
}: RenewedInvitations['objects'][number]): RowResult {
  const row = { guestKey, ...(name !== null && { name }), ...(email !== null && { email }) };
  return { row, result: { guestKey, outcome: 'renewed', link, expiresAt, isMailed } };
}
