import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { Guest, Invitation } from '@tenon/protocol';
import { parseCsv } from '@tenon/protocol/csv';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, openWorkshop, type Workshop } from './helpers/workshop.ts';

describe('invitations in bulk', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  before(async () => {
    stage = await openStage({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    owner = await stage.visitor({ acceptDownloads: true });
    await owner.open('/');
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const list = <T>(what: string) =>
    workshop.call<{ objects: T[] }>('GET', `/api/v1/apps/${workshop.app.id}/${what}`).then(({ objects }) => objects);
  const saved = async (): Promise<readonly (readonly string[])[]> => {
    const [download] = await Promise.all([
      owner.page.waitForEvent('download'),
      owner.page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    const [, ...rows] = parseCsv(await readFile(await download.path(), 'utf8'), 1000);
    return rows.map(({ cells }) => cells);
  };

  const focused = () => owner.page.evaluate(() => document.activeElement?.tagName);

  it('come from a file, which is checked before anything is sent', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/guests/import`);
    const rows = Array.from({ length: 120 }, (_, at) => `customers/${at};person${at}@example.org;"Label ""${at}"""`);
    const text = `\ufeffGuest key;E-mail;Label;Plan\r\n${rows.join('\r\n')}\r\na//b;;\r\n=1+1;;\r\n<img src=x>;;\r\n`;
    await page.locator('input[type=file]').setInputFiles({
      name: 'guests.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(text),
    });
    await page
      .getByText('122 rows to invite, 1 row with errors, which will be left out. Ignored columns: Plan.')
      .waitFor();
    await page.getByRole('row', { name: /122.*a\/\/b.*A guest key must not contain an empty segment/ }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.deepEqual(await list('guests'), []);
    await page.getByRole('button', { name: 'Invite 122 guests' }).click();
    await page.getByText('122 rows: 122 invited.').waitFor();
    assert.equal(await focused(), 'H1');
    assert.deepEqual(await faultsInBothColours(page), []);
    const file = await saved();
    assert.equal(file.length, 122);
    assert.deepEqual(file[0]?.slice(0, 5), ['customers/0', '', 'person0@example.org', 'Label "0"', 'invited']);
    const links = new Set(file.map((cells) => cells[5]));
    assert.equal(links.size, 122);
    for (const link of [...links].slice(0, 2)) assert.equal((await fetch(link ?? '')).status, 200);
    const guests = await list<Guest>('guests?q=customers/7&sort=guestKey');
    assert.equal(guests[0]?.label, 'Label "7"');
  });

  it('are repeated without second invitations, from pasted rows', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/guests/import`);
    const rows = page.getByLabel('Or paste rows');
    await rows.fill('key,name\na,b');
    await page.getByText('The first line must have the names of the columns').waitFor();
    await rows.fill('guestKey,email\ncustomers/1,person1@example.org\ncustomers/new,new@example.org\n');
    await page.getByRole('button', { name: 'Invite 2 guests' }).click();
    await page.getByText('2 rows: 1 already invited and 1 invited.').waitFor();
    await page.getByRole('link', { name: 'Back to guests' }).click();
    const leave = page.getByRole('dialog', { name: 'Leave without saving the links?' });
    await leave.waitFor();
    await page.keyboard.press('Escape');
    await saved();
    await page.getByRole('link', { name: 'Back to guests' }).click();
    await page.getByRole('heading', { name: 'Guests', level: 2 }).waitFor();
    assert.equal((await list<Invitation>('invitations?limit=1000')).length, 123);
  });

  it('continue after the server failed, with links for the rows whose response was lost', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/guests/import`);
    await page
      .getByLabel('Or paste rows')
      .fill(`guestKey\n${Array.from({ length: 150 }, (_, at) => `lost/${at}`).join('\n')}`);
    let calls = 0;
    await page.route('**/api/v1/apps/*/invitations', async (route) => {
      calls++;
      if (calls !== 2) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Invite 150 guests' }).click();
    await page.getByText('50 rows not invited yet').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('150 rows: 100 invited and 50 new link.').waitFor();
    assert.equal((await saved()).filter((cells) => cells[5] !== '').length, 150);
    await page.unroute('**/api/v1/apps/*/invitations');
  });

  it('are selected by keyboard, on a page or all that match, and renewed and revoked together', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/invitations?status=pending&q=lost`);
    await page.getByText('150 invitations').waitFor();
    await page.getByLabel('Select the invitation for lost/149').focus();
    await page.keyboard.press('Space');
    await page.getByText('1 selected').waitFor();
    await page.getByRole('button', { name: 'Revoke…' }).press('Enter');
    await page.getByRole('dialog', { name: 'Revoke 1 invitation?' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('149 invitations').waitFor();
    assert.equal(await focused(), 'H1');

    await page.getByLabel('Select all open invitations on this page').check();
    await page.getByText('50 selected').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Select all 149 that match' }).click();
    await page.getByText('149 selected').waitFor();
    await page.getByRole('button', { name: 'New links…' }).click();
    await page
      .getByRole('dialog', { name: 'Create 149 new links?' })
      .getByRole('button', { name: 'Create links' })
      .click();
    await page.getByText('149 rows: 149 new link.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    const file = await saved();
    assert.equal(new Set(file.map((cells) => cells[5])).size, 149);
    await page.getByRole('dialog', { name: 'New links' }).getByRole('button', { name: 'Done' }).click();

    await page.getByLabel('Select all open invitations on this page').check();
    await page.getByRole('button', { name: 'Select all 149 that match' }).click();
    await page.getByRole('button', { name: 'Revoke…' }).click();
    await page.getByRole('dialog', { name: 'Revoke 149 invitations?' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('149 invitations revoked.').waitFor();
    await page.getByText('No matches for “lost”').waitFor();
    assert.equal((await list<Invitation>('invitations?status=revoked&limit=1000')).length, 150);
    assert.equal((await fetch(file[0]?.[5] ?? '')).status, 410);
  });

  it('to the team are renewed, too', async () => {
    const { page } = owner;
    const link = await workshop.inviteMember('viewer');
    await owner.open(`/apps/${workshop.app.id}/members`);
    await page.getByRole('button', { name: 'Create a new link for a new viewer' }).click();
    await page.getByRole('button', { name: 'Create link' }).click();
    const shown = page.getByRole('dialog', { name: 'New invitation link' });
    const renewed = await shown.locator('.secret code').innerText();
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.equal((await fetch(link)).status, 404);
    assert.equal((await fetch(renewed)).status, 200);
  });
});
