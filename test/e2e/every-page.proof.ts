import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { pagePaths } from '../../packages/console/test/helpers/page-paths.ts';
import { axeFaults, noBrowser } from '../../packages/console/test/helpers/stage.ts';
import { password } from './helpers/acme.ts';
import { show } from './helpers/every-page.ts';
import { type Gallery, openGallery } from './helpers/gallery.ts';
import { signUp } from './helpers/person.ts';

const looks = [
  { look: 'light, on a desk', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { look: 'dark, on a phone', colorScheme: 'dark', viewport: { width: 360, height: 740 } },
] as const;

describe('every page of the console', { skip: noBrowser, concurrency: true }, () => {
  let gallery: Gallery;
  before(async () => {
    gallery = await openGallery();
  });
  after(() => gallery.close()); // fails on errors in scripts, breaches of the policy, and requests to other hosts

  for (const as of ['nobody', 'newcomer', 'guest', 'owner'] as const) {
    it(`is for all who use it, as ${as} sees it: a title, one first heading, nothing wider than the screen, no fault that axe-core finds`, async () => {
      const seen = gallery.pages.filter((page) => page.as === as);
      assert.ok(seen.length > 0);
      const titles = new Map<string, string>();
      for (const page of seen) {
        const visitor = await gallery.visitorFor(page);
        await show(visitor.page, gallery.url, page);
        const title = await visitor.page.title();
        const { pathname } = new URL(visitor.page.url());
        assert.match(title, /. · Tenon$/, page.name);
        // To sign in stands in the place of other pages, and to approve a login is the same on two.
        if (as !== 'nobody' && page.act === undefined) {
          assert.equal(titles.get(title) ?? pathname, pathname, `${page.name} has the title of another page, ${title}`);
          titles.set(title, pathname);
        }
        assert.equal(await visitor.page.locator('h1').count(), 1, page.name);
        for (const { look, colorScheme, viewport } of looks) {
          await visitor.page.emulateMedia({ colorScheme });
          await visitor.page.setViewportSize(viewport);
          assert.deepEqual(await axeFaults(visitor.page), [], `${page.name}, ${look}`);
          const scrolled = await visitor.page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(scrolled <= viewport.width, `${page.name}, ${look}, is ${scrolled} wide`);
        }
        await visitor.page.setViewportSize(looks[0].viewport);
      }
    });
  }

  it('is among those that are looked at here', () => {
    const isSeen = (pattern: string): boolean => {
      const segments = pattern.split('/').map((segment) => (segment.startsWith(':') ? '[^/?]+' : segment));
      return gallery.pages.some(({ path }) => new RegExp(`^${segments.join('/')}(\\?|$)`).test(path));
    };
    assert.deepEqual(
      pagePaths.filter((pattern) => !isSeen(pattern)),
      [],
    );
  });

  it('is used without a mouse, from signing in to an invitation', async () => {
    await signUp(gallery.url, 'Kay Keys', 'kay@acme.example', password);
    const { page } = await gallery.newVisitor();
    await page.goto(`${gallery.url}/`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await tabTo(page, 'E-mail address');
    await page.keyboard.type('kay@acme.example');
    await tabTo(page, 'Password');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No applications yet' }).waitFor();
    await tabTo(page, 'New application');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('Typed alone'); // the dialog has put the focus there
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Typed alone', level: 1 }).waitFor();
    await tabTo(page, 'Guests');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No guests yet' }).waitFor();
    await tabTo(page, 'Invite a guest');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo(page, 'Guest key');
    await page.keyboard.type('customers/keys');
    await page.keyboard.press('Enter');
    await page.getByText('You won’t see it again').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.keyboard.press('Enter'); // the button to copy has the focus
    await page.waitForFunction(() => document.activeElement?.textContent === 'Copied');
    assert.ok(
      (await page.evaluate(() => navigator.clipboard.readText())).startsWith(`${gallery.url}/accept-invite?code=`),
    );
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'customers/keys' }).waitFor();
  });
});

/** Presses Tab until the focus is on what has the name; fails when it comes round without. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null;
      const label = element?.labels?.[0]?.textContent ?? element?.getAttribute('aria-label') ?? element?.textContent;
      const isSeen = element !== null && element !== document.body && element.matches(':focus-visible');
      return { label, isSeen };
    });
    if (focused.isSeen && focused.label?.trim() === name) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not lead to ${name}`);
}
