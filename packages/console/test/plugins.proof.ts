import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { BindingList, Guest, PluginStatus, Version } from '@tenon/protocol';
import type { Page } from 'playwright-core';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, joinTeam, openWorkshop, type Workshop } from './helpers/workshop.ts';

const addressOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64url');
const globex = 'customers/globex';
const initech = 'customers/initech';

describe("a plugin's page", { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let ada: Publisher;
  before(async () => {
    stage = await openStage({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    ada = await openPublisher(stage, workshop, globex, 'Ada Lovelace');
    const code = new URL(await workshop.invite(initech)).searchParams.get('code');
    await ada.call('POST', '/api/v1/invitations/accept', { code });
    owner = await stage.visitor({ acceptDownloads: true });
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const apiPath = (name: string) => `/api/v1/artifacts/${workshop.point.id}/plugin/${ada.userId}/${name}`;
  const teamPath = (name: string) =>
    `/apps/${workshop.app.id}/extension-points/${workshop.point.id}/plugins/${ada.userId}/${name}`;
  const guestPath = (name: string) => `/apps/${workshop.app.id}/my-plugins/${workshop.point.id}/${name}`;

  /** Opens a plugin's page and waits for its history. */
  async function open(visitor: Visitor, path: string): Promise<void> {
    await visitor.open(path);
    await visitor.page.getByRole('heading', { name: 'History' }).waitFor();
  }

  /** Publishes versions that say `<name> 1`, `<name> 2`, … */
  async function publish(name: string, count: number): Promise<void> {
    for (let at = 1; at <= count; at++) {
      await ada.publish(workshop.point.id, name, greetThatSays(`${name} ${at}`), `?semver=1.${at}.0&note=Step%20${at}`);
    }
  }

  /** The version in a host's binding list, by the address of what `publish` has published. */
  async function bound(guestKey: string, name: string): Promise<number | undefined> {
    const path = `/api/v1/extension-points/${workshop.point.id}/bindings/${encodeURIComponent(guestKey)}`;
    const address = (await workshop.call<BindingList>('GET', path))[name]?.contentAddress;
    for (let at = 1; at < 10; at++) if (addressOf(greetThatSays(`${name} ${at}`)) === address) return at;
    assert.equal(address, undefined);
    return undefined;
  }

  const dialog = (page: Page) => page.getByRole('dialog');
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  /** A dialog begins at the field that its button waits for, and the button says so. */
  async function beginsAt(page: Page, field: string, name: string, why: string): Promise<void> {
    const confirm = dialog(page).getByRole('button', { name });
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), field);
    assert.ok(await confirm.isDisabled());
    assert.equal(
      await confirm.evaluate((it) => document.getElementById(it.getAttribute('aria-describedby') ?? '')?.textContent),
      why,
    );
    assert.ok(await dialog(page).getByText(why).isVisible());
  }
  const entry = (page: Page, number: number) =>
    page.locator('.history-entry').filter({ has: page.getByRole('heading', { name: `Version ${number} ` }) });
  const gone = (page: Page) => dialog(page).waitFor({ state: 'detached' });

  it('shows the bill of materials, and where it comes from', async () => {
    const { page } = owner;
    const text = (value: string) => [value.length, ...Buffer.from(value)];
    const section = [...text('producers'), 1, ...text('processed-by'), 1, ...text('rustc'), ...text('1.90.0')];
    const made = Buffer.concat([greetThatSays('made 1'), Buffer.from([0, section.length, ...section])]);
    await ada.publish(workshop.point.id, 'made', made);
    await ada.publish(workshop.point.id, 'made', greetThatSays('made 2'));
    const bom = {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      components: [{ name: 'zlib', version: '1.3' }, { name: 7 }],
    };
    await ada.call('POST', `${apiPath('made')}/versions/2/attestations`, bom);
    await ada.publish(workshop.point.id, 'made', greetThatSays('made 3'));
    await open(owner, teamPath('made'));
    const versionOf = (number: number) =>
      page.locator('.history-entry').filter({ has: page.getByRole('heading', { name: `Version ${number}` }) });
    for (const [number, words] of [
      [3, 'The publisher has attached none'],
      [2, 'Attached by the publisher. It has no signature of the publisher.'],
      [1, 'The module names the languages, tools, and SDKs that made it, and no libraries.'],
    ] as const) {
      await versionOf(number).getByText('Bill of materials').click();
      await versionOf(number).getByText(words).waitFor();
    }
    assert.deepEqual(await versionOf(2).locator('.version-diff li').allInnerTexts(), ['zlib 1.3']);
    assert.deepEqual(await versionOf(1).locator('.version-diff li').allInnerTexts(), ['rustc 1.90.0']);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button(page, 'Download made-2.cdx.json').click(),
    ]);
    assert.deepEqual(JSON.parse(await readFile(await download.path(), 'utf8')), bom);
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('tells the team of every version, by whom, how large, and lets old ones be saved', async () => {
    await publish('median', 2);
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/extension-points/${workshop.point.id}`);
    await page.getByRole('row', { name: /median.*Ada Lovelace.*v2 active/ }).waitFor();
    await page.getByRole('link', { name: 'median' }).click();
    await page.getByRole('heading', { name: 'median', level: 1 }).waitFor();
    await page.getByText('Ada Lovelace').first().waitFor();
    assert.deepEqual(await page.locator('.history-entry h3').allInnerTexts(), ['Version 2 1.2.0', 'Version 1 1.1.0']);
    await entry(page, 2).getByText('active', { exact: true }).waitFor();
    await entry(page, 1).getByText('Step 1').waitFor();
    await entry(page, 1)
      .getByText(`${addressOf(greetThatSays('median 1')).slice(0, 10)}…`)
      .waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download version 1').click()]);
    assert.equal(download.suggestedFilename(), 'median-1.wasm');
    assert.deepEqual(await readFile(await download.path()), greetThatSays('median 1'));
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.setViewportSize({ width: 360, height: 740 });
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('shows how OCI clients name a version, and the commands that copy it', async () => {
    await publish('coins', 1);
    const { page } = owner;
    await open(owner, teamPath('coins'));
    await entry(page, 1).getByText('OCI reference of version 1').click();
    const { oci } = await workshop.call<Version>('GET', `${apiPath('coins')}/versions/1`);
    const repository = `${new URL(stage.url).host}/${workshop.app.id}/${workshop.point.id}/${ada.userId}/coins`;
    assert.deepEqual([oci.repository, oci.tag], [repository, '1.1.0']);
    for (const [what, text] of [
      ['by tag', `${repository}:1.1.0`],
      ['by digest', `${repository}@${oci.digest}`],
    ]) {
      await entry(page, 1).getByText(`${text}`, { exact: true }).waitFor();
      await button(page, `Copy the reference ${what}`).click();
      await button(page, `Copied the reference ${what}`).waitFor();
    }
    await entry(page, 1).getByText(`docker://${repository}:1.1.0 oci-archive:coins-1.tar`).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.setViewportSize({ width: 360, height: 740 });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    await page.setViewportSize({ width: 1280, height: 720 });
    await workshop.call('PUT', `${apiPath('coins')}/block`, { reason: 'Wrong.' });
    await open(owner, teamPath('coins'));
    await entry(page, 1).getByText('OCI reference of version 1').click();
    await entry(page, 1).getByText('A blocked plugin has no tags.').waitFor();
    await entry(page, 1).getByText(`docker://${repository}@${oci.digest}`).waitFor();
  });

  it('lets the publisher roll back and go back, yank and restore, and says first what changes', async () => {
    await publish('mode', 3);
    const { page } = ada.visitor;
    await open(ada.visitor, guestPath('mode'));
    await button(page, 'Roll back to version 1').click();
    await dialog(page).getByText('your guest 1').waitFor();
    await dialog(page).getByText('version 3 →').first().waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.keyboard.press('Escape');
    await gone(page);
    assert.equal(await bound(globex, 'mode'), 3, 'looking at it changes nothing');
    await button(page, 'Roll back to version 1').click();
    await dialog(page).getByRole('button', { name: 'Roll back' }).click();
    await gone(page);
    await page.getByRole('row', { name: /your guest 2.*version 1.*rolled back/ }).waitFor();
    assert.equal(await bound(initech, 'mode'), 1);
    await button(page, 'End rollback and use version 3').click();
    await dialog(page).getByRole('heading', { name: 'End the rollback?' }).waitFor();
    await dialog(page).getByRole('button', { name: 'End rollback' }).click();
    await page.getByRole('row', { name: /your guest 1.*version 3.*the newest/ }).waitFor();
    assert.equal(await bound(globex, 'mode'), 3);

    await button(page, 'Yank version 3').click();
    const yank = dialog(page).getByRole('button', { name: 'Yank version' });
    assert.ok(await yank.isDisabled(), 'a reason is needed');
    await dialog(page).getByLabel('Reason').fill('Counts <i>twice</i>');
    await yank.click();
    await entry(page, 3).getByText('Yanked by its publisher').waitFor();
    await entry(page, 3).getByText('Counts <i>twice</i>').waitFor();
    await page.getByText('Version 3: yanked by its publisher').waitFor();
    assert.equal(await bound(globex, 'mode'), 2);
    assert.deepEqual(await faultsInBothColours(page), []);
    await button(page, 'Restore version 3').click();
    await dialog(page).getByRole('button', { name: 'Restore version' }).click();
    await entry(page, 3).getByText('Restored by its publisher').waitFor();
    assert.equal(await bound(globex, 'mode'), 3);
  });

  it('lets the team pin what one guest gets, which the publisher sees without the key', async () => {
    await publish('range', 2);
    const { page } = owner;
    await open(owner, teamPath('range'));
    await button(page, `Pin for ${initech}`).click();
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'version');
    await dialog(page).getByText('No change for hosts.').waitFor();
    await dialog(page).getByLabel('Version').selectOption('1');
    await dialog(page).getByText('version 2 →').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await dialog(page).getByRole('button', { name: 'Pin version 1' }).click();
    await page.getByRole('row', { name: new RegExp(`${initech}.*version 1.*pinned by the team`) }).waitFor();
    await page.getByRole('row', { name: new RegExp(`${globex}.*version 2.*the newest`) }).waitFor();
    assert.deepEqual([await bound(initech, 'range'), await bound(globex, 'range')], [1, 2]);

    await page.getByRole('link', { name: initech }).click();
    await page.getByRole('row', { name: /range.*Ada Lovelace.*1\s*pinned/ }).waitFor();
    await page.getByRole('link', { name: 'range' }).click();
    await button(page, 'Yank version 1').waitFor();

    await open(ada.visitor, guestPath('range'));
    const { page: theirs } = ada.visitor;
    await theirs.getByRole('row', { name: /your guest 2.*version 1.*pinned by the team/ }).waitFor();
    await theirs.getByText('Only the team can delete it.').waitFor();
    assert.equal(await theirs.getByRole('button', { name: /Pin|Unpin|Block|Approve|Delete/ }).count(), 0);
    assert.doesNotMatch(await theirs.locator('main').innerHTML(), /globex|initech/);

    await button(page, `Unpin for ${initech}`).click();
    await dialog(page).getByRole('button', { name: 'Unpin' }).click();
    await page.getByRole('row', { name: new RegExp(`${initech}.*version 2.*the newest`) }).waitFor();
    assert.equal(await bound(initech, 'range'), 2);
  });

  it('lets the team take versions back and block a plugin, with reasons that the publisher reads', async () => {
    await publish('sum', 2);
    const { page } = owner;
    await open(owner, teamPath('sum'));
    await button(page, 'Yank version 2').click();
    await dialog(page).getByLabel('Reason').fill('Overflows.');
    await dialog(page).getByRole('button', { name: 'Yank version' }).click();
    await entry(page, 2).getByText('Yanked by the team').waitFor();
    await button(page, 'Restore version 2').waitFor();
    await button(page, 'Block plugin…').click();
    await beginsAt(page, 'reason', 'Block plugin', 'A reason is required.');
    await dialog(page).getByLabel('Reason').fill('Sends what it reads to others.');
    assert.deepEqual(await faultsInBothColours(page), []);
    await dialog(page).getByRole('button', { name: 'Block plugin' }).click();
    await page.getByText('The team has blocked this plugin').waitFor();
    assert.equal(await bound(globex, 'sum'), undefined);
    assert.deepEqual(await faultsInBothColours(page), []);

    const { page: theirs } = ada.visitor;
    await open(ada.visitor, guestPath('sum'));
    await theirs.getByText('Sends what it reads to others.').waitFor();
    await entry(theirs, 2).getByText('Overflows.').waitFor();
    assert.equal(await theirs.getByRole('button', { name: /Restore|Unblock|Delete/ }).count(), 0);
    assert.deepEqual(await faultsInBothColours(theirs), []);
    await theirs.getByRole('link', { name: 'Greetings' }).click();
    await theirs.getByRole('row', { name: /sum.*blocked/ }).waitFor();

    await button(page, 'Unblock plugin…').click();
    await dialog(page).getByText('nothing →').first().waitFor();
    await dialog(page).getByRole('button', { name: 'Unblock plugin' }).click();
    await button(page, 'Block plugin…').waitFor();
    assert.equal(await bound(globex, 'sum'), 1);
  });

  it('says why something did not work, and stays as it was', async () => {
    await publish('late', 2);
    const { page } = ada.visitor;
    await open(ada.visitor, guestPath('late'));
    await workshop.call('POST', `${apiPath('late')}/versions/1/yank`, { reason: 'Old.' });
    await button(page, 'Roll back to version 1').click();
    await dialog(page).getByRole('button', { name: 'Roll back' }).click();
    await dialog(page).getByText('Version 1 is yanked. Only a published version can be bound.').nth(1).waitFor();
    await dialog(page).getByText('The plugin has changed.').waitFor();
    assert.ok(await dialog(page).getByRole('button', { name: 'Roll back' }).isDisabled());
    assert.deepEqual(await faultsInBothColours(page), []);
    const { status } = await ada.call<{ status: PluginStatus }>('GET', apiPath('late'));
    assert.deepEqual(new Set(status.bindings.map(({ version }) => version)), new Set([2]));
    await page.keyboard.press('Escape');
    await entry(page, 1).getByText('Yanked by the team').waitFor();
  });

  it('is only to be looked at by a viewer', async () => {
    await publish('seen', 2);
    const viewer = await openPublisher(stage, workshop, 'customers/viewer', 'Vera Viewer');
    await joinTeam(workshop, viewer, 'viewer');
    const { page } = viewer.visitor;
    await open(viewer.visitor, teamPath('seen'));
    await page.getByRole('link', { name: globex }).waitFor();
    const others = /Yank|Roll back|Pin|Block|Delete|Approve|Restore/;
    assert.equal(await page.locator('main').getByRole('button', { name: others }).count(), 0);
    await button(page, 'Download version 1').waitFor();
    await viewer.visitor.close();
  });

  it('goes with the plugin, once its name was typed, and says so to who comes later', async () => {
    await publish('brief', 1);
    const { page } = ada.visitor;
    await open(ada.visitor, guestPath('brief'));
    await button(page, 'Delete plugin…').click();
    const remove = dialog(page).getByRole('button', { name: 'Delete plugin' });
    await beginsAt(page, 'confirmation', 'Delete plugin', 'Type the name to enable “Delete plugin”.');
    await dialog(page).getByLabel(/^Type/).fill('brief');
    assert.deepEqual(await faultsInBothColours(page), []);
    await remove.click();
    await page.getByRole('heading', { name: 'Publish a plugin' }).waitFor();
    assert.equal(await bound(globex, 'brief'), undefined);
    await ada.visitor.open(guestPath('brief'));
    await page.getByRole('heading', { name: 'No such plugin' }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await owner.open(teamPath('brief'));
    await owner.page.getByRole('heading', { name: 'Plugin not found' }).waitFor();
  });

  it('is used by keyboard alone', async () => {
    await publish('keys', 2);
    const { page } = ada.visitor;
    await open(ada.visitor, guestPath('keys'));
    await button(page, 'Yank version 2').focus();
    await page.keyboard.press('Enter');
    await dialog(page).waitFor();
    await dialog(page).getByLabel('Reason').focus();
    await page.keyboard.type('By keyboard.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await entry(page, 2).getByText('By keyboard.').waitFor();
    // The button that was pressed is gone; the focus is where one can go on from.
    await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  });

  it('shows long histories in parts', async () => {
    const guests = await workshop.call<{ objects: Guest[] }>('GET', `/api/v1/apps/${workshop.app.id}/guests`);
    const only = guests.objects.find(({ guestKey }) => guestKey === globex)?.id;
    for (let at = 1; at <= 22; at++) {
      await ada.publish(workshop.point.id, 'often', greetThatSays(`often ${at}`), at === 22 ? `?guest=${only}` : '');
    }
    const { page } = owner;
    await open(owner, teamPath('often'));
    assert.equal(await page.locator('.history-entry').count(), 20);
    await page.getByText(`only for ${globex}`).waitFor();
    await page.getByText(`active for ${initech}`).waitFor();
    await button(page, 'Older versions').click();
    await page.getByRole('heading', { name: 'Version 1', exact: true }).waitFor();
    assert.equal(await page.locator('.history-entry').count(), 22);
  });

  it('asks the server what changes: says that it waits, why it failed, and for many guests how many get what', async () => {
    for (let at = 1; at <= 10; at++) {
      const code = new URL(await workshop.invite(`customers/many ${at}`)).searchParams.get('code');
      await ada.call('POST', '/api/v1/invitations/accept', { code });
    }
    await publish('many', 2);
    const { page } = owner;
    const answers: string[] = [];
    let mayAnswer = Promise.withResolvers<boolean>();
    await page.route(/dryRun=true/, async (route) => {
      answers.push(route.request().method());
      await ((await mayAnswer.promise) ? route.continue() : route.abort());
    });
    await open(owner, teamPath('many'));
    await button(page, 'Roll back to version 1').click();
    await dialog(page).getByText('Loading…').waitFor({ state: 'attached' });
    assert.deepEqual(await faultsInBothColours(page), []);
    mayAnswer.resolve(false);
    await dialog(page).getByRole('button', { name: 'Try again' }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    mayAnswer = Promise.withResolvers();
    mayAnswer.resolve(true);
    await dialog(page).getByRole('button', { name: 'Try again' }).click();
    await dialog(page)
      .getByRole('listitem')
      .filter({ hasText: /12 guests.*version 2 →.*version 1/ })
      .waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.keyboard.press('Escape');
    await button(page, `Pin for ${initech}`).click();
    await dialog(page).getByLabel('Version').selectOption('1');
    await dialog(page)
      .getByRole('listitem')
      .filter({ hasText: /customers\/initech.*version 2/ })
      .waitFor();
    await dialog(page).getByRole('button', { name: 'Pin version 1' }).click();
    await gone(page);
    await button(page, 'Roll back to version 1').click();
    await dialog(page).getByText('11 guests').waitFor();
    await dialog(page).getByText('No change for 1 other guest.').waitFor();
    await page.keyboard.press('Escape');
    await page.unroute(/dryRun=true/);
    assert.deepEqual(new Set(answers), new Set(['POST', 'PUT']));
    assert.equal(await bound(globex, 'many'), 2);
  });
});
