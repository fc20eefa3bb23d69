import { render } from 'preact';
import { App } from './app.tsx';
import { basePath } from './base-path.ts';
import { hasStorage, StorageBlocked } from './components/storage-blocked.tsx';
import { dataPaths } from './routes/data-paths.ts';
import { storeLinkCode } from './state/link-codes.ts';
import { createLiveUpdates } from './state/live-updates.ts';
import { createNavigationGuard } from './state/navigation-guard.ts';
import { createPageCache } from './state/page-cache.ts';
import { takePageStart } from './state/page-start.ts';
import { createSession } from './state/session.ts';
import { applyTheme, readTheme } from './state/theme.ts';
import { createToasts } from './state/toasts.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/components.css';
import './styles/data.css';
import './styles/guest.css';

const root = document.getElementById('app') ?? document.body;
if (hasStorage()) start();
else render(<StorageBlocked />, root);

function start(): void {
  applyTheme(readTheme());
  storeLinkCode();
  // A second link of the same kind in the same tab changes only the fragment. Reload the page with its code.
  addEventListener('hashchange', () => {
    if (storeLinkCode()) location.reload();
  });
  const pageStart = takePageStart();
  const session = createSession({
    basePath,
    fetch: (input, init) => fetch(input, init),
    clock: Date.now,
    channel: new BroadcastChannel(`tenon:${basePath}`),
    initial: pageStart?.session,
  });
  if (pageStart === undefined) void session.load();
  else {
    session.api.prefetch(dataPaths(location.pathname), pageStart.accessToken);
    session.api.accessToken().catch(() => undefined); // for the requests after the first ones, which report its errors
  }
  // A page that the browser restores may show data of a user who has signed out.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void session.load();
  });
  render(
    <App
      services={{
        session,
        toasts: createToasts(),
        pageCache: createPageCache(),
        navigationGuard: createNavigationGuard(),
        liveUpdates: createLiveUpdates(session),
      }}
    />,
    root,
  );
}
