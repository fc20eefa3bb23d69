import type { App, CreatedWebhook, Webhook, WebhookDelivery } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { Notice } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { useApi, useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import type { Data } from '../../state/use-data.ts';
import { useList } from '../../state/use-list.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { AppPageFrame } from './app-frame.tsx';
import { useApp } from './use-app.ts';
import { WebhookDeliveries } from './webhook-deliveries.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';
import { WebhookSecretDialog } from './webhook-secret.tsx';
import { webhookStates } from './webhook-words.ts';

/** A webhook, and the log of its deliveries. */
export function WebhookPage() {
  const { appId, app } = useApp();
  const api = useApi();
  const { webhookId = '' } = useRoute().params;
  const apiPath = `/api/v1/apps/${appId}/webhooks/${encodeURIComponent(webhookId)}`;
  const webhook = useCachedData(apiPath, (signal) => api.get<Webhook>(apiPath, { signal }));
  return (
    <AppPageFrame
      app={app}
      part={{ label: 'Webhooks', to: `/apps/${appId}/webhooks` }}
      thing={webhook}
      titleOf={({ description, url }) => description ?? new URL(url).host}
      kind="Webhook"
    >
      {(data, { id }) => <WebhookView app={{ id }} webhook={data} of={webhook} apiPath={apiPath} />}
    </AppPageFrame>
  );
}

type Open = 'edit' | 'rotate' | 'delete';

function WebhookView(props: {
  readonly app: Pick<App, 'id'>;
  readonly webhook: Webhook;
  readonly of: Data<Webhook>;
  readonly apiPath: string;
}) {
  const { app, webhook, of, apiPath } = props;
  const { session, toasts } = useServices();
  const { route } = useLocation();
  const deliveries = useList<WebhookDelivery>(`${apiPath}/deliveries`, { filters: ['state'] });
  const [open, setOpen] = useState<Open>();
  const [secret, setSecret] = useState<string>();
  const isEnabled = webhook.state === 'enabled';
  const test = useSubmit(async () => {
    await session.api.post(`${apiPath}/test`);
    toasts.show('A test is on its way. Its result is in the log.');
    deliveries.page.reload();
  });
  const enable = useSubmit(async () => {
    const changed = await session.api.put<Webhook>(apiPath, { isEnabled: !isEnabled });
    of.update(() => changed);
  });
  return (
    <div class="stack">
      {webhook.state === 'gone' || webhook.state === 'failing' ? (
        <Notice kind="warning" title="The server disabled this webhook">
          <p>
            {webhook.state === 'gone' ? 'Its receiver answered 410 Gone.' : 'All deliveries failed for days.'} Events of
            the meantime are not sent. Enable it when its receiver works again.
          </p>
        </Notice>
      ) : null}
      <Facts webhook={webhook} />
      <div class="actions">
        <Button onClick={test.submit} isBusy={test.isBusy} isDisabled={!isEnabled}>
          Send test
        </Button>
        <Button kind="quiet" onClick={() => setOpen('edit')}>
          Edit…
        </Button>
        <Button kind="quiet" onClick={enable.submit} isBusy={enable.isBusy}>
          {isEnabled ? 'Disable' : 'Enable'}
        </Button>
        <Button kind="quiet" onClick={() => setOpen('rotate')}>
          Rotate secret…
        </Button>
        <Button kind="quiet" onClick={() => setOpen('delete')}>
          Delete…
        </Button>
      </div>
      <ErrorView error={test.error ?? enable.error} />
      <WebhookDeliveries deliveries={deliveries} apiPath={apiPath} isEnabled={isEnabled} />
      {open === 'edit' ? (
        <WebhookDialog<Webhook>
          title="Edit webhook"
          action="Save"
          webhook={webhook}
          apiPath={apiPath}
          onDone={(changed) => {
            of.update(() => changed);
            setOpen(undefined);
          }}
          onClose={() => setOpen(undefined)}
        />
      ) : null}
      {open === 'rotate' ? (
        <ConfirmDialog
          title="Rotate the secret?"
          action="Rotate secret"
          isDangerous={false}
          onConfirm={async () => {
            const { secret: made, ...changed } = await session.api.post<CreatedWebhook>(`${apiPath}/secrets`, {});
            of.update(() => changed);
            setOpen(undefined);
            setSecret(made);
          }}
          onClose={() => setOpen(undefined)}
        >
          <p>The server signs with the old and the new secret for 24 hours. Change the receiver in this time.</p>
        </ConfirmDialog>
      ) : null}
      {open === 'delete' ? (
        <DeleteDialog
          title="Delete this webhook?"
          action="Delete webhook"
          apiPath={apiPath}
          done="Webhook deleted."
          onDone={() => route(href(`/apps/${app.id}/webhooks`))}
          onClose={() => setOpen(undefined)}
        >
          <p>It gets no events any more. Its secrets and its log are deleted.</p>
        </DeleteDialog>
      ) : null}
      {secret === undefined ? null : (
        <WebhookSecretDialog title="Secret rotated" secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </div>
  );
}

function Facts({ webhook: { url, state, actions, failingSince, secrets } }: { readonly webhook: Webhook }) {
  const old = secrets.filter(({ expiresAt }) => expiresAt !== null);
  return (
    <dl class="facts">
      <div>
        <dt>URL</dt>
        <dd>
          <code class="small">{url}</code>
        </dd>
      </div>
      <div>
        <dt>State</dt>
        <dd>
          <Badge kind={webhookStates[state].kind}>{webhookStates[state].word}</Badge>
          {failingSince === null ? null : (
            <span class="soft small">
              {' '}
              fails since <Time at={failingSince} />
            </span>
          )}
        </dd>
      </div>
      <div>
        <dt>Events</dt>
        <dd>{actions === null ? 'all' : <code class="small">{actions.join(' ')}</code>}</dd>
      </div>
      {old.length === 0 ? null : (
        <div>
          <dt>Old secrets</dt>
          <dd>
            {old.length}, the last signs until <Time at={old[0]?.expiresAt ?? null} />
          </dd>
        </div>
      )}
    </dl>
  );
}
