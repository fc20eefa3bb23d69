import type { Account } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { basePath, href } from '../base-path.ts';
import { useServices, useSession, useToast } from '../state/services.ts';
import { readTheme, saveTheme, type Theme, themeChanged } from '../state/theme.ts';
import { tracePath } from '../state/trace-path.ts';
import { DocsLink } from './docs-link.tsx';
import { Logo } from './logo.tsx';
import { SearchButton, useSearch } from './search/search-button.tsx';

/** The frame of the pages for people who are signed in. */
export function Layout({ children }: { readonly children: ComponentChildren }) {
  const { view } = useSession();
  const account = view.status === 'ready' ? view.account : null;
  const search = useSearch();
  return (
    <div class="frame">
      <SkipLink />
      <header class="top">
        <div class="top-inner">
          <Brand />
          {account === null ? null : <SearchButton onClick={search.open} />}
          {account === null ? null : <Navigation account={account} />}
        </div>
      </header>
      <main id="main" class="main">
        {children}
      </main>
      <Footer />
      {account === null ? null : search.dialog}
    </div>
  );
}

/** The frame of single-purpose pages: a card in the middle. */
export function BareLayout({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="frame frame-bare">
      <SkipLink />
      <header class="bare-top">
        <Brand />
      </header>
      <main id="main" class="card">
        {children}
      </main>
      <Footer />
    </div>
  );
}

/** A link to the heading. A script sets the focus, because `#main` is relative to `<base href>`. */
function SkipLink() {
  return (
    <a
      class="skip"
      href={`${location.pathname}${location.search}#main`}
      onClick={(event) => {
        event.preventDefault();
        event.stopPropagation();
        document.querySelector<HTMLElement>('main h1')?.focus();
      }}
    >
      Skip to the content
    </a>
  );
}

function Brand() {
  return (
    <a class="brand" href={href('/')}>
      <Logo />
      <span>Tenon</span>
    </a>
  );
}

function Navigation({ account }: { readonly account: Account }) {
  const { session, navigationGuard } = useServices();
  const toast = useToast();
  const { path } = useLocation();
  const isHome = path === basePath.replace(/(?<=.)\/$/, '') || path.startsWith(href('/apps'));
  const signOut = async (): Promise<void> => {
    try {
      await session.signOut();
    } catch (error) {
      toast(error instanceof Error ? error.message : 'Signing out failed.', 'failed');
    }
  };
  return (
    <nav class="top-nav" aria-label="Main">
      <a href={href('/')} aria-current={isHome ? 'page' : undefined}>
        Applications
      </a>
      <a href={href(tracePath)} aria-current={path === href(tracePath) ? 'page' : undefined}>
        Trace
      </a>
      {account.isOperator ? (
        <>
          <a href={href('/users')} aria-current={path.startsWith(href('/users')) ? 'page' : undefined}>
            Users
          </a>
          <a href={href('/status')} aria-current={path === href('/status') ? 'page' : undefined}>
            Status
          </a>
        </>
      ) : null}
      <a href={href('/account')} aria-current={path.startsWith(href('/account')) ? 'page' : undefined}>
        <span class="top-name">{account.name}</span>
        <span class="visually-hidden"> – your account</span>
      </a>
      <button type="button" class="link-button" onClick={() => navigationGuard.run(() => void signOut())}>
        Sign out
      </button>
    </nav>
  );
}

function Footer() {
  return (
    <footer class="foot">
      <ThemeChoice />
      <DocsLink page="">Documentation</DocsLink>
    </footer>
  );
}

const themes: readonly (readonly [Theme, string])[] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

function ThemeChoice() {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => {
    const update = (): void => setTheme(readTheme());
    addEventListener(themeChanged, update);
    return () => removeEventListener(themeChanged, update);
  }, []);
  const name = useId(); // two frames are there for a moment when one page follows another, and groups must not mix
  return (
    <fieldset class="theme">
      <legend class="visually-hidden">Colours</legend>
      {themes.map(([value, label]) => (
        <label key={value}>
          <input type="radio" name={name} value={value} checked={theme === value} onChange={() => saveTheme(value)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
