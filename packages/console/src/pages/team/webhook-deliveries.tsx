import type { WebhookDelivery, WebhookReplayed } from '@tenon/protocol';
import { useEffect } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { counted } from '../../components/count.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useServices } from '../../state/services.ts';
import type { PagedList } from '../../state/use-list.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { deliveryKinds, deliveryResult } from './webhook-words.ts';

/** How often the log is read while a delivery is about to be sent, in milliseconds. */
const pollMs = 2000;

const dayMs = 24 * 60 * 60 * 1000;

/** The log of a webhook's deliveries. */
export function WebhookDeliveries(props: {
  readonly deliveries: PagedList<WebhookDelivery>;
  readonly apiPath: string;
  readonly isEnabled: boolean;
}) {
  const { deliveries, apiPath, isEnabled } = props;
  const { session, toasts } = useServices();
  const { page } = deliveries;
  const isWaiting =
    page.status === 'ready' && page.data.objects.some(({ state, attempts }) => state === 'pending' && attempts === 0);
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(page.reload, pollMs);
    return () => clearInterval(timer);
  }, [isWaiting]);
  const replayFailed = useSubmit(async () => {
    const since = new Date(Date.now() - 7 * dayMs).toISOString();
    const { replayed } = await session.api.post<WebhookReplayed>(`${apiPath}/replay`, { since });
    toasts.show(replayed === 0 ? 'No delivery has failed.' : `${counted(replayed, 'delivery')} queued again.`);
    page.reload();
  });
  return (
    <Section
      title="Deliveries"
      intro="The newest first, for 30 days."
      actions={
        deliveries.isEmpty ? undefined : (
          <Button kind="quiet" isDisabled={!isEnabled} isBusy={replayFailed.isBusy} onClick={replayFailed.submit}>
            Replay failed of 7 days
          </Button>
        )
      }
    >
      <ErrorView error={replayFailed.error} />
      <DataTable
        list={deliveries}
        caption="Deliveries"
        noun="delivery"
        empty={
          <EmptyState title="No deliveries">
            <p>The next event that matches is sent within seconds. Send a test to try it.</p>
          </EmptyState>
        }
        rowKey={({ id }) => id}
        columns={[
          { header: 'Event', cell: ({ type }) => <code class="small">{type}</code> },
          { header: 'State', cell: ({ state }) => <Badge kind={deliveryKinds[state]}>{state}</Badge> },
          { header: 'Result', cell: (delivery) => <Result delivery={delivery} /> },
          { header: 'Attempts', cell: ({ attempts }) => attempts },
          { header: 'Queued', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: (delivery) =>
              delivery.state === 'pending' ? null : (
                <ReplayButton delivery={delivery} apiPath={apiPath} isDisabled={!isEnabled} onDone={page.reload} />
              ),
          },
        ]}
      />
    </Section>
  );
}

function Result({ delivery }: { readonly delivery: WebhookDelivery }) {
  const { response, nextAttemptAt, attempts } = delivery;
  return (
    <>
      {deliveryResult(delivery)}
      {nextAttemptAt === null || attempts === 0 ? null : (
        <div class="soft small">
          next attempt <Time at={nextAttemptAt} />
        </div>
      )}
      {response === null || response === '' ? null : (
        <details>
          <summary class="small">Response</summary>
          <pre class="small">{response}</pre>
        </details>
      )}
    </>
  );
}

function ReplayButton(props: {
  readonly delivery: WebhookDelivery;
  readonly apiPath: string;
  readonly isDisabled: boolean;
  readonly onDone: () => void;
}) {
  const { delivery, apiPath, isDisabled, onDone } = props;
  const { session, toasts } = useServices();
  const { submit, isBusy } = useSubmit(async () => {
    try {
      await session.api.post(`${apiPath}/deliveries/${delivery.id}/replay`);
    } catch (error) {
      toasts.show(error instanceof Error ? error.message : 'The replay failed.', 'failed');
    }
    onDone();
  });
  return (
    <Button
      kind="quiet"
      isSmall
      isBusy={isBusy}
      isDisabled={isDisabled}
      label={`Replay ${delivery.type} ${delivery.id}`}
      onClick={submit}
    >
      Replay
    </Button>
  );
}
