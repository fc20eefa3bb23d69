import type { ComponentType } from 'preact';
import { LoadFailed } from '../components/load-failed.tsx';
import { checkBuild } from './check-build.ts';

/**
 * Loads a page's code. If that fails because the server has another build, reloads the document. Otherwise returns a page that
 * says so, because reloading would show the browser's error page.
 */
export function loadPage(load: () => Promise<ComponentType>): Promise<ComponentType> {
  return load().catch(async (error: unknown) => {
    console.warn('The code of a page could not be loaded', error);
    if ((await checkBuild()) !== 'other' || wasJustReloaded()) return LoadFailed;
    location.reload();
    return new Promise<ComponentType>(() => undefined); // until the browser is there
  });
}

/** Whether the document was already reloaded for this reason within the last minute. */
function wasJustReloaded(): boolean {
  const key = 'tenon.reloaded';
  if (Date.now() - Number(sessionStorage.getItem(key)) < 60_000) return true;
  sessionStorage.setItem(key, String(Date.now()));
  return false;
}
