import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { BindingList, Guest } from '@tenon/protocol';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { accept, faultsInBothColours, openWorkshop, signUpThrough, type Workshop } from './helpers/workshop.ts';

describe('guests, as the team sees them', { skip: noBrowser }, () => {
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

  const guests = async () =>
    (await workshop.call<{ objects: Guest[] }>('GET', `/api/v1/apps/${workshop.app.id}/guests?limit=1000`)).objects;

  it('are invited by a guest key, which is checked as it is typed, with a link that is shown once', async () => {
    const { page } = owner;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await owner.open(`/apps/${workshop.app.id}/guests`);
    await page.getByRole('heading', { name: 'No guests yet' }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Invite a guest' }).click();
    const key = page.getByLabel('Guest key');
    const create = page.getByRole('button', { name: 'Create link' });
    await key.fill('customers//x');
    await page.getByText('A guest key must not contain an empty segment').waitFor();
    assert.ok(await create.isDisabled());
    assert.deepEqual(await faultsInBothColours(page), []);
    await key.fill('100%');
    await page.getByText('must percent-encode this key').waitFor();
    await key.fill('customers/globex');
    await page.getByLabel('Label').fill('Globex');
    await page.getByLabel('Name').fill('<img src=x onerror=alert(1)>');
    await page.getByLabel('E-mail address').fill('grace@example.org');
    await create.click();

    const shown = page.getByRole('dialog', { name: 'Invitation link' });
    await shown.getByText('You won’t see it again').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.keyboard.press('Enter'); // the focus is on the button that copies
    await shown.getByRole('button', { name: 'Copied the link' }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(link, new RegExp(`^${stage.url}/accept-invite\\?code=[\\w-]{43}$`));
    await page.keyboard.press('Escape');
    await shown.waitFor({ state: 'detached' });
    assert.ok(!(await page.content()).includes(link));
    await page
      .getByRole('row', { name: /customers\/globex.*Globex.*no users yet.*pending.*grace@example.org/ })
      .waitFor();

    const grace = await stage.visitor();
    await signUpThrough(grace, link, 'Grace Hopper');
    await grace.page.getByText('As a guest for Globex you will be able to').waitFor();
    await accept(grace);
    await grace.open(`/apps/${workshop.app.id}/my-plugins`);
    await grace.page.getByText('You are a guest for Globex.').waitFor();
    await grace.close();
    await page.reload();
    await page.getByRole('row', { name: /customers\/globex.*Grace Hopper.*accepted/ }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('have a label and a note, which two members may edit at once', async () => {
    const { page } = owner;
    const { id } = (await guests()).find(({ guestKey }) => guestKey === 'customers/globex') as Guest;
    const path = `/api/v1/apps/${workshop.app.id}/guests/${id}`;
    await owner.open(`/apps/${workshop.app.id}/guests/${id}`);
    await page.getByLabel('Label').fill('Globex Inc.');
    await page.getByLabel('Note').fill('first line\nsecond line');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const saved = await workshop.call<Guest>('GET', path);
    assert.deepEqual([saved.label, saved.note], ['Globex Inc.', 'first line\nsecond line']);
    assert.deepEqual(await faultsInBothColours(page), []);

    await page.getByLabel('Label').fill('Mine'); // first, as the page shows later changes at once
    await workshop.call('PUT', path, { label: 'Globex of another member' });
    await page.getByRole('button', { name: 'Save' }).click();
    const question = page.getByRole('dialog', { name: 'This was changed meanwhile' });
    await question.getByText('added: Globex of another member').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await question.getByRole('button', { name: 'Discard my changes' }).click();
    await question.waitFor({ state: 'detached' });
    assert.equal(await page.getByLabel('Label').inputValue(), 'Globex of another member');
    await page.getByLabel('Label').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('dd').getByText('none').waitFor();
    assert.equal((await workshop.call<Guest>('GET', path)).label, null);
  });

  it('have invitations that are made again and revoked, and users who are removed', async () => {
    const link = await workshop.invite('customers/initech');
    const visitor = await stage.visitor();
    await signUpThrough(visitor, link, 'Peter Gibbons');
    await accept(visitor);
    await visitor.close();
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/guests`);
    await page.getByRole('link', { name: 'customers/initech' }).click();
    await page.getByRole('heading', { name: 'customers/initech', level: 1 }).waitFor();
    await page.getByRole('row', { name: /Peter Gibbons/ }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    await page.getByRole('button', { name: 'New invitation' }).click();
    await page.getByLabel('Name').fill('Milton');
    await page.getByRole('button', { name: 'Create link' }).click();
    const shown = page.getByRole('dialog', { name: 'Invitation link' });
    const second = await shown.locator('.secret code').innerText();
    await shown.getByRole('button', { name: 'Done' }).click();
    await shown.getByRole('button', { name: 'Close without copying' }).click();
    await page.getByRole('row', { name: /Milton.*pending/ }).waitFor();
    await page.getByRole('button', { name: 'Revoke the invitation for Milton' }).click();
    await page.getByRole('button', { name: 'Revoke invitation', exact: true }).click();
    await page.getByRole('row', { name: /Milton.*revoked/ }).waitFor();
    assert.equal((await fetch(second)).status, 410);

    await page.getByRole('button', { name: 'Remove Peter Gibbons from this guest' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove Peter Gibbons from this guest?' });
    await dialog.getByText('stop being served under').waitFor();
    await dialog.getByRole('button', { name: 'Remove the user' }).click();
    await page.getByText('No users yet. A user appears here after accepting an invitation.').waitFor();
    const guest = (await guests()).find(({ guestKey }) => guestKey === 'customers/initech');
    assert.deepEqual(guest?.users, []);
  });

  it('have plugins, which the team sees at each extension point, saves, and takes away with the guest', async () => {
    const guestKey = 'customers/100% & more?';
    const greet = await readFile(new URL('../../server/sample/greet.wasm', import.meta.url));
    const link = await workshop.invite(guestKey);
    const code = new URL(link).searchParams.get('code');
    await workshop.call('POST', '/api/v1/invitations/accept', { code });
    const { TENON_TOKEN: token = '', TENON_USER_ID: userId = '' } = stage.server.quickstart;
    const guest = (await guests()).find((one) => one.guestKey === guestKey);
    const plugin = `/api/v1/artifacts/${workshop.point.id}/plugin/${userId}/constructor?guest=${guest?.id}`;
    const published = await fetch(stage.url + plugin, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/wasm' },
      body: greet,
    });
    assert.equal(published.status, 201, await published.text());

    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/guests/${guest?.id}`);
    const row = page.getByRole('row', { name: /constructor/ });
    await row.waitFor();
    const address = createHash('sha256').update(greet).digest('base64url');
    await row.getByText(`${address.slice(0, 10)}…`).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      row.getByRole('button', { name: 'Download constructor' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'constructor.wasm');
    assert.deepEqual(await readFile(await download.path()), greet);

    await page.getByRole('link', { name: 'Greetings' }).click();
    await page.getByRole('row', { name: /constructor.*100% & more\?/ }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('link', { name: guestKey }).click();

    await page.getByRole('button', { name: 'Remove the guest…' }).click();
    await page.getByRole('dialog').getByText('Hosts get no plugins for').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Cancel', 'the safe button');
    await page.getByRole('button', { name: 'Remove the guest', exact: true }).click();
    await page.getByRole('heading', { name: 'Guests', level: 2 }).waitFor();
    await page.getByRole('link', { name: guestKey }).waitFor({ state: 'detached' });
    const path = `/api/v1/extension-points/${workshop.point.id}/bindings/${encodeURIComponent(guestKey)}`;
    assert.deepEqual(await workshop.call<BindingList>('GET', path), {});
  });

  it('are found among many, by a page whose address keeps the place', async () => {
    const many = 260;
    for (let at = 0; at < many; at += 20) {
      const some = Array.from({ length: 20 }, (_, i) => workshop.invite(`many/customer-${at + i}`));
      await Promise.all(some);
    }
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/guests`);
    const { length } = await guests();
    await page.getByText(`${length} guests`).waitFor();
    const keys = () => page.getByRole('rowheader').allInnerTexts();
    assert.equal((await keys()).length, 50);
    const next = page.getByRole('button', { name: 'Next' });
    await next.click();
    await page.waitForURL(/[?&]cursor=/);
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Guests');
    await page.getByRole('link', { name: 'many/customer-50', exact: true }).waitFor();
    const second = await keys();
    await page.reload();
    await page.getByRole('link', { name: 'many/customer-50', exact: true }).click();
    await page.getByRole('heading', { name: 'many/customer-50', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'many/customer-50', exact: true }).waitFor();
    assert.deepEqual(await keys(), second);
    await page.getByRole('button', { name: 'Previous' }).click();
    await page.getByRole('link', { name: 'customers/globex' }).waitFor();

    const search = page.getByRole('searchbox');
    await search.fill('CUSTOMER-25');
    await page.getByText('11 guests').waitFor(); // 25, and 250 to 259
    assert.deepEqual((await keys()).slice(0, 3), ['many/customer-25', 'many/customer-250', 'many/customer-251']);
    await page.getByRole('button', { name: 'Guest key' }).click();
    await page.waitForURL(/sort=-guestKey/);
    await page.getByRole('columnheader', { name: 'Guest key' }).and(page.locator('[aria-sort="descending"]')).waitFor();
    await page.getByRole('link', { name: 'many/customer-259' }).click();
    await page.getByRole('heading', { name: 'many/customer-259', level: 1 }).waitFor();
    await page.goBack();
    await page.getByText('11 guests').waitFor();
    assert.equal(await search.inputValue(), 'CUSTOMER-25');
    assert.equal((await keys())[0], 'many/customer-259');

    await search.fill('no such key');
    await page.getByText('No matches for “no such key”').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByText(`${length} guests`).waitFor();
    await page.getByLabel('Any state').selectOption('active');
    await page.getByRole('row', { name: /Grace Hopper/ }).waitFor();
    await page.waitForURL(/state=active/);
    assert.deepEqual(await faultsInBothColours(page), []);
  });
});
