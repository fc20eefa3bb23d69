import type { App } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { hasCode } from '../../api/api-error.ts';
import { href } from '../../base-path.ts';
import { ErrorView } from '../../components/error-view.tsx';
import { type Crumb, Page } from '../../components/page.tsx';
import { Skeleton } from '../../components/spinner.tsx';
import type { Data } from '../../state/use-data.ts';
import { AppError } from '../app-error.tsx';
import { NotFoundPage } from '../not-found.tsx';
import { AppTabs, type KnownApprovals } from './app-tabs.tsx';

const home: Crumb = { label: 'Applications', to: '/' };

/** The frame of an application's tabs. */
export function AppFrame({
  app,
  part,
  approvals,
  children,
}: {
  readonly app: Data<App>;
  /** The tab's name, for the window title: "Guests". */
  readonly part: string;
  readonly approvals?: KnownApprovals;
  readonly children: (app: App) => ComponentChildren;
}) {
  if (app.status === 'failed') return <AppError kind="Application" error={app.error} onRetry={app.reload} />;
  const name = app.status === 'ready' ? app.data.name : 'Application';
  return (
    <Page title={name} windowTitle={`${part} · ${name}`} crumbs={[home]}>
      {app.status === 'ready' ? (
        <>
          <AppTabs app={app.data} approvals={approvals} />
          <ForTeam app={app.data}>{children(app.data)}</ForTeam>
        </>
      ) : (
        <Skeleton />
      )}
    </Page>
  );
}

/** The frame of a page about one resource of an application, such as a guest. */
export function AppPageFrame<T>(props: {
  readonly app: Data<App>;
  /** The tab that lists such resources. */
  readonly part: Crumb;
  readonly thing: Data<T>;
  readonly titleOf: (thing: T) => string;
  /** The kind of resource, shown until its name is known: "Guest". */
  readonly kind: string;
  readonly actions?: (thing: T, app: App) => ComponentChildren;
  readonly children: (thing: T, app: App) => ComponentChildren;
}) {
  const { app, part, thing, kind } = props;
  if (app.status === 'failed') return <AppError kind="Application" error={app.error} onRetry={app.reload} />;
  const name = app.status === 'ready' ? app.data.name : 'Application';
  const appCrumb = app.status === 'ready' ? [{ label: name, to: `/apps/${app.data.id}` }] : [];
  const crumbs = [home, ...appCrumb, part];
  if (thing.status === 'failed' && hasCode(thing.error, 'not_found')) {
    return <NotFoundPage kind={kind} crumbs={crumbs} next={part} />;
  }
  const isReady = app.status === 'ready' && thing.status === 'ready';
  const title = thing.status === 'ready' ? props.titleOf(thing.data) : kind;
  return (
    <Page
      title={title}
      windowTitle={`${title} · ${name}`}
      crumbs={crumbs}
      actions={isReady && app.data.role !== 'guest' ? props.actions?.(thing.data, app.data) : undefined}
    >
      {thing.status === 'failed' ? (
        <ErrorView error={thing.error} onRetry={thing.reload} />
      ) : isReady ? (
        <ForTeam app={app.data}>{props.children(thing.data, app.data)}</ForTeam>
      ) : (
        <Skeleton lines={4} />
      )}
    </Page>
  );
}

/** Redirects guests from a team page to the guests' page of the same application. */
function ForTeam({ app, children }: { readonly app: App; readonly children: ComponentChildren }) {
  const { route } = useLocation();
  const isGuest = app.role === 'guest';
  useEffect(() => {
    if (isGuest) route(href(`/apps/${app.id}/my-plugins`), true);
  }, [isGuest, app.id]);
  return isGuest ? null : children;
}
