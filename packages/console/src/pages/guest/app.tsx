import type { App, ExtensionPoint } from '@tenon/protocol';
import { EmptyState } from '../../components/empty-state.tsx';
import { Link } from '../../components/link.tsx';
import { Page } from '../../components/page.tsx';
import { Skeleton } from '../../components/spinner.tsx';
import { useAccount, useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { AppError } from '../app-error.tsx';
import { AppTabs } from '../team/app-tabs.tsx';
import { useApp } from '../team/use-app.ts';
import { GuestOnly } from './guest-frame.tsx';
import { ownPluginsOf } from './own-plugins-of.ts';

/** An application as its guests see it: where plugins fit in, and which of their own are there. */
export function GuestAppPage() {
  const api = useApi();
  const { appId, app } = useApp();
  const path = `/api/v1/apps/${encodeURIComponent(appId)}/extension-points`;
  const points = useCachedData(path, (signal) => api.list<ExtensionPoint>(path, { signal }));
  const failed = app.status === 'failed' ? app : points.status === 'failed' ? points : undefined;
  if (failed !== undefined) return <AppError error={failed.error} onRetry={failed.reload} />;
  const name = app.status === 'ready' ? app.data.name : 'Application';
  return (
    <Page title={name} windowTitle={`My plugins · ${name}`} crumbs={[{ label: 'Applications', to: '/' }]}>
      {app.status === 'ready' && points.status === 'ready' ? (
        <>
          {app.data.role === 'guest' ? null : <AppTabs app={app.data} />}
          <GuestOnly app={app.data}>
            <ExtensionPoints app={app.data} points={points.data} />
          </GuestOnly>
        </>
      ) : (
        <Skeleton lines={4} />
      )}
    </Page>
  );
}

function ExtensionPoints({ app, points }: { readonly app: App; readonly points: readonly ExtensionPoint[] }) {
  if (points.length === 0) {
    return (
      <EmptyState title="No extension points yet">
        <p>
          The team of {app.name} has not created any yet. They will appear here, with what a plugin for each must
          export.
        </p>
      </EmptyState>
    );
  }
  return (
    <section class="section">
      <h2>Extension points</h2>
      <p class="soft">Where your plugins extend {app.name}. Open one to see its requirements and to publish.</p>
      <ul class="cards">
        {points.map((point) => (
          <li key={point.id} class="card-link">
            <Link to={`/apps/${app.id}/plugins/${point.id}`}>{point.name}</Link>
            <span class="card-foot soft small">
              <ExportCount count={Object.keys(point.schema.exports).length} />
              <OwnCount extensionPointId={point.id} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ExportCount({ count }: { readonly count: number }) {
  if (count === 0) return <span>no exports named</span>;
  return <span>{count === 1 ? '1 export' : `${count} exports`}</span>;
}

function OwnCount({ extensionPointId }: { readonly extensionPointId: string }) {
  const api = useApi();
  const { id } = useAccount();
  const own = useCachedData(`own plugins ${extensionPointId}`, (signal) =>
    ownPluginsOf(api, extensionPointId, id, signal),
  );
  if (own.status !== 'ready') return null; // the page of the extension point tells what went wrong
  const count = own.data.length;
  return <span>· {count === 0 ? 'no plugins yet' : count === 1 ? '1 plugin' : `${count} plugins`}</span>;
}
