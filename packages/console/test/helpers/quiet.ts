import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page, Request } from 'playwright-core';

const inFlight = new WeakMap<Page, Set<Request>>();

/** Notes a page's requests for `quiet()`, but for the stream of updates, which stays open. */
export function noteRequests(page: Page): void {
  const requests = new Set<Request>();
  inFlight.set(page, requests);
  page.on('request', (request) => {
    const { protocol, pathname } = new URL(request.url());
    if (protocol.startsWith('http') && !pathname.endsWith('/updates')) requests.add(request);
  });
  page.on('requestfinished', (request) => requests.delete(request));
  page.on('requestfailed', (request) => requests.delete(request));
}

/** Waits until a page of a visitor has had no request in flight for half a second. Playwright's `networkidle` waits for streams too. */
export async function quiet(page: Page): Promise<void> {
  const requests = inFlight.get(page) ?? assert.fail('the page is no visitor’s');
  await page.waitForLoadState('load');
  const endMs = Date.now() + 60_000;
  for (let quietMs = 0; quietMs < 500; quietMs = requests.size === 0 ? quietMs + 50 : 0) {
    assert.ok(Date.now() < endMs, `still in flight: ${[...requests].map((request) => request.url()).join(', ')}`);
    await sleep(50);
  }
}
