import type { App, ListedExtensionPoint } from '@tenon/protocol';
import { count, counted } from '../../components/count.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { Link } from '../../components/link.tsx';
import { ListView } from '../../components/list-view.tsx';
import { Page } from '../../components/page.tsx';
import { Skeleton } from '../../components/spinner.tsx';
import { type PagedList, useList } from '../../state/use-list.ts';
import { AppError } from '../app-error.tsx';
import { AppTabs } from '../team/app-tabs.tsx';
import { useApp } from '../team/use-app.ts';
import { GuestOnly } from './guest-frame.tsx';
import { guestNames } from './guest-names.ts';

/** An application as its guests see it: where plugins fit in, and which of their own are there. */
export function GuestAppPage() {
  const { appId, app } = useApp();
  const points = useList<ListedExtensionPoint>(`/api/v1/apps/${encodeURIComponent(appId)}/extension-points`, {
    fixed: { schema: 'names' },
    sort: 'name',
  });
  if (app.status === 'failed') return <AppError error={app.error} onRetry={app.reload} />;
  const name = app.status === 'ready' ? app.data.name : 'Application';
  return (
    <Page title={name} windowTitle={`My plugins · ${name}`} crumbs={[{ label: 'Applications', to: '/' }]}>
      {app.status === 'ready' ? (
        <>
          {app.data.role === 'guest' ? null : <AppTabs app={app.data} />}
          <GuestOnly app={app.data}>
            <Guests app={app.data} />
            <ExtensionPoints app={app.data} points={points} />
          </GuestOnly>
        </>
      ) : (
        <Skeleton lines={4} />
      )}
    </Page>
  );
}

/** With more guests, only the first ones are named. */
const shownGuests = 5;

/** Names the guests that the user holds, if there are several or the team gave a label. */
function Guests({ app }: { readonly app: App }) {
  const names = [...guestNames(app).values()];
  if (app.guests.every(({ label }) => label === null)) return null;
  const more = names.length - shownGuests;
  const others = `${app.hasMoreGuests ? 'more than ' : ''}${count(more)} more`;
  const shown = more > 1 ? [...names.slice(0, shownGuests), others] : names;
  return <p>You are a guest for {new Intl.ListFormat('en').format(shown)}.</p>;
}

function ExtensionPoints({ app, points }: { readonly app: App; readonly points: PagedList<ListedExtensionPoint> }) {
  return (
    <ListView
      list={points}
      caption="Extension points"
      noun="extension point"
      searchHint="Extension point name"
      empty={
        <EmptyState title="No extension points yet">
          <p>
            The team of {app.name} has not created any yet. They will appear here, with what a plugin for each must
            export.
          </p>
        </EmptyState>
      }
    >
      {(rows) => <ExtensionPointCards app={app} points={rows} />}
    </ListView>
  );
}

function ExtensionPointCards({ app, points }: { readonly app: App; readonly points: readonly ListedExtensionPoint[] }) {
  return (
    <section class="section">
      <h2>Extension points</h2>
      <p class="soft">Where your plugins extend {app.name}. Open one to see its requirements and to publish.</p>
      <ul class="cards">
        {points.map((point) => (
          <li key={point.id} class="card-link">
            <Link to={`/apps/${app.id}/my-plugins/${point.id}`}>{point.name}</Link>
            <span class="card-foot soft small">
              <ExportCount count={Object.keys(point.schema.exports).length} />
              <OwnCount count={point.ownPlugins} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ExportCount({ count }: { readonly count: number }) {
  return <span>{count === 0 ? 'no exports named' : counted(count, 'export')}</span>;
}

function OwnCount({ count }: { readonly count: number }) {
  return <span>· {count === 0 ? 'no plugins yet' : counted(count, 'plugin')}</span>;
}
