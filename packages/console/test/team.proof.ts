import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import type { App, ExtensionPoint, InvitationLink, Me, Member, UsageSeriesList } from '@tenon/protocol';
import { greetThatSays, openPublisher } from './helpers/publishing.ts';
import { quiet } from './helpers/quiet.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { accept, faultsInBothColours, openWorkshop, signUpThrough, type Workshop } from './helpers/workshop.ts';

describe('what the team sees of an application', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  before(async () => {
    stage = await openStage({ settings: { TENON_CREATE_APPS: 'members' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    owner = await stage.visitor();
    await owner.open('/');
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const inviteTo = (app: App) => async (guestKey: string) => {
    const body = { deliveryMethod: 'link', guestKey };
    return (await workshop.call<InvitationLink>('POST', `/api/v1/apps/${app.id}/guests`, body)).link;
  };

  const newApp = (name: string) => workshop.call<App>('POST', '/api/v1/apps', { name });

  /** A user without a team. */
  async function newUser(name: string): Promise<Visitor & { readonly userId: string }> {
    const visitor = await stage.visitor();
    await signUpThrough(visitor, await workshop.invite(`for/${name}`), name);
    await accept(visitor);
    await visitor.open('/account');
    const userId = await visitor.page.locator('.copy-text code').first().innerText();
    assert.match(userId, /^usr_/);
    return { ...visitor, userId };
  }

  it('is begun by those whom the server lets; others read who may, also once they may', async () => {
    const guest = await newUser('Barbara Liskov');
    const { page } = guest;
    await guest.open('/');
    await page.getByRole('heading', { name: 'Applications you extend' }).waitFor();
    await page.getByText('On this server, operators and members of a team create applications.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'New application' }).count(), 0);
    assert.deepEqual(await faultsInBothColours(page), []);
    const app = await newApp('With a team');
    const { link } = await workshop.call<{ link: string }>('POST', `/api/v1/apps/${app.id}/members`, {
      role: 'viewer',
    });
    await page.goto(link);
    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('heading', { name: /You joined the team of/ }).waitFor();
    await page.getByRole('link', { name: 'Tenon', exact: true }).click();
    await page.getByRole('button', { name: 'New application' }).waitFor();
    assert.equal(await page.getByText('create applications').count(), 0);
    await guest.close();
  });

  it('begins with steps to the first plugin that a host fetches', async () => {
    const app = await newApp('Fresh');
    const { page } = owner;
    const steps = page.locator('.steps > li');
    await owner.open(`/apps/${app.id}`);
    await page.getByRole('heading', { name: 'Get started' }).waitFor();
    await page.getByText('0 of 4 done').waitFor();
    assert.equal(await page.title(), 'Overview · Fresh · Tenon');
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('link', { name: 'New extension point' }).click();
    await page.getByRole('heading', { name: 'New extension point', level: 1 }).waitFor();

    const point = await workshop.call<ExtensionPoint>('POST', `/api/v1/apps/${app.id}/extension-points`, {
      name: 'Formulas',
      schema: { exports: {} },
    });
    await owner.open(`/apps/${app.id}`);
    assert.match(await steps.nth(1).innerText(), /Invite a guest/);
    assert.equal(await steps.nth(1).getAttribute('aria-current'), 'step');
    const ada = await openPublisher(stage, { ...workshop, invite: inviteTo(app) }, "o'neil/1", 'Edsger');
    await owner.open(`/apps/${app.id}`);
    await page.getByText('2 of 4 done').waitFor();
    await ada.publish(point.id, 'median', greetThatSays('m'));
    await owner.open(`/apps/${app.id}`);
    await page.getByText('3 of 4 done').waitFor();
    const sample = await page.locator('.command').nth(1).innerText();
    for (const part of [`'${stage.url}'`, `'${point.id}'`, "'o\\'neil/1'", "'median'"]) {
      assert.ok(sample.includes(part), sample);
    }
    await page.getByText('Without the client').click();
    await page.getByText('/bindings/o%27neil%2F1').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.route('**/usage/series?*', (route) => route.fulfill({ json: usageOf(app.id) }));
    await page.getByRole('heading', { name: 'Get started' }).waitFor({ state: 'detached' });
    await page.unroute('**/usage/series?*');

    assert.ok((await page.locator('.activity').innerText()).includes('published version 1 of median'));
    assert.deepEqual(await page.locator('.numbers li').allInnerTexts(), [
      '1\nPlugins',
      '1\nExtension points',
      '1\nGuests',
      '0\nPending invitations',
      '0\nAwaiting approval',
      '1\nTeam',
    ]);
    await owner.open(`/apps/${app.id}/settings`);
    await page.getByRole('heading', { name: 'In your host' }).waitFor();
  });

  it('is renamed, and the new name stands everywhere', async () => {
    const app = await newApp('Old name');
    const { page } = owner;
    const name = '"><script>alert(1)</script> & Sons';
    await owner.open(`/apps/${app.id}/settings`);
    await page.getByLabel('Application name').fill(name);
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    assert.equal((await workshop.call<App>('GET', `/api/v1/apps/${app.id}`)).name, name);
    await page.getByRole('link', { name: 'Guests', exact: true }).click();
    await page.getByRole('heading', { name: 'No guests yet' }).waitFor();
    assert.equal(await page.title(), `Guests · ${name} · Tenon`);
  });

  it('is deleted once its name was typed', async () => {
    const app = await newApp('Short  lived');
    const { page } = owner;
    await owner.open(`/apps/${app.id}/settings`);
    await page.getByRole('button', { name: 'Delete application…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete application?' });
    const confirm = dialog.getByRole('button', { name: 'Delete application' });
    assert.ok(await confirm.isDisabled());
    await dialog.getByLabel(/^Type/).fill('Short');
    assert.ok(await confirm.isDisabled());
    assert.deepEqual(await faultsInBothColours(page), []);
    await dialog.getByLabel(/^Type/).fill('Short lived');
    await confirm.click();
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
    assert.equal(await page.getByText('Short lived').count(), 0);
    await owner.open(`/apps/${app.id}/guests`);
    await page.getByRole('heading', { name: 'Application not found' }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('grows by an invitation, with a role that can be changed; the last owner stays one', async () => {
    const ada = await newUser('Ada Lovelace');
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/members`);
    await page.getByText('You are alone in the team.').waitFor();
    const invite = async (role: string, name: string): Promise<string> => {
      await page.getByRole('button', { name: 'Invite to the team' }).click();
      const dialog = page.getByRole('dialog', { name: 'Invite to the team' });
      await dialog.getByLabel(role, { exact: true }).check();
      await dialog.getByLabel('Name').fill(name);
      assert.deepEqual(await faultsInBothColours(page), []);
      await dialog.getByRole('button', { name: 'Create link' }).click();
      const made = page.getByRole('dialog', { name: 'Invitation link' });
      await made.waitFor();
      assert.deepEqual(await faultsInBothColours(page), []);
      const link = (await made.locator('code').filter({ hasText: '/accept-invite?code=' }).textContent()) ?? '';
      await made.getByRole('button', { name: 'Done' }).click();
      await made.getByRole('button', { name: 'Close without copying' }).click();
      return link.trim();
    };
    await invite('owner', 'Nobody');
    await page.getByRole('row', { name: /Nobody.*owner.*pending/ }).waitFor();
    await page.getByRole('button', { name: 'Revoke the invitation for Nobody' }).click();
    await page.getByRole('button', { name: 'Revoke invitation', exact: true }).click();
    await page.getByRole('row', { name: /Nobody/ }).waitFor({ state: 'detached' });

    await ada.page.goto(await invite('viewer', 'Ada'));
    await ada.page.getByRole('heading', { name: 'invites you' }).waitFor();
    await ada.page.getByText(/Demo owner invites you to the team of .*, as viewer/).waitFor();
    assert.deepEqual(await faultsInBothColours(ada.page), []);
    await ada.page.getByRole('button', { name: 'Accept' }).click();
    await ada.page.getByRole('heading', { name: /You joined the team of/ }).waitFor();
    assert.deepEqual(await faultsInBothColours(ada.page), []);
    await ada.page.reload();
    await ada.page.getByText('Your role is viewer.').waitFor();
    await owner.open(`/apps/${workshop.app.id}/members`);
    await page.getByRole('row', { name: /Ada Lovelace.*viewer/ }).waitFor();

    // A viewer sees everything, and no button that changes something but the own membership.
    await ada.open(`/apps/${workshop.app.id}/members`);
    await ada.page.getByText('Owners change the team.').waitFor();
    for (const part of ['members', 'guests', 'extension-points', `extension-points/${workshop.point.id}`, '']) {
      await ada.open(`/apps/${workshop.app.id}/${part}`.replace(/\/$/, ''));
      await quiet(ada.page);
      const actions = ada.page.getByRole('main').getByRole('button', { name: /add|remove|invite|delete|rename/i });
      assert.equal(await actions.count(), 0, part);
      assert.equal(await ada.page.getByRole('link', { name: /^(New|Edit)/ }).count(), 0, part);
    }
    // One can be in the team and a guest: both views are there.
    await ada.page.getByRole('link', { name: 'My plugins' }).click();
    await ada.page.getByRole('link', { name: 'Overview' }).waitFor();

    await page.getByRole('button', { name: 'Change role of Ada Lovelace' }).click();
    await page.getByLabel('admin').check();
    await page.getByRole('button', { name: 'Change role', exact: true }).click();
    await page.getByRole('row', { name: /Ada Lovelace.*admin/ }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    const leave = page.getByRole('button', { name: 'Leave the team' });
    assert.ok(await leave.isDisabled());
    await page.getByText('To leave the team, make another member an owner first.').waitFor();
    await page
      .getByRole('row', { name: /you owner/ })
      .getByRole('button', { name: /^Change role of/ })
      .click();
    await page.getByLabel('admin').check();
    await page.getByRole('button', { name: 'Change role', exact: true }).click();
    await page.getByRole('dialog').getByText('An application needs at least one owner.').waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Remove Ada Lovelace from the team' }).click();
    await page.getByLabel('End this guest access too').check();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Remove member', exact: true }).click();
    await page.getByRole('row', { name: /Ada Lovelace/ }).waitFor({ state: 'detached' });
    await ada.open(`/apps/${workshop.app.id}`);
    await ada.page.getByRole('heading', { name: 'Application not found' }).waitFor();

    await ada.page.goto(await invite('admin', 'Ada'));
    await ada.page.getByRole('button', { name: 'Accept' }).click();
    await ada.page.getByRole('link', { name: /^Go to/ }).click();
    await ada.open(`/apps/${workshop.app.id}/members`);
    await ada.page.getByRole('button', { name: 'Leave the team' }).click();
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Leave the team' }).click();
    await ada.page.getByText('You have left the team.').waitFor();
    const { objects } = await workshop.call<{ objects: Member[] }>('GET', `/api/v1/apps/${workshop.app.id}/members`);
    assert.deepEqual(
      objects.map(({ role }) => role),
      ['owner'],
    );
    await ada.close();
  });

  it('leads a guest to the guests’ view, whichever part of the team’s was opened', async () => {
    const guest = await newUser('Grace Guest');
    for (const part of ['', '/guests', `/extension-points/${workshop.point.id}`]) {
      await guest.page.goto(`${stage.url}/apps/${workshop.app.id}${part}`);
      await guest.page.waitForURL(`${stage.url}/apps/${workshop.app.id}/my-plugins`);
    }
    assert.equal(await guest.page.getByText('for/Grace').count(), 0);
    await guest.close();
  });

  it('shows tokens and keys once, and they open what they say until they are revoked', async () => {
    const { page } = owner;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await owner.open('/account');
    await page.getByRole('link', { name: 'Tokens and API keys' }).click();
    await page.getByRole('heading', { name: 'Tokens and API keys' }).waitFor();
    await page.getByRole('row', { name: /quickstart.*read, publish, manage/ }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    await page.getByRole('button', { name: 'New access token' }).click();
    await page.getByLabel('Name').fill('<b>host</b>');
    await page.getByLabel('Applications', { exact: true }).selectOption({ label: 'only Acme Spreadsheet' });
    await page.getByLabel('Expires in').selectOption('other');
    await page.getByLabel('Days').fill('3');
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Create token' }).click();
    const shown = page.getByRole('dialog', { name: 'Token “<b>host</b>”' });
    await shown.getByRole('button', { name: 'Copy the token' }).click();
    const token = await page.evaluate(() => navigator.clipboard.readText());
    assert.deepEqual(await faultsInBothColours(page), []);
    await shown.getByRole('button', { name: 'Done' }).click();
    assert.ok(!(await page.content()).includes(token));
    const me = await meOf(token);
    assert.deepEqual([me?.token.scopes, me?.token.appId], [['read'], workshop.app.id]);
    await page.getByRole('row', { name: /<b>host<\/b>.*read.*Acme Spreadsheet.*in 3 days/ }).waitFor();
    await page.getByRole('button', { name: 'Revoke <b>host</b>' }).click();
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByRole('row', { name: /<b>host<\/b>/ }).waitFor({ state: 'detached' });
    assert.equal(await meOf(token), undefined);

    await page.getByRole('button', { name: 'New API key' }).click();
    await page.getByLabel('Name').fill('ci');
    await page.getByRole('button', { name: 'Create key' }).click();
    const shownKey = page.getByRole('dialog', { name: 'API key “ci”' });
    const key = await shownKey.locator('.secret code').innerText();
    await shownKey.getByText(`${stage.url}/instrument`).waitFor();
    // Escape alone doesn't lose what was not copied.
    await page.keyboard.press('Escape');
    await shownKey.getByText('You haven’t copied this yet').waitFor();
    await shownKey.getByRole('button', { name: 'Close without copying' }).click();
    const form = new FormData();
    form.append('wasm', new Blob([new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])]));
    const instrument = () =>
      fetch(`${stage.url}/instrument`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: form });
    assert.equal((await instrument()).status, 200);
    await page.getByRole('button', { name: 'Revoke ci' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('row', { name: /^ci/ }).waitFor({ state: 'detached' });
    assert.equal((await instrument()).status, 401);
  });

  it('asks for the password again before it hands out what opens much', async () => {
    const { page } = owner;
    const { TENON_PASSWORD: password = '' } = stage.server.quickstart;
    // As if the password had been entered a while ago.
    const database = new DatabaseSync(join(stage.server.folder, 'tenon-data', 'tenon.db'));
    database.exec('update sessions set confirmedAtMs = confirmedAtMs - 3600000');
    database.exec('insert into commits (invalidated) values (null)'); // has the server forget what it knows
    database.close();
    await owner.open('/account/tokens');
    await page.getByRole('button', { name: 'New access token' }).click();
    await page.getByLabel('Name').fill('robot');
    await page.getByLabel('manage').check();
    await page.getByRole('button', { name: 'Create token' }).click();
    const asked = page.getByRole('dialog', { name: 'Confirm your password' });
    await asked.getByLabel('Password', { exact: true }).fill('not this one');
    await asked.getByRole('button', { name: 'Continue' }).click();
    await asked.getByRole('alert').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    // Not now: the form is still there, and no fault is reported.
    await page.keyboard.press('Escape');
    await asked.waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('alert').count(), 0);
    await page.getByRole('button', { name: 'Create token' }).click();
    await asked.getByLabel('Password', { exact: true }).fill(password);
    await asked.getByRole('button', { name: 'Continue' }).click();
    const shown = page.getByRole('dialog', { name: 'Token “robot”' });
    const me = await meOf(await shown.locator('.secret code').innerText());
    assert.deepEqual(me?.token.scopes.toSorted(), ['manage', 'read']);
  });

  it('asks for the password again before an application is deleted, and then deletes it', async () => {
    const app = await newApp('Asked for');
    const { page } = owner;
    const { TENON_PASSWORD: password = '' } = stage.server.quickstart;
    const database = new DatabaseSync(join(stage.server.folder, 'tenon-data', 'tenon.db'));
    database.exec('update sessions set confirmedAtMs = confirmedAtMs - 3600000');
    database.exec('insert into commits (invalidated) values (null)'); // has the server forget what it knows
    database.close();
    await owner.open(`/apps/${app.id}/settings`);
    await page.getByRole('button', { name: 'Delete application…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete application?' });
    await dialog.getByLabel(/^Type/).fill('Asked for');
    await dialog.getByRole('button', { name: 'Delete application' }).click();
    const asked = page.getByRole('dialog', { name: 'Confirm your password' });
    await asked.getByLabel('Password', { exact: true }).fill(password);
    assert.deepEqual(await faultsInBothColours(page), []);
    await asked.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
    assert.equal(await page.getByText('Asked for').count(), 0);
  });

  it('says so when something is not there, and when the server does not answer', async () => {
    const { page } = owner;
    const { id } = workshop.app;
    await owner.open(`/apps/${id}/guests/gst_00000000000000000000000000`);
    await page.getByRole('heading', { name: 'Guest not found' }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.route('**/api/v1/apps/*/guests?*', (route) => route.abort());
    await owner.open(`/apps/${id}/guests`);
    await page.getByText('The server is not responding').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.unroute('**/api/v1/apps/*/guests?*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Guests', level: 2 }).waitFor();
    await page.getByRole('button', { name: 'Invite a guest' }).waitFor();
  });

  async function meOf(token: string): Promise<Me | undefined> {
    const response = await fetch(`${stage.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    if (response.status === 401) return undefined;
    assert.equal(response.status, 200);
    return (await response.json()) as Me;
  }

  it('keeps what it shows while one goes back and forth', async () => {
    const { page } = owner;
    await workshop.call<ExtensionPoint>('GET', `/api/v1/extension-points/${workshop.point.id}`);
    await owner.open(`/apps/${workshop.app.id}/extension-points`);
    await page.getByRole('link', { name: 'Greetings' }).waitFor();
    await page.getByRole('link', { name: 'Team', exact: true }).click();
    await page.getByRole('heading', { name: 'Team' }).waitFor();
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/extension-points?*', async (route) => {
      await held;
      await route.continue();
    });
    await page.goBack();
    await page.getByRole('link', { name: 'Greetings' }).waitFor();
    answer();
    await page.unroute('**/extension-points?*', { behavior: 'wait' } as never).catch(() => {});
  });
});

/** The series of an application whose plugin was fetched once. */
function usageOf(id: string): UsageSeriesList {
  const now = new Date().toISOString();
  const use = { lastListRequestAt: now, lastContentFetchAt: now, lastUsedAt: now };
  const days = { listRequests: [1], contentFetches: [1] };
  return { from: now, to: now, objects: [{ id, ...use, totals: { listRequests: 1, contentFetches: 1 }, ...days }] };
}
