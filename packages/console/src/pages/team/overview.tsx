import type { App, AppOverview } from '@tenon/protocol';
import { maxCounted } from '@tenon/protocol/list-limits';
import { useEffect } from 'preact/hooks';
import { count, counted } from '../../components/count.ts';
import { Link } from '../../components/link.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { useUsage } from '../../state/use-usage.ts';
import { AppFrame } from './app-frame.tsx';
import { Onboarding } from './onboarding.tsx';
import './overview.css';
import { RecentActivity } from './recent-activity.tsx';
import { mayOwn, useApp } from './use-app.ts';
import { useOverview } from './use-overview.ts';

/** An application for its team: numbers, the first steps, waiting work, and recent activity. */
export function AppOverviewPage() {
  const { appId, app } = useApp();
  const overview = useOverview(appId);
  const usage = useUsage(appId, [appId]);
  const isWaiting = overview.status === 'ready' && overview.data.plugins > 0;
  useFirstUse(appId, isWaiting, usage);
  return (
    <AppFrame
      app={app}
      part="Overview"
      approvals={overview.status === 'ready' ? overview.data.awaitingApproval : 'loading'}
    >
      {(data) => (
        <Loaded of={overview} lines={6}>
          {(numbers) => (
            <>
              <Numbers app={data} overview={numbers} />
              <Loaded of={usage}>
                {(used) => (
                  <Onboarding app={data} overview={numbers} usage={used.get(appId)} reloadUsage={usage.reload} />
                )}
              </Loaded>
              <Waiting app={data} overview={numbers} />
              {mayOwn(data.role) ? <RecentActivity app={data} /> : null}
            </>
          )}
        </Loaded>
      )}
    </AppFrame>
  );
}

/** How often the page asks whether a host has fetched a plugin. The server writes usage once a minute. */
const firstUseIntervalMs = 10_000;

/** Refetches usage until there is some: requests of hosts are no updates that the page would follow. */
function useFirstUse(appId: string, isWaiting: boolean, usage: ReturnType<typeof useUsage>): void {
  const isUnused = isWaiting && usage.status === 'ready' && !usage.data.has(appId);
  useEffect(() => {
    if (!isUnused) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') usage.reload();
    }, firstUseIntervalMs);
    return () => clearInterval(timer);
  }, [isUnused, usage.reload]);
}

function Numbers({ app, overview }: { readonly app: App; readonly overview: AppOverview }) {
  const base = `/apps/${app.id}`;
  const numbers: readonly (readonly [label: string, value: number, to: string])[] = [
    ['Plugins', overview.plugins, `${base}/plugins`],
    ['Extension points', overview.extensionPoints, `${base}/extension-points`],
    ['Guests', overview.guests, `${base}/guests`],
    ['Pending invitations', overview.pendingInvitations, `${base}/invitations?status=pending`],
    ['Awaiting approval', overview.awaitingApproval, `${base}/approvals`],
    ['Team', overview.members, `${base}/members`],
  ];
  return (
    <ul class="numbers" aria-label="Numbers">
      {numbers.map(([label, value, to]) => (
        <li key={label}>
          <Link to={to}>
            <span class="number">{value > maxCounted ? `${count(maxCounted)}+` : count(value)}</span>
            <span class="soft">{label}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Work that waits for the team. Renders nothing without such work. */
function Waiting({ app, overview }: { readonly app: App; readonly overview: AppOverview }) {
  const base = `/apps/${app.id}`;
  const { awaitingApproval, blockedPlugins } = overview;
  if (awaitingApproval === 0 && blockedPlugins === 0) return null;
  return (
    <Section title="Waiting for your team">
      <ul class="waiting-work">
        {awaitingApproval === 0 ? null : (
          <li>
            <span>
              <strong>{counted(awaitingApproval, 'version')}</strong>{' '}
              {awaitingApproval === 1 ? 'awaits approval' : 'await approval'}
            </span>
            <Link to={`${base}/approvals`}>Review</Link>
          </li>
        )}
        {blockedPlugins === 0 ? null : (
          <li>
            <span>
              <strong>{counted(blockedPlugins, 'plugin')}</strong> {blockedPlugins === 1 ? 'is blocked' : 'are blocked'}
            </span>
            <Link to={`${base}/plugins?state=blocked`}>View</Link>
          </li>
        )}
      </ul>
    </Section>
  );
}
