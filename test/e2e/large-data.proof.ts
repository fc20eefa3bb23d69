import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { noBrowser } from '../../packages/console/test/helpers/stage.ts';
import { enlarge } from '../../packages/server/test/helpers/enlarge.ts';
import { type Gallery, openGallery } from './helpers/gallery.ts';
import { measureLoad, type PageLoad, slowDown } from './helpers/page-load.ts';

/** What a page may load as JSON, uncompressed, and in how many requests. */
const maxBytes = 100_000;
const maxRequests = 6;

describe('the console with 10,000 guests, 2,000 plugins, and 300 bindings of one', { skip: noBrowser }, () => {
  let gallery: Gallery;
  before(async () => {
    gallery = await openGallery({ viewport: { width: 1280, height: 800 } }, enlarge);
  });
  after(() => gallery?.close());

  for (const as of ['nobody', 'newcomer', 'guest', 'owner'] as const) {
    it(`loads at most 100 kB of JSON in at most 6 requests per page, as ${as} sees it`, async (test) => {
      const loads = new Map<string, PageLoad>();
      for (const page of gallery.pages.filter((each) => each.as === as)) {
        if (loads.has(page.path)) continue;
        const visitor = await gallery.visitorFor(page);
        const slow = await visitor.page.context().newPage();
        const devTools = await slowDown(slow);
        loads.set(page.path, await measureLoad(slow, devTools, gallery.url + page.path));
        await slow.close();
      }
      for (const [path, load] of loads) test.diagnostic(rowOf(path, load));
      const tooLarge = [...loads].filter(([, { requests }]) => sum(requests) > maxBytes);
      // The page of a plugin whose newest version failed also loads the results of its simulations, and is so short that its usage is in view.
      const failed = new Set(gallery.pages.filter(({ name }) => name.endsWith('-failed')).map(({ path }) => path));
      const tooMany = [...loads].filter(
        ([path, { requests }]) => apiRequests(requests) > maxRequests + (failed.has(path) ? 2 : 0),
      );
      assert.deepEqual(tooLarge.map(describeLoad), [], 'more bytes');
      assert.deepEqual(tooMany.map(describeLoad), [], 'more requests');
    });
  }

  it('keeps the place in a list: after Back, after a reload, and in a link that is shared', async () => {
    const page = gallery.pages.find(({ name }) => name === 'guests');
    assert.ok(page);
    const visitor = await gallery.visitorFor(page);
    const { team, guest, plugin } = placesOf(gallery);
    const lists = [
      `${team}/guests`,
      `${team}/plugins`,
      `${team}/invitations`,
      `${team}/extension-points`,
      `${team}/approvals`,
      '/',
      '/users',
      plugin,
    ];
    for (const path of lists) await keepsPlace(visitor.page, gallery.url + path);
    const publisher = gallery.pages.find(({ name }) => name === 'guest-plugin');
    assert.ok(publisher);
    await keepsPlace((await gallery.visitorFor(publisher)).page, gallery.url + guest);
  });
});

function placesOf({ pages }: Gallery): { readonly team: string; readonly guest: string; readonly plugin: string } {
  const pathOf = (wanted: string): string => pages.find(({ name }) => name === wanted)?.path ?? '';
  return { team: pathOf('app'), guest: pathOf('guest-publish'), plugin: pathOf('plugin') };
}

/** The addresses that a list's first page in the document links to. */
function linksOf(page: Page): Promise<string> {
  return page
    .locator('.list-page')
    .first()
    .locator('a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')).join('\n'));
}

/** Waits until a list shows entries, or no longer those. */
async function waitForLinks(page: Page, isWanted: (links: string) => boolean, what: string): Promise<string> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await sleep(50)) {
    const links = await linksOf(page);
    if (links !== '' && isWanted(links)) return links;
  }
  assert.fail(`${page.url()}: ${what}`);
}

/** Turns to the second page of a list, leaves it, and returns in three ways. */
async function keepsPlace(page: Page, url: string): Promise<void> {
  await page.goto(url);
  const first = await waitForLinks(page, () => true, 'a page of entries');
  await page.getByRole('button', { name: 'Next' }).first().click();
  const second = await waitForLinks(page, (links) => links !== first, 'the next page');
  const place = page.url();
  await page.locator('.list-page a').first().click();
  await page.waitForFunction((before) => location.href !== before, place);
  await page.goBack();
  assert.equal(page.url(), place);
  await waitForLinks(page, (links) => links === second, 'the same page after Back');
  await page.reload();
  await waitForLinks(page, (links) => links === second, 'the same page after a reload');
  const other = await page.context().newPage();
  await other.goto(place);
  await waitForLinks(other, (links) => links === second, 'the same page by its link');
  await other.close();
  await page.goBack();
  await waitForLinks(page, (links) => links === first, 'the first page after Back');
}

function sum(requests: PageLoad['requests'], of: 'bytes' | 'sentBytes' = 'bytes'): number {
  return requests.reduce((total, request) => total + request[of], 0);
}

/** The number of requests of the API; the session's token is another one. */
function apiRequests(requests: PageLoad['requests']): number {
  return requests.filter(({ path }) => path.startsWith('/api/')).length;
}

/** A row of the table: seconds until usable, requests, kB of JSON, kB on the wire with headers, and the page. */
function rowOf(path: string, { requests, usableMs }: PageLoad): string {
  const kB = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`.padStart(9);
  const seconds = `${(usableMs / 1000).toFixed(1)} s`.padStart(6);
  return `${seconds} ${apiRequests(requests)} ${kB(sum(requests))} ${kB(sum(requests, 'sentBytes'))}  ${path}`;
}

function describeLoad([path, { requests }]: [string, PageLoad]): string {
  return `${path}: ${requests.map((request) => `${request.path} ${request.bytes}`).join(', ')}`;
}
