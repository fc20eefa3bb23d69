import type { CreatedWebhook, Webhook } from '@tenon/protocol';
import { type AuditAction, webhookActions } from '@tenon/protocol/audit-actions';
import { useState } from 'preact/hooks';
import { CheckboxField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useApi } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';

/** Creates a webhook, or changes one. The API client asks for step-up if the server requires it. */
export function WebhookDialog<T extends Webhook | CreatedWebhook>(props: {
  readonly title: string;
  readonly action: string;
  /** The webhook to change. */
  readonly webhook?: Webhook;
  /** The path of the API to which the fields are sent. */
  readonly apiPath: string;
  readonly onDone: (webhook: T) => void;
  readonly onClose: () => void;
}) {
  const { webhook, apiPath } = props;
  const api = useApi();
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [isAll, setAll] = useState((webhook?.actions ?? null) === null);
  const [actions, setActions] = useState<ReadonlySet<AuditAction>>(new Set(webhook?.actions ?? []));
  const form = useSubmit(async () => {
    const text = description.trim();
    const chosen = webhookActions.filter((action) => actions.has(action));
    const json = { url: url.trim(), description: text === '' ? null : text, actions: isAll ? null : chosen };
    props.onDone(webhook === undefined ? await api.post<T>(apiPath, json) : await api.put<T>(apiPath, json));
  }, ['url']);
  const toggle = (action: AuditAction, isChosen: boolean): void => {
    const next = new Set(actions);
    if (isChosen) next.add(action);
    else next.delete(action);
    setActions(next);
  };
  return (
    <FormDialog
      title={props.title}
      action={props.action}
      missing={isAll || actions.size > 0 ? undefined : 'Choose at least one event.'}
      form={form}
      onClose={props.onClose}
    >
      <TextField
        label="URL"
        name="url"
        value={url}
        onInput={setUrl}
        maxLength={2000}
        hint="An https URL with a public address."
        error={form.fieldError('url')}
        hasFocus
      />
      <TextField
        label="Description"
        name="description"
        value={description}
        onInput={setDescription}
        maxLength={200}
        isRequired={false}
      />
      <CheckboxField label="Send all events of the audit trail" name="all" isChecked={isAll} onChange={setAll} />
      {isAll ? null : (
        <fieldset>
          <legend>Events to send</legend>
          <div class="stack">
            {webhookActions.map((action) => (
              <CheckboxField
                key={action}
                label={<code class="small">{action}</code>}
                name={action}
                isChecked={actions.has(action)}
                onChange={(isChosen) => toggle(action, isChosen)}
              />
            ))}
          </div>
        </fieldset>
      )}
    </FormDialog>
  );
}
