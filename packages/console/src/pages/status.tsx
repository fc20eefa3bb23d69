import { hasCode } from '../api/api-error.ts';
import { ErrorView } from '../components/error-view.tsx';
import { Notice } from '../components/notice.tsx';
import { OperatorsOnly } from '../components/operators-only.tsx';
import { Page, Section } from '../components/page.tsx';
import { Readiness } from '../components/readiness.tsx';
import { Skeleton } from '../components/spinner.tsx';
import { NodeTable, ProcessCard } from './status/process-card.tsx';
import './status/status.css';
import type { ServerStatus } from '@tenon/protocol';
import { concernsOf } from './status/status-model.ts';
import { Stores } from './status/stores.tsx';
import { useStatus } from './status/use-status.ts';

const timeOfDay = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' });

/** The server's status for operators; refreshes while visible. */
export function StatusPage() {
  const { status, error } = useStatus();
  if (hasCode(error, 'forbidden')) return <OperatorsOnly title="Status" />;
  return (
    <Page title="Status">
      {error === undefined ? null : (
        <>
          <ErrorView error={error} />
          <Readiness cause={error} />
        </>
      )}
      {status !== undefined ? (
        <StatusBody status={status} isStale={error !== undefined} />
      ) : error === undefined ? (
        <Skeleton lines={6} />
      ) : null}
    </Page>
  );
}

/** @param isStale whether the last request failed */
function StatusBody({ status, isStale }: { readonly status: ServerStatus; readonly isStale: boolean }) {
  return (
    <div class={isStale ? 'status-stale' : undefined}>
      {isStale ? <LastKnown status={status} /> : <Summary status={status} />}
      <Section title="Stores">
        <Stores status={status} />
      </Section>
      <Section title="This process">
        <ProcessCard process={status.process} />
      </Section>
      {status.nodes.length === 0 ? null : (
        <Section title="Nodes">
          <NodeTable nodes={status.nodes} readAt={status.readAt} />
        </Section>
      )}
    </div>
  );
}

function LastKnown({ status: { readAt } }: { readonly status: ServerStatus }) {
  return (
    <h2>
      Last known state, <time dateTime={readAt}>{timeOfDay.format(new Date(readAt))}</time>
    </h2>
  );
}

/** The problems. Screen readers announce changes, not each refresh. */
function Summary({ status }: { readonly status: ServerStatus }) {
  const concerns = concernsOf(status);
  const isBad = concerns.some(({ kind }) => kind === 'bad');
  const title = concerns.length === 0 ? 'All is well' : isBad ? 'Something is wrong' : 'Needs attention';
  return (
    <div role="status" class="status-summary">
      <Notice kind={concerns.length === 0 ? 'done' : 'warning'} title={title}>
        {concerns.length === 0 ? null : (
          <ul>
            {concerns.map(({ text }) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        )}
      </Notice>
      <p class="soft small" aria-live="off">
        Updated <time dateTime={status.readAt}>{timeOfDay.format(new Date(status.readAt))}</time>; refreshes every 5 s.
      </p>
    </div>
  );
}
