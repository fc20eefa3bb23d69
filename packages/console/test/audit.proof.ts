import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { AppAuditEntry } from '@tenon/protocol';
import type { Page } from 'playwright-core';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, joinTeam, openWorkshop, type Workshop } from './helpers/workshop.ts';

describe('the audit trail', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let ada: Publisher;
  before(async () => {
    stage = await openStage({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    const { call, app, point } = workshop;
    ada = await openPublisher(stage, workshop, 'customers/globex', 'Ada Lovelace');
    await ada.publish(point.id, 'median', greetThatSays('1'));
    const plugin = `/api/v1/artifacts/${point.id}/plugin/${ada.userId}/median`;
    await call('POST', `${plugin}/versions/1/yank`, { reason: 'Loses the <b>last</b> row.' });
    await call('PUT', `/api/v1/extension-points/${point.id}`, { requiresApproval: true });
    for (let at = 0; at < 60; at++) await call('PUT', `/api/v1/apps/${app.id}`, { name: `Acme ${at}` });
    owner = await stage.visitor({ acceptDownloads: true });
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const path = () => `/apps/${workshop.app.id}/audit`;

  /** What an entry says. */
  const said = (page: Page, text: string) => page.locator('.audit-entry > div > p').getByText(text);

  /** Opens the trail and waits for its first entry. */
  async function open(query = ''): Promise<void> {
    await owner.open(path() + query);
    await owner.page.locator('.audit-entry').first().waitFor();
  }

  it('tells owners who did what, the newest first, page by page', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}`);
    await page.getByRole('link', { name: 'Audit trail' }).click();
    await page.locator('.audit-entry').first().waitFor();
    assert.equal(await page.locator('.audit-entry').count(), 50);
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Load older events' }).click();
    await page.getByText('End of the audit trail').waitFor();
    const reported = await page.locator('.audit-entry p:first-child').allInnerTexts();
    const { objects } = await workshop.call<{ objects: AppAuditEntry[] }>(
      'GET',
      `/api/v1/apps/${workshop.app.id}/audit?limit=1000`,
    );
    assert.equal(reported.length, objects.length);
    assert.match(reported.at(-1) ?? '', /created the application$/);
    assert.ok(reported.includes('Ada Lovelace published version 1 of median'), reported.join('\n'));
    assert.ok(reported.includes('Ada Lovelace accepted the invitation for customers/globex'));
  });

  it('is filtered in the page’s address, which going back undoes', async () => {
    const { page } = owner;
    await open();
    await page.getByLabel('Action').selectOption('version.yank');
    await page.waitForURL(/\?action=version\.yank$/);
    await said(page, 'yanked version 1 of').waitFor();
    assert.equal(await page.locator('.audit-entry').count(), 1);
    await page.locator('.audit-reason').getByText('Loses the <b>last</b> row.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByLabel('From').fill('2999-01-01');
    await page.getByText('No matching events.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.goBack();
    await said(page, 'yanked version 1 of').waitFor();
    assert.equal(await page.getByLabel('From').inputValue(), '');
    await page.reload();
    await said(page, 'yanked version 1 of').waitFor();
    await page.getByRole('link', { name: 'median' }).click();
    await page.getByRole('heading', { name: 'median', level: 1 }).waitFor();
    await open('?action=version.yank');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('button', { name: 'Load older events' }).waitFor();
  });

  it('holds what was before and after, and leads to all about a thing or a person', async () => {
    const { page } = owner;
    await open('?action=extension_point.update');
    await page.locator('summary').first().press('Enter');
    const change = page.locator('.audit-change');
    assert.deepEqual((await change.first().innerText()).split(/\s+/), ['before', 'no', 'after', 'yes']);
    assert.deepEqual(await faultsInBothColours(page), []);
    await open('?action=plugin.publish');
    await page.locator('summary').first().click();
    assert.match(await page.locator('.audit-details').innerText(), /guest key\s+customers\/globex/);
    await page.getByRole('link', { name: 'All events of this plugin' }).click();
    await page.getByRole('button', { name: 'Show all targets' }).waitFor();
    await page.getByLabel('Action').selectOption('');
    await said(page, 'yanked version 1 of').waitFor();
    assert.equal(await page.locator('.audit-entry').count(), 2);
    await page.locator('.audit-entry').last().locator('summary').click();
    await page.getByRole('link', { name: 'All events by Ada Lovelace' }).click();
    await page.waitForURL(new RegExp(`user=${ada.userId}`));
    await said(page, 'yanked version 1 of').waitFor({ state: 'detached' });
    await page.locator('.audit-entry').first().waitFor(); // while it loads there is none
    assert.equal(await page.locator('.audit-entry').count(), 1);
  });

  it('is saved as a file, with the same filter', async () => {
    const { page } = owner;
    await open('?action=version.yank');
    const save = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name, exact: true }).click(),
      ]);
      return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
    };
    const lines = await save('Export NDJSON');
    assert.match(lines.name, new RegExp(`^audit-${workshop.app.id}-\\d{4}-\\d\\d-\\d\\d\\.ndjson$`));
    const [entry, ...others] = lines.text.trim().split('\n');
    assert.deepEqual(others, []);
    assert.equal((JSON.parse(entry ?? '') as AppAuditEntry).details.reason, 'Loses the <b>last</b> row.');
    const table = await save('Export CSV');
    assert.match(table.name, /\.csv$/);
    assert.equal(table.text.trim().split('\r\n').length, 2);
    assert.match(table.text, /version\.yank/);
  });

  it('fits a phone', async () => {
    const { page } = owner;
    await page.setViewportSize({ width: 360, height: 740 });
    await open('?action=extension_point.update');
    await page.locator('summary').first().click();
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('is for owners alone', async () => {
    const grace = await openPublisher(stage, workshop, 'customers/initech', 'Grace Hopper');
    await joinTeam(workshop, grace, 'admin');
    await grace.visitor.open(path());
    await grace.visitor.page.getByText('Only owners can see the audit trail').waitFor();
    assert.equal(await grace.visitor.page.getByRole('link', { name: 'Audit trail' }).count(), 0);
    assert.deepEqual(await faultsInBothColours(grace.visitor.page), []);
    await grace.visitor.close();
    await ada.visitor.open(path());
    await ada.visitor.page.waitForURL(/\/my-plugins$/); // a guest is taken to the guests' page
  });

  it('of one’s own has sign-ins and what one did, and no guest key', async () => {
    const { page } = ada.visitor;
    await ada.visitor.open('/account');
    await page.getByRole('link', { name: 'View activity' }).click();
    await said(page, 'published version 1 of').waitFor();
    await said(page, 'created the account').waitFor();
    await page.locator('summary').first().click();
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.doesNotMatch(await page.locator('main').innerHTML(), /globex/);
    await page.getByLabel('Action').selectOption('plugin.publish');
    await page.waitForURL(/\/account\/activity\?action=plugin\.publish$/);
    await page.locator('summary').first().click();
    await page.getByRole('link', { name: 'View application' }).click();
    await page.getByRole('heading', { name: 'Acme 59', level: 1 }).waitFor();
  });
});
