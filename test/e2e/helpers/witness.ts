import assert from 'node:assert/strict';
import type { Page, Response } from 'playwright-core';

/** Remembers everything that comes to a page and goes from it. */
export interface Witness {
  /** Adds what the page shows and keeps at the moment. */
  look(): Promise<void>;
  /** Everything so far, and that there was something at all. */
  everything(): Promise<string>;
}

export function watch(page: Page): Witness {
  const seen: Promise<string>[] = [];
  page.on('request', (request) => {
    seen.push(
      request.allHeaders().then(
        (headers) => `${request.url()}\n${JSON.stringify(headers)}`,
        () => '',
      ),
    );
    seen.push(Promise.resolve(request.postData() ?? ''));
  });
  page.on('response', (response) => seen.push(textOf(response)));
  page.on('console', (message) => seen.push(Promise.resolve(message.text())));
  return {
    async look() {
      const kept = () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state]);
      seen.push(Promise.resolve([page.url(), await page.content(), await page.evaluate(kept)].join('\n')));
      seen.push(page.context().storageState().then(JSON.stringify));
    },
    async everything() {
      const all = (await Promise.all(seen)).join('\n');
      assert.ok(seen.length > 10 && all.length > 10_000, 'there was something to see');
      return all;
    },
  };
}

/** The header fields and the body; those of a redirect, and of a page that one has left, are not kept by the browser. */
async function textOf(response: Response): Promise<string> {
  const headers = JSON.stringify(await response.allHeaders().catch(() => ({})));
  const body = await response.body().catch(() => Buffer.from(''));
  return `${response.url()}\n${headers}\n${body.toString('latin1')}`;
}

/** The forms in which a text may stand in an answer, a page, a log or an address. */
export function formsOf(text: string): readonly string[] {
  return [
    ...new Set([text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1), btoa(text), text.toUpperCase()]),
  ];
}
