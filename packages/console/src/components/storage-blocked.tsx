import { Page } from './page.tsx';

/** Whether the browser allows storage. The same setting blocks cookies. */
export function hasStorage(): boolean {
  try {
    return localStorage.length >= 0 && sessionStorage.length >= 0;
  } catch {
    return false;
  }
}

/** Replaces all pages. It has no layout, because the theme choice needs storage. */
export function StorageBlocked() {
  return (
    <div class="frame frame-bare">
      <header class="bare-top" />
      <main class="card">
        <Page title="This browser blocks cookies">
          <p>
            Tenon keeps you signed in with a cookie. Allow cookies and site data for this address, then reload the page.
          </p>
        </Page>
      </main>
    </div>
  );
}
