import type { App, CreatedWebhook, Webhook } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Link } from '../../components/link.tsx';
import { Notice } from '../../components/notice.tsx';
import { Section } from '../../components/page.tsx';
import { useList } from '../../state/use-list.ts';
import { AppFrame } from './app-frame.tsx';
import { mayOwn, useApp } from './use-app.ts';
import { WebhookDialog } from './webhook-dialog.tsx';
import { WebhookSecretDialog } from './webhook-secret.tsx';
import { webhookStates } from './webhook-words.ts';

export { WebhookPage } from './webhook.tsx'; // one chunk for both pages

/** The URLs to which an application's audit events are sent. */
export function WebhooksPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Webhooks">
      {(data) => (mayOwn(data.role) ? <Webhooks app={data} /> : <OnlyOwners />)}
    </AppFrame>
  );
}

/** For members that may not see webhooks. */
export function OnlyOwners() {
  return (
    <Section title="Webhooks">
      <Notice kind="warning" title="Only owners can see webhooks">
        <p>A webhook sends the audit trail, which only owners may read.</p>
      </Notice>
    </Section>
  );
}

function Webhooks({ app }: { readonly app: App }) {
  const apiPath = `/api/v1/apps/${app.id}/webhooks`;
  const list = useList<Webhook>(apiPath);
  const [isAdding, setAdding] = useState(false);
  const [created, setCreated] = useState<CreatedWebhook>();
  const addButton = <Button onClick={() => setAdding(true)}>New webhook</Button>;
  return (
    <Section
      title="Webhooks"
      intro="The server sends the events of the audit trail to these URLs."
      actions={list.isEmpty ? undefined : addButton}
    >
      <DataTable
        list={list}
        caption="Webhooks"
        noun="webhook"
        empty={
          <EmptyState title="No webhooks" action={addButton}>
            <p>With a webhook, a chat, a CI service, or your own program gets each change as it happens.</p>
          </EmptyState>
        }
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'URL',
            cell: ({ id, url, description }) => (
              <>
                <Link to={`/apps/${app.id}/webhooks/${id}`}>{description ?? url}</Link>
                {description === null ? null : <div class="soft small">{url}</div>}
              </>
            ),
          },
          {
            header: 'State',
            cell: ({ state }) => <Badge kind={webhookStates[state].kind}>{webhookStates[state].word}</Badge>,
          },
          {
            header: 'Events',
            cell: ({ actions }) => (actions === null ? 'all' : <code class="small">{actions.join(' ')}</code>),
          },
        ]}
      />
      {isAdding ? (
        <WebhookDialog<CreatedWebhook>
          title="New webhook"
          action="Create webhook"
          apiPath={apiPath}
          onDone={(webhook) => {
            setAdding(false);
            setCreated(webhook);
            list.page.reload();
          }}
          onClose={() => setAdding(false)}
        />
      ) : null}
      {created === undefined ? null : (
        <WebhookSecretDialog title="Webhook created" secret={created.secret} onClose={() => setCreated(undefined)} />
      )}
    </Section>
  );
}
