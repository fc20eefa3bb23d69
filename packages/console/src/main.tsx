import { render } from 'preact';
import { App } from './app.tsx';
import { basePath } from './base-path.ts';
import { keepLinkCode } from './state/link-codes.ts';
import { createMemory } from './state/memory.ts';
import { createSession } from './state/session.ts';
import { applyTheme, readTheme } from './state/theme.ts';
import { createToasts } from './state/toasts.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/components.css';
import './styles/data.css';
import './styles/guest.css';

applyTheme(readTheme());
keepLinkCode();
// Another link of the same kind, opened in the same tab, changes the fragment alone: the page begins anew with its code.
addEventListener('hashchange', () => {
  if (keepLinkCode()) location.reload();
});

const session = createSession({
  basePath,
  fetch: (input, init) => fetch(input, init),
  clock: Date.now,
  channel: new BroadcastChannel(`tenon:${basePath}`),
});
void session.load();

// A page whose code is gone belongs to a version that the server has replaced: the new one is loaded, once.
addEventListener('vite:preloadError', (event) => {
  const key = 'tenon.reloaded';
  if (Date.now() - Number(sessionStorage.getItem(key)) < 60_000) return;
  event.preventDefault();
  sessionStorage.setItem(key, String(Date.now()));
  location.reload();
});

const root = document.getElementById('app');
if (root !== null) render(<App services={{ session, toasts: createToasts(), memory: createMemory() }} />, root);
