import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { axeFaults, noBrowser, openStage, type Stage } from '../../packages/console/test/helpers/stage.ts';

const looks = [
  { look: 'light, on a desk', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { look: 'dark, on a tablet', colorScheme: 'dark', viewport: { width: 1100, height: 800 } },
  { look: 'light, on a phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { look: 'dark, on a small phone', colorScheme: 'dark', viewport: { width: 320, height: 640 } },
] as const;

/** Of each kind one: cards, images, transcripts, wide tables, long lists of sections, and a page that does not exist. */
const paths = [
  '/docs',
  '/docs/how-to/log-in',
  '/docs/how-to/fetch-plugins',
  '/docs/reference/configuration',
  '/docs/reference/http-api',
  '/docs/reference/cli',
  '/docs/explanation/architecture',
  '/docs/decisions',
  '/docs/nothing',
  '/reference/errors',
];

describe('the documentation in a browser', { skip: noBrowser }, () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.close()); // fails on errors in scripts, violations of the policy, and requests to other hosts

  it('has no fault that axe-core finds, and nothing wider than the screen', async () => {
    const { page } = await stage.visitor();
    for (const path of paths) {
      await page.goto(stage.url + path);
      assert.match(await page.title(), /documentation$/);
      for (const { look, colorScheme, viewport } of looks) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        await page.waitForFunction(() => new Promise((resolve) => requestAnimationFrame(() => resolve(true))));
        assert.deepEqual(await axeFaults(page), [], `${path}, ${look}`);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(width <= viewport.width, `${path}, ${look}, is ${width} wide`);
      }
    }
  });

  it('finds a setting, and leads to its section by keyboard', async () => {
    const { page } = await stage.visitor();
    await page.goto(`${stage.url}/docs/how-to/log-in`);
    await page.keyboard.press('/');
    await page.keyboard.type('tenon_quotas memory');
    const results = page.getByRole('search').getByRole('link');
    await results.first().waitFor();
    assert.deepEqual(await axeFaults(page), []);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/reference/configuration#memory-quotas-and-limits');
    await page.getByRole('searchbox').fill('nothing-has-this-word');
    await page.getByText('Nothing contains “nothing-has-this-word”.').waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.results').isVisible(), false);
  });

  it('copies the commands of a transcript, with the URL of the server', async () => {
    const { page } = await stage.visitor({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto(`${stage.url}/docs/how-to/log-in`);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, `npm install --global ${stage.url}/packages/tenon-cli.tgz`);
  });

  it('opens the list of pages on a phone, and uses the theme that the console has stored', async () => {
    const { page } = await stage.visitor({ viewport: { width: 390, height: 844 } });
    await page.addInitScript(() => localStorage.setItem('tenon.theme', 'dark'));
    await page.goto(`${stage.url}/docs`);
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'dark');
    const pages = page.getByRole('navigation', { name: 'Documentation' });
    assert.equal(await pages.isVisible(), false);
    await page.getByRole('button', { name: 'Pages' }).click();
    assert.deepEqual(await axeFaults(page), []);
    await pages.getByRole('link', { name: 'HTTP API' }).click();
    await page.waitForURL('**/docs/reference/http-api');
  });

  it('works without scripts', async () => {
    const { page } = await stage.visitor({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
    await page.goto(`${stage.url}/docs/how-to/log-in`);
    assert.equal(await page.getByRole('searchbox').isVisible(), false);
    await page.getByRole('button', { name: 'Pages' }).click();
    await page.getByRole('link', { name: 'Publish a plugin', exact: true }).click();
    await page.getByRole('heading', { name: 'Publish a plugin', level: 1 }).waitFor();
  });

  it('is linked from the console, and leads back', async () => {
    const { page } = await stage.visitor();
    await page.goto(`${stage.url}/sign-in`);
    const opened = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Documentation' }).click();
    const docs = await opened;
    await docs.getByRole('heading', { name: 'Documentation', level: 1 }).waitFor();
    await docs.getByRole('link', { name: 'Console' }).click();
    await docs.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
