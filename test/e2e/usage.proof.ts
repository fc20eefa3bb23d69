import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createClient } from '@tenon/client';
import type { PublishedPlugin, TokenCreated, UsageReport } from '@tenon/protocol';
import type { Page } from 'playwright-core';
import { greetThatSays, openPublisher, type Publisher } from '../../packages/console/test/helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { faultsInBothColours, openWorkshop, type Workshop } from '../../packages/console/test/helpers/workshop.ts';
import { seedUsage } from '../../packages/server/test/helpers/seed-usage.ts';

const guestKey = 'customers/globex';
const number = new Intl.NumberFormat('en');

describe('the usage that the console shows', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let ada: Publisher;
  let plugin: PublishedPlugin;
  let token: string;
  before(async () => {
    stage = await openStage({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    ada = await openPublisher(stage, workshop, guestKey, 'Ada Lovelace');
    plugin = await ada.publish(workshop.point.id, 'median', greetThatSays('1'));
    const made = await workshop.call<TokenCreated>('POST', '/api/v1/tokens', { name: 'host', scopes: ['read'] });
    token = made.token;
    owner = await stage.visitor();
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const team = () => `/apps/${workshop.app.id}`;
  const pluginPage = () => `${team()}/extension-points/${workshop.point.id}/plugins/${ada.userId}/median`;
  const pluginUsage = () => `/api/v1/artifacts/${plugin.id}/usage`;
  const slider = (page: Page) => page.getByRole('slider', { name: 'Day of the charts' });
  const dayText = (page: Page) => slider(page).getAttribute('aria-valuetext');
  /** The server writes usage once a minute. */
  async function usageOf(path: string, isWritten: (report: UsageReport) => boolean): Promise<UsageReport> {
    for (const endMs = Date.now() + 120_000; Date.now() < endMs; ) {
      const report = await workshop.call<UsageReport>('GET', path);
      if (isWritten(report)) return report;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    throw new Error('The usage was not written.');
  }

  it('is none at first, in lists, on pages, and in dialogs', async () => {
    const { page } = owner;
    await owner.open(pluginPage());
    await page.getByText('No requests in the last 30 days.').waitFor();
    await page.getByRole('button', { name: 'Block plugin…' }).click();
    await page.getByRole('dialog').getByText('Hosts have not requested it yet.').waitFor();
    await page.keyboard.press('Escape');
    await owner.open(`${team()}/plugins`);
    assert.match(await page.getByRole('row', { name: /median/ }).innerText(), /none/);
  });

  it('completes the last step of the overview at the first fetch, without a reload', async () => {
    const { page } = owner;
    await owner.open(team());
    await page.getByText('3 of 4 done').waitFor();
    const client = createClient({ baseUrl: stage.url, token });
    try {
      const key = { extensionPointId: workshop.point.id, guestKey, name: 'median' };
      assert.ok((await client.load(key)) instanceof WebAssembly.Module);
    } finally {
      await client.close();
    }
    const lists = `${stage.url}/api/v1/extension-points/${workshop.point.id}/bindings/${encodeURIComponent(guestKey)}`;
    for (let time = 0; time < 3; time++) {
      const answer = await fetch(lists, { headers: { authorization: `Bearer ${token}`, 'user-agent': 'plain/1.0' } });
      assert.equal(answer.status, 200);
      await answer.arrayBuffer();
    }
    await page.getByRole('heading', { name: 'Get started' }).waitFor({ state: 'detached', timeout: 120_000 });
    await page.getByRole('heading', { name: 'Recent activity' }).waitFor();
    const { totals } = await usageOf(pluginUsage(), (report) => report.totals.listRequests >= 4);
    assert.deepEqual(totals, { listRequests: 4, contentFetches: 1, tokens: 1 });
  });

  it('has the numbers of the API, by day for the pointer, the keyboard, and screen readers', async () => {
    const { page } = owner;
    const list = { appId: workshop.app.id, extensionPointId: workshop.point.id, guestKey };
    const { id: userId } = await workshop.call<{ id: string }>('GET', '/api/v1/me');
    const days = [29, 28, 20, 3, 1].map((daysAgo) => ({
      daysAgo,
      listRequests: daysAgo === 20 ? 1_234_567 : 100 * daysAgo,
      contentFetches: daysAgo % 2,
    }));
    await seedUsage(
      join(stage.server.folder, 'tenon-data'),
      { ...list, userId, contentAddress: plugin.contentAddress },
      days,
    );
    const report = await workshop.call<UsageReport>('GET', pluginUsage());
    assert.equal(report.points[9]?.listRequests, 1_234_567);
    await owner.open(pluginPage());
    const lists = `${number.format(report.totals.listRequests)} list requests`;
    await page.getByText(`Last 30 days: ${lists}, ${report.totals.contentFetches} content fetches`).waitFor();
    await page.getByText('2M', { exact: true }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    await slider(page).focus();
    await page.keyboard.press('ArrowLeft');
    assert.match((await dayText(page)) ?? '', /\(today, so far\): 4 list requests, 1 content fetch, about 1 token$/);
    await page.keyboard.press('ArrowLeft');
    assert.match((await dayText(page)) ?? '', /, \d{4}: 100 list requests, 1 content fetch, about 1 token$/);
    await page.keyboard.press('Home');
    assert.match((await dayText(page)) ?? '', /: 2,900 list requests/);
    assert.equal(await slider(page).getAttribute('aria-valuenow'), '1');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await slider(page).getAttribute('aria-valuenow'), '1');
    await page.keyboard.press('End');
    assert.equal(await slider(page).getAttribute('aria-valuenow'), '30');
    await page.keyboard.press('Escape');
    assert.match((await dayText(page)) ?? '', /^Last 30 days: /);

    const chart = await page.locator('.day-plot svg').first().boundingBox();
    assert.ok(chart);
    await page.mouse.move(chart.x + (chart.width * 9.5) / 30, chart.y + chart.height / 2);
    await page
      .getByText(/: 1,234,567 list requests, 0 content fetches/)
      .first()
      .waitFor();
    await page.mouse.move(0, 0);

    await page.getByText('Show as a table').click();
    const rows = await page.getByRole('table', { name: 'Requests per day' }).getByRole('row').allInnerTexts();
    assert.equal(rows.length, 31);
    for (const [at, { listRequests }] of report.points.toReversed().entries()) {
      const row = rows[at + 1] ?? '';
      assert.ok(row.includes(number.format(listRequests)), row);
    }
    const programs = await page.getByRole('table', { name: 'Programs that sent requests' }).innerText();
    for (const { userAgent, requests } of report.userAgents) {
      assert.ok(programs.includes(userAgent) && programs.includes(number.format(requests)), programs);
    }
  });

  it('shows the plugins that a guest’s hosts run, and is on both lists', async () => {
    const { page } = owner;
    const guests = await workshop.call<{ objects: { id: string }[] }>('GET', `/api/v1${team()}/guests`);
    await owner.open(`${team()}/guests/${guests.objects[0]?.id}`);
    await goToUsage(page);
    const versions = page.getByRole('table', { name: 'Versions that hosts run' });
    await versions.getByRole('link', { name: 'median' }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    const { totals } = await workshop.call<UsageReport>('GET', pluginUsage());
    for (const [path, name] of [
      ['plugins', /median/],
      ['guests', /globex/],
    ] as const) {
      await owner.open(`${team()}/${path}`);
      await page.getByRole('row', { name }).getByText(number.format(totals.listRequests)).waitFor();
    }
  });

  it('is in the dialogs that take something from hosts', async () => {
    const { page } = owner;
    const guests = await workshop.call<{ objects: { id: string }[] }>('GET', `/api/v1${team()}/guests`);
    const dialogs: readonly (readonly [path: string, button: RegExp])[] = [
      [pluginPage(), /^Block/],
      [pluginPage(), /^Yank/],
      [pluginPage(), /^Delete plugin/],
      [`${team()}/guests/${guests.objects[0]?.id}`, /^Remove the guest/],
      [`${team()}/extension-points/${workshop.point.id}`, /^Delete extension point/],
      [`${team()}/settings`, /^Delete application/],
    ];
    for (const [path, name] of dialogs) {
      await owner.open(path);
      await page.getByRole('button', { name }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(/A host last requested it .*(?:now|seconds? ago|minutes? ago)/).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
  });

  it('tells guests how often their plugin is used, and nothing of the host’s tokens and programs', async () => {
    const { page } = ada.visitor;
    await page.setViewportSize({ width: 390, height: 844 });
    await ada.visitor.open(`${team()}/my-plugins/${workshop.point.id}/median`);
    await goToUsage(page);
    await slider(page).waitFor();
    assert.match((await dayText(page)) ?? '', /^Last 30 days: [\d,]+ list requests, \d+ content fetches$/);
    assert.equal(await page.getByText('Programs', { exact: true }).count(), 0);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.ok(!(await page.content()).includes('globex'));
  });
});

/** The section loads when it comes into view. */
async function goToUsage(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Usage' }).scrollIntoViewIfNeeded();
}
