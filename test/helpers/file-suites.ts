import { AsyncResource } from 'node:async_hooks';
import { describe } from 'node:test';

let loaded: Promise<unknown> = Promise.resolve();

/**
 * Makes a suite of a test file: its tests and hooks are the suite's own. Files are imported one after the other, each in the
 * context of its suite, by which `node:test` knows whose the tests are.
 *
 * @param name the file, as reports name it
 */
export function describeFile(name: string, url: string): void {
  describe(name, () => {
    const load = loaded.then(AsyncResource.bind(() => import(url)));
    loaded = load.catch(() => {});
    return load;
  });
}
