import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';

/** A case of the public suite of tests for HTTP caches, https://github.com/http-tests/cache-tests: as much of it as we look at. */
export interface SuiteCase {
  readonly id: string;
  readonly name: string;
  /** `required` by default. `optimal` cases are optional, `check` cases only inform. */
  readonly kind?: 'required' | 'optimal' | 'check';
  /** For shared caches. */
  readonly browser_skip?: boolean;
}

/** The result of a case. `setup`: its preconditions could not be met. */
export type Outcome = 'pass' | { readonly failed: 'case' | 'setup'; readonly why: string };

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;
type Handler = (path: string[], request: IncomingMessage, response: ServerResponse) => void;

const resolve = createRequire(import.meta.url).resolve;

async function load<T>(file: string): Promise<T> {
  return import(pathToFileURL(resolve(`http-cache-tests/${file}`)).href) as Promise<T>;
}

/** All cases for private caches, in the suite's order. */
export async function suiteCases(): Promise<SuiteCase[]> {
  const { default: groups } = await load<{ default: readonly { readonly tests: readonly SuiteCase[] }[] }>(
    'tests/index.mjs',
  );
  return groups.flatMap(({ tests }) => tests).filter((test) => test.browser_skip !== true);
}

/** The suite's server on a free local port. */
export async function openSuiteServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const handlers: Readonly<Record<string, Handler>> = {
    config: (await load<{ default: Handler }>('server/handle-config.mjs')).default,
    state: (await load<{ default: Handler }>('server/handle-state.mjs')).default,
    test: (await load<{ default: Handler }>('server/handle-test.mjs')).default,
  };
  const server = createServer((request, response) => {
    const [kind = '', ...path] = new URL(request.url ?? '', 'http://suite').pathname.slice(1).split('/');
    handlers[kind]?.(path, request, response);
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/**
 * Runs cases concurrently, as the suite does: most wait three seconds until a response is stale.
 *
 * @param fetch the cache under test, for `/test/…` of the suite's server
 */
export async function runCases(cases: readonly SuiteCase[], url: string, fetch: Fetch): Promise<Map<string, Outcome>> {
  const config =
    await load<Record<'setFetch' | 'setUseBrowserCache' | 'setBaseUrl', (value: unknown) => void>>('client/config.mjs');
  const { makeCacheTest, testResults } = await load<{
    makeCacheTest(test: SuiteCase): Promise<void>;
    testResults: Record<string, true | [name: string, message: string]>;
  }>('client/test.mjs');
  config.setFetch(fetch);
  config.setUseBrowserCache(true); // a private cache
  config.setBaseUrl(url);
  await Promise.all(cases.map((test) => makeCacheTest(structuredClone(test))));
  return new Map(
    cases.map(({ id }): [string, Outcome] => {
      const result = testResults[id];
      if (result === true) return [id, 'pass'];
      const [name, why] = result ?? ['Setup', 'it did not end'];
      return [id, { failed: name === 'Setup' ? 'setup' : 'case', why }];
    }),
  );
}
