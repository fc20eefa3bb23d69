import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';

/** The requests of a page to the server, without scripts, styles, and the stream of updates. */
export interface PageLoad {
  readonly requests: readonly { readonly path: string; readonly bytes: number; readonly sentBytes: number }[];
  /** From the navigation until the page has a heading and nothing is a placeholder, in milliseconds. */
  readonly usableMs: number;
}

/** Slow 4G, as Chromium's developer tools call it: 1.6 Mbit/s down, 750 kbit/s up, and a round trip of 150 ms. */
const slow4G = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };

const quietMs = 600;

/** Makes a page slow: its network is Slow 4G without a cache, its CPU a quarter as fast. */
export async function slowDown(page: Page): Promise<CDPSession> {
  await page.addInitScript(noteWhenUsable);
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('Network.enable');
  await devTools.send('Network.setCacheDisabled', { cacheDisabled: true });
  await devTools.send('Network.emulateNetworkConditions', slow4G);
  await devTools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  return devTools;
}

/** Opens a URL and measures what it loads. */
export async function measureLoad(page: Page, devTools: CDPSession, url: string): Promise<PageLoad> {
  const loads = new Map<string, { path: string; bytes: number; sentBytes: number; isOpen: boolean }>();
  let changedAtMs = performance.now();
  const unlisten = listen(devTools, {
    'Network.requestWillBeSent': ({ requestId, request }) => {
      const { pathname, search } = new URL(request.url);
      if (!/^\/(?:api|session)\b/.test(pathname) || pathname.endsWith('/updates')) return;
      loads.set(requestId, { path: pathname + search, bytes: 0, sentBytes: 0, isOpen: true });
      changedAtMs = performance.now();
    },
    'Network.dataReceived': ({ requestId, dataLength }) => {
      const load = loads.get(requestId);
      if (load !== undefined) load.bytes += dataLength;
    },
    'Network.loadingFinished': ({ requestId, encodedDataLength }) => close(requestId, encodedDataLength),
    'Network.loadingFailed': ({ requestId }) => close(requestId, 0),
  });
  function close(requestId: string, sentBytes: number): void {
    const load = loads.get(requestId);
    if (load === undefined) return;
    Object.assign(load, { sentBytes, isOpen: false });
    changedAtMs = performance.now();
  }
  try {
    await page.goto(url);
    for (;;) {
      const usableMs = await page.evaluate(() => (globalThis as { usableSinceMs?: number }).usableSinceMs);
      const isQuiet = performance.now() - changedAtMs > quietMs && [...loads.values()].every(({ isOpen }) => !isOpen);
      if (usableMs !== undefined && isQuiet) return { requests: [...loads.values()], usableMs };
      await sleep(50);
    }
  } finally {
    unlisten();
  }
}

/** Runs in the page: keeps the time since which it has been usable. */
function noteWhenUsable(): void {
  const page = globalThis as { usableSinceMs?: number | undefined };
  const look = (): void => {
    const isUsable =
      document.querySelector('h1') !== null && document.querySelector('.skeleton, .spinner, [aria-busy=true]') === null;
    page.usableSinceMs = isUsable ? (page.usableSinceMs ?? performance.now()) : undefined;
    requestAnimationFrame(look);
  };
  look();
}

type Events = Parameters<CDPSession['on']>;
interface Listeners {
  'Network.requestWillBeSent': (event: { requestId: string; request: { url: string } }) => void;
  'Network.dataReceived': (event: { requestId: string; dataLength: number }) => void;
  'Network.loadingFinished': (event: { requestId: string; encodedDataLength: number }) => void;
  'Network.loadingFailed': (event: { requestId: string }) => void;
}

function listen(devTools: CDPSession, listeners: Listeners): () => void {
  const all = Object.entries(listeners) as unknown as Events[];
  for (const [name, listener] of all) devTools.on(name, listener);
  return () => {
    for (const [name, listener] of all) devTools.off(name, listener);
  };
}
