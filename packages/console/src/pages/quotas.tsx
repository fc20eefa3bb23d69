import type { QuotaOverride } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { hasCode } from '../api/api-error.ts';
import { Button } from '../components/button.tsx';
import { byteSize } from '../components/byte-size.ts';
import { count } from '../components/count.ts';
import { DataTable } from '../components/data-table.tsx';
import { DeleteDialog } from '../components/delete-dialog.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { TextField } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { OperatorsOnly } from '../components/operators-only.tsx';
import { Page } from '../components/page.tsx';
import { Time } from '../components/time.tsx';
import { useList } from '../state/use-list.ts';
import { useSubmit } from '../state/use-submit.ts';
import { overridesPath, SetQuotaDialog } from './quotas/set-quota-dialog.tsx';

/** The quotas that operators have set for one account or application, for operators. */
export function QuotasPage() {
  const overrides = useList<QuotaOverride>('/api/v1/quota-overrides', {});
  const [step, setStep] = useState<{ readonly subjectId?: string }>();
  const [removed, setRemoved] = useState<QuotaOverride>();
  const { page } = overrides;
  if (page.status === 'failed' && hasCode(page.error, 'forbidden')) return <OperatorsOnly title="Quotas" />;
  const set = <Button onClick={() => setStep({})}>Set a quota</Button>;
  return (
    <Page
      title="Quotas"
      intro="Quotas that operators have set for one account or application. They take precedence over the server’s settings."
      crumbs={[{ label: 'Users', to: '/users' }]}
      actions={overrides.isEmpty ? undefined : set}
    >
      <DataTable
        list={overrides}
        caption="Quotas"
        noun="quota"
        empty={
          <EmptyState title="No quotas are set" action={set}>
            <p>Every account and application has the quotas of the server’s settings.</p>
          </EmptyState>
        }
        rowKey={({ subjectId, name }) => `${subjectId} ${name}`}
        columns={[
          { header: 'Of', cell: ({ subjectName, subjectId }) => subjectName ?? subjectId },
          { header: 'Id', cell: ({ subjectId }) => <code class="small">{subjectId}</code> },
          { header: 'Quota', cell: ({ name }) => <code>{name}</code> },
          { header: 'Limit', cell: ({ name, limit }) => (name.endsWith('-bytes') ? byteSize(limit) : count(limit)) },
          { header: 'Set', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: (one) => (
              <Button
                kind="quiet"
                isSmall
                label={`Remove ${one.name} of ${one.subjectName ?? one.subjectId}`}
                onClick={() => setRemoved(one)}
              >
                Remove…
              </Button>
            ),
          },
        ]}
      />
      {step === undefined ? null : step.subjectId === undefined ? (
        <SubjectDialog onChosen={(subjectId) => setStep({ subjectId })} onClose={() => setStep(undefined)} />
      ) : (
        <SetQuotaDialog subjectId={step.subjectId} onSet={page.reload} onClose={() => setStep(undefined)} />
      )}
      {removed === undefined ? null : (
        <DeleteDialog
          title={`Remove the quota ${removed.name}?`}
          action="Remove quota"
          onClose={() => setRemoved(undefined)}
          apiPath={`${overridesPath(removed.subjectId)}/${removed.name}`}
          done="Quota removed."
          onDone={page.reload}
        >
          <p>The setting of the server or the default applies. Nothing is deleted.</p>
        </DeleteDialog>
      )}
    </Page>
  );
}

const idPattern = /^(?:usr|app)_[0-9a-z]{26}$/;

function SubjectDialog({
  onChosen,
  onClose,
}: {
  readonly onChosen: (subjectId: string) => void;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState('');
  const id = text.trim();
  const form = useSubmit(async () => onChosen(id));
  return (
    <FormDialog
      title="Whose quota?"
      action="Continue"
      missing={idPattern.test(id) ? undefined : 'Enter the id of an account (usr_…) or an application (app_…).'}
      form={form}
      onClose={onClose}
    >
      <TextField label="Id" name="subject" value={text} onInput={setText} isCode hasFocus />
    </FormDialog>
  );
}
