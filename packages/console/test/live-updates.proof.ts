import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { openWorkshop, type Workshop } from './helpers/workshop.ts';

/** Longer than the stream takes to open, and to refetch after a change. */
const settledMs = 6_000;
const change = { timeout: 20_000 };

describe('an open page follows the changes of others', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let ada: Publisher;
  before(async () => {
    stage = await openStage({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    ada = await openPublisher(stage, workshop, 'customers/globex', 'Ada Lovelace');
    await ada.publish(workshop.point.id, 'median', greetThatSays('1'));
    owner = await stage.visitor();
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const open = async (visitor: Visitor, path: string) => {
    const stream = visitor.page.waitForResponse((response) => response.url().includes('/updates'), change);
    await visitor.open(path);
    await stream;
  };
  const pointPath = () => `/api/v1/extension-points/${workshop.point.id}`;
  const requireApproval = (requiresApproval: boolean) =>
    workshop.call('PUT', pointPath(), { name: workshop.point.name, requiresApproval });

  it('shows a published version on the list of approvals and its badge, to the team', async () => {
    await requireApproval(true);
    await open(owner, `/apps/${workshop.app.id}/approvals`);
    await owner.page.getByRole('heading', { name: 'Nothing to review' }).waitFor();
    await ada.publish(workshop.point.id, 'median', greetThatSays('2'));
    await owner.page.getByRole('heading', { name: 'median version 2' }).waitFor(change);
    await owner.page.getByRole('link', { name: 'Approvals 1 awaiting approval' }).waitFor(change);
  });

  it('shows the decision to the waiting publisher', async () => {
    const { page } = ada.visitor;
    await open(ada.visitor, `/apps/${workshop.app.id}/my-plugins/${workshop.point.id}/median`);
    await page.getByText('Version 2 awaits the team’s approval').waitFor();
    const median = `/api/v1/artifacts/${workshop.point.id}/plugin/${ada.userId}/median`;
    await workshop.call('POST', `${median}/versions/2/approve`);
    await page.getByText('Version 2 awaits the team’s approval').waitFor({ state: 'detached', ...change });
    await workshop.call('PUT', `${median}/block`, { reason: 'It sends data home.' });
    await page.getByText('The team has blocked this plugin').waitFor(change);
    await workshop.call('DELETE', `${median}/block`);
    await page.getByText('The team has blocked this plugin').waitFor({ state: 'detached', ...change });
    await requireApproval(false);
  });

  it('shows guests and members who were invited, on the page of the list that is open', async () => {
    for (let at = 10; at < 70; at++) await workshop.invite(`crowd/${at}`);
    await open(owner, `/apps/${workshop.app.id}/guests`);
    const { page } = owner;
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'crowd/69' }).waitFor();
    const address = page.url();
    await workshop.invite('crowd/71');
    await page.getByRole('link', { name: 'crowd/71' }).waitFor(change);
    assert.equal(page.url(), address);
    assert.equal(await page.getByRole('link', { name: 'crowd/10', exact: true }).count(), 0);
    await open(owner, `/apps/${workshop.app.id}/members`);
    await workshop.inviteMember('viewer');
    await page.getByText('Pending').first().waitFor(change);
  });

  it('disturbs no dialog, no typing, no focus, and no place', async () => {
    const { page } = owner;
    await page.setViewportSize({ width: 1280, height: 300 });
    await open(owner, `/apps/${workshop.app.id}/guests`);
    const search = page.getByRole('searchbox');
    await search.fill('crowd/1');
    await page.getByRole('link', { name: 'crowd/19' }).waitFor();
    await workshop.invite('crowd/100');
    await search.pressSequentially('00', { delay: 120 });
    await page.getByRole('link', { name: 'crowd/100' }).waitFor(change);
    assert.equal(await search.inputValue(), 'crowd/100');
    assert.ok(await search.evaluate((element) => element === document.activeElement));

    await search.fill('');
    const link = page.getByRole('link', { name: 'crowd/30' });
    await link.focus();
    const placeOf = () => page.evaluate(() => scrollY);
    await link.scrollIntoViewIfNeeded();
    const place = await placeOf();
    const refetched = page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/guests'), change);
    await workshop.invite('zebra');
    await refetched;
    await sleep(300);
    assert.ok(await link.evaluate((element) => element === document.activeElement));
    assert.equal(await placeOf(), place);

    await page.getByRole('button', { name: 'Invite a guest' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').first().fill('half a wo');
    const requests: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/guests') && searchParams.has('sort')) requests.push(request.url());
    });
    await workshop.invite('zebra/2');
    await sleep(settledMs);
    assert.deepEqual(requests, [], 'nothing is refetched behind a dialog');
    assert.equal(await dialog.getByRole('textbox').first().inputValue(), 'half a wo');
    await page.keyboard.press('Escape');
    await page
      .getByRole('button', { name: /Discard|Leave/ })
      .click({ timeout: 1_000 })
      .catch(() => {});
    await dialog.waitFor({ state: 'detached' });
    await page.waitForRequest((request) => new URL(request.url()).pathname.endsWith('/guests'), change).catch(() => {});
    assert.ok(requests.length > 0, 'what waited is refetched once the dialog is closed');
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('has one stream per tab, of the application that is open, and none while the tab is hidden', async () => {
    const { page } = owner;
    await open(owner, `/apps/${workshop.app.id}/guests`);
    const streams = new Set<string>();
    page.on('request', (request) => {
      if (request.url().includes('/updates')) streams.add(request.url().replace(/\?.*/, ''));
    });
    const ended = new Set<string>();
    page.on('requestfailed', (request) => {
      if (request.url().includes('/updates')) ended.add(request.url());
    });
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('heading', { name: 'Nothing to review' }).waitFor();
    await page.getByRole('link', { name: 'Guests' }).click();
    await sleep(settledMs);
    assert.deepEqual([streams.size, ended.size], [0, 0]);
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await sleep(500);
    assert.equal(ended.size, 1);
  });

  it('refetches on return to the tab without a stream, and asks for one again', async () => {
    const visitor = ada.visitor;
    const { page } = visitor;
    let tries = 0;
    await page.route(/\/updates/, (route) => {
      tries++;
      return route.fulfill({
        status: 503,
        json: { code: 'unavailable', status: 503, title: 'x', type: 'x', detail: 'x' },
      });
    });
    await visitor.open(`/apps/${workshop.app.id}/my-plugins/${workshop.point.id}/median`);
    await page.getByRole('heading', { name: 'median' }).first().waitFor();
    await ada.publish(workshop.point.id, 'median', greetThatSays('3'));
    await sleep(settledMs);
    assert.ok(tries >= 2 && tries <= 6, `${tries} tries`);
    assert.equal(await page.getByRole('heading', { name: 'Version 3' }).count(), 0);
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByRole('heading', { name: 'Version 3' }).waitFor(change);
    await page.unroute(/\/updates/);
    await ada.publish(workshop.point.id, 'median', greetThatSays('4'));
    await page.getByRole('heading', { name: 'Version 4' }).waitFor({ timeout: 60_000 });
  });
});
