import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, openWorkshop, type Workshop } from './helpers/workshop.ts';

describe('search everywhere', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let ada: Publisher;
  before(async () => {
    stage = await openStage({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    workshop = await openWorkshop(stage, 'Acme <b>Spreadsheet</b>');
    ada = await openPublisher(stage, workshop, 'customers/globex', 'Ada Lovelace');
    await ada.publish(workshop.point.id, 'median', greetThatSays('1'));
    owner = await stage.visitor();
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const base = () => `/apps/${workshop.app.id}`;
  const input = (page: Page) => page.locator('input[role="combobox"]');
  const option = (page: Page, name: string | RegExp) => page.getByRole('option', { name });
  async function openSearch(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Search', exact: true }).waitFor();
    await page.keyboard.press('ControlOrMeta+k');
    await input(page).waitFor();
  }

  it('goes to plugins, guests, extension points, pages, and actions by keyboard alone', async () => {
    const { page } = owner;
    const found: readonly (readonly [query: string, option: string | RegExp, heading: string])[] = [
      ['medi', /^median/, 'median'],
      ['GLOBEX', /customers\/globex/, 'customers/globex'],
      ['greetings', 'Greetings', 'Greetings'],
      ['extension new', /New extension point/, 'New extension point'],
      ['activity', 'Your activity', 'Activity'],
    ];
    for (const [query, name, heading] of found) {
      await owner.open(base());
      await openSearch(page);
      await page.keyboard.type(query);
      await option(page, name).first().waitFor();
      for (let presses = 0; presses < 20; presses++) {
        const isNamed = await page.evaluate(() => {
          const named = document.querySelector('input[role="combobox"]')?.getAttribute('aria-activedescendant');
          return named === document.querySelector('[role="option"][aria-selected="true"]')?.id;
        }); // in one step, because results may arrive meanwhile
        assert.ok(isNamed);
        if (
          await option(page, name)
            .first()
            .evaluate((element) => element.ariaSelected === 'true')
        )
          break;
        await page.keyboard.press('ArrowDown');
      }
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: heading }).first().waitFor();
      await input(page).waitFor({ state: 'detached' });
    }
  });

  it('opens a dialog, changes the theme, and closes with Escape', async () => {
    const { page } = owner;
    await owner.open(base());
    await openSearch(page);
    await page.keyboard.type('invite');
    await option(page, /Invite a guest/).click();
    await page.getByRole('dialog', { name: 'Invite a guest' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.ok(!page.url().includes('invite'), page.url());
    await openSearch(page);
    await page.keyboard.type('theme dark');
    await page.keyboard.press('Enter');
    await page.locator('html[data-theme="dark"]').waitFor();
    assert.ok(await page.getByLabel('Dark').isChecked());
    await page.getByText('System', { exact: true }).click();
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await input(page).waitFor();
    await page.keyboard.press('Escape');
    await input(page).waitFor({ state: 'detached' });
  });

  it('opens with a slash, except while the user types', async () => {
    const { page } = owner;
    await owner.open(`${base()}/settings`);
    const field = page.getByLabel('Application name');
    await field.fill('');
    await field.press('/');
    assert.equal(await field.inputValue(), '/');
    assert.equal(await input(page).count(), 0);
    await page.locator('h1').focus();
    await page.keyboard.press('/');
    await input(page).waitFor();
    assert.equal(await input(page).inputValue(), '');
    await page.keyboard.press('ControlOrMeta+k');
    assert.equal(await page.getByRole('dialog').count(), 1);
    await page.keyboard.press('Escape');
  });

  it('sends at most three requests per query, and none for the keys before', async () => {
    const { page } = owner;
    await owner.open(base());
    await openSearch(page);
    await option(page, /Overview/).waitFor();
    await page.waitForLoadState('networkidle');
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.keyboard.type('median');
    await option(page, /^median/).waitFor();
    const isSearch = (url: string) => url.includes('/api/') && !url.includes('/updates?'); // which the page waits for anyway
    assert.equal(requests.filter(isSearch).length, 3, requests.join('\n'));
    await input(page).fill('nothing of this kind');
    await page.getByText('No matches for “nothing of this kind”').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.keyboard.press('Escape');
  });

  it('shows guests their plugins and no guest keys, on a phone too', async () => {
    const { page } = ada.visitor;
    await page.setViewportSize({ width: 390, height: 844 });
    await ada.visitor.open(`${base()}/my-plugins`);
    await openSearch(page);
    await page.keyboard.type('globex');
    await page.getByText('No matches for “globex”').waitFor();
    await input(page).fill('me');
    await option(page, /^median/).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    assert.ok(!(await page.content()).includes('globex'));
    await option(page, /^median/).click();
    await page.getByRole('heading', { name: 'median', level: 1 }).waitFor();
  });
});
