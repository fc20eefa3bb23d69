import { Page } from './page.tsx';

/** Whether the browser lets the pages keep what they need: the theme, a link's code, and with the same switch the cookie. */
export function hasStorage(): boolean {
  try {
    return localStorage.length >= 0 && sessionStorage.length >= 0;
  } catch {
    return false;
  }
}

/** Told instead of an empty page; without the frame, whose choice of colours would want to be kept. */
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
