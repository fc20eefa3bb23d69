import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BindingList, Version } from '@tenon/protocol';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, joinTeam, openWorkshop, type Workshop } from './helpers/workshop.ts';

describe('versions that wait for the team', { skip: noBrowser }, () => {
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

  const approvals = () => `/apps/${workshop.app.id}/approvals`;
  const bound = async () =>
    Object.keys(
      await workshop.call<BindingList>(
        'GET',
        `/api/v1/extension-points/${workshop.point.id}/bindings/customers%2Fglobex`,
      ),
    );

  it('are none before a rule says so, which one sets on the page of rules', async () => {
    const { page } = owner;
    await owner.open(approvals());
    await page.getByRole('heading', { name: 'Nothing to review' }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await owner.open(`/apps/${workshop.app.id}/extension-points/${workshop.point.id}`);
    await page.getByText('Hosts get a new version as soon as it is published.').waitFor();
    await page.getByRole('link', { name: 'Edit rules' }).click();
    await page.getByLabel('New versions need the team’s approval').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The team approves each new version before hosts get it.').waitFor();
    assert.deepEqual(await bound(), ['median'], 'what is published stays so');
  });

  it('are shown to their publisher as waiting, with the next step', async () => {
    const { page } = ada.visitor;
    await ada.visitor.open(`/apps/${workshop.app.id}/my-plugins/${workshop.point.id}`);
    await page.locator('input[type=file]').setInputFiles({
      name: 'median.wasm',
      mimeType: 'application/wasm',
      buffer: greetThatSays('2'),
    });
    await page.getByLabel('Semantic version').fill('1.2');
    await page.getByLabel('Note').fill('Faster <b>by half</b>');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('Three numbers, as in 1.4.0').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByLabel('Semantic version').fill('1.2.0');
    await page.getByText(/--semver 1\.2\.0\s+\\\s+--note 'Faster <b>by half<\/b>'/).waitFor();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('Version 2 of median is awaiting approval').waitFor();
    await page.getByText('You’ll see the decision').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('link', { name: 'plugin page' }).click();
    await page.getByText('Version 2 awaits the team’s approval').waitFor();
    await page.getByText('Faster <b>by half</b>').waitFor();
    assert.equal(await page.getByRole('button', { name: /Approve|Reject/ }).count(), 0);
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('are counted on the tab, and approved or rejected with a reason', async () => {
    await ada.publish(workshop.point.id, 'mode', greetThatSays('m'));
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}`);
    await page.getByRole('link', { name: 'Approvals 2 awaiting approval' }).click();
    await page.getByText('Faster <b>by half</b>').waitFor();
    assert.deepEqual(await page.locator('.approval h3').allInnerTexts(), [
      'median version 2 · 1.2.0 no provenance',
      'mode version 1 no provenance',
    ]);
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.setViewportSize({ width: 360, height: 740 });
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.setViewportSize({ width: 1280, height: 720 });

    await page.getByText(', under customers/globex.').first().waitFor();
    await page.getByText('What differs in version 2 of median').click();
    await page.getByText('Compared with version 1.').waitFor();
    await page.getByText('Compared with version 1. The modules').waitFor({ state: 'hidden' });
    assert.match(
      await page
        .locator('.version-diff-part')
        .allInnerTexts()
        .then((texts) => texts.join('\n')),
      /Functions/,
    );
    await page.getByText('What differs in version 1 of mode').click();
    await page.getByText('No other version is bound.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.setViewportSize({ width: 320, height: 740 });
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.setViewportSize({ width: 1280, height: 720 });

    await page.getByRole('link', { name: 'Open in Trace: version 2 of median' }).click();
    await page.getByText('median-2.wasm').waitFor();
    await page.getByRole('heading', { name: 'Functions' }).first().waitFor();
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    await page.getByRole('button', { name: 'Another module' }).click();
    await page.waitForURL(/\/trace$/);
    await owner.open(`/trace?content=${'A'.repeat(43)}&name=a%1bb`);
    await page.getByText('Couldn’t open the module').waitFor();
    await owner.open(approvals());

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Reject version 1 of mode' }).click();
    await dialog.getByLabel('Reason').fill('We have one already.');
    await dialog.getByRole('button', { name: 'Reject version' }).click();
    await page.getByText('mode version 1 rejected.').waitFor();
    await page.getByRole('link', { name: 'Approvals 1 awaiting approval' }).waitFor();
    await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
    await page.getByRole('button', { name: 'Approve version 2 of median' }).click();
    await dialog.getByRole('heading', { name: 'Approve median version 2?' }).waitFor();
    await dialog.getByText('version 1 →').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await dialog.getByRole('button', { name: 'Approve version' }).click();
    await page.getByRole('heading', { name: 'Nothing to review' }).waitFor();
    await page.getByRole('link', { name: 'Approvals', exact: true }).waitFor();

    const path = `/api/v1/artifacts/${workshop.point.id}/plugin/${ada.userId}`;
    const stateOf = async (name: string, number: number) =>
      (await ada.call<Version>('GET', `${path}/${name}/versions/${number}`)).state;
    assert.deepEqual([await stateOf('median', 2), await stateOf('mode', 1)], ['published', 'rejected']);
    const { page: theirs } = ada.visitor;
    await ada.visitor.open(`/apps/${workshop.app.id}/my-plugins/${workshop.point.id}/mode`);
    await theirs.getByText('Version 1: rejected by the team').waitFor();
    await theirs.getByText('We have one already.').first().waitFor();
    assert.deepEqual(await faultsInBothColours(theirs), []);
  });

  it('are decided on the plugin’s own page as well', async () => {
    await ada.publish(workshop.point.id, 'range', greetThatSays('r'));
    const { page } = owner;
    await owner.open(approvals());
    await page.getByRole('link', { name: 'range', exact: true }).click();
    await page.getByText('Version 1 awaits your approval').waitFor();
    await page.getByRole('button', { name: 'Approve version 1…' }).click();
    await page.getByRole('dialog').getByText('nothing →').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve version' }).click();
    await page.getByText('Approved by the team').waitFor();
    assert.deepEqual((await bound()).sort(), ['median', 'range']);
  });

  it('are only to be looked at by a viewer', async () => {
    await ada.publish(workshop.point.id, 'sum', greetThatSays('s'));
    const vera = await openPublisher(stage, workshop, 'customers/viewer', 'Vera Viewer');
    await joinTeam(workshop, vera, 'viewer');
    const { page } = vera.visitor;
    await vera.visitor.open(approvals());
    await page.getByRole('button', { name: 'Download version 1 of sum' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /Approve|Reject/ }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Audit trail' }).count(), 0);
    await page.getByRole('link', { name: 'sum', exact: true }).click();
    await page.getByText('Version 1 awaits approval').waitFor();
    await page.getByText('Only owners and admins can approve it.').waitFor();
    assert.equal(await page.getByText('You don’t need to do anything').count(), 0);
    await vera.visitor.close();
  });

  it('have a notice apart from the one of a block', async () => {
    const path = `/api/v1/artifacts/${workshop.point.id}/plugin/${ada.userId}/sum/block`;
    await workshop.call('PUT', path, { reason: 'Under review.' });
    const { page } = owner;
    await owner.open(approvals());
    await page.getByRole('link', { name: 'sum', exact: true }).click();
    const notice = (title: string) => page.locator('.notice').filter({ hasText: title });
    await notice('Version 1 awaits your approval').getByRole('button', { name: 'Approve version 1…' }).waitFor();
    const blocked = notice('The team has blocked this plugin');
    await blocked.getByText('Under review.').waitFor();
    assert.equal(await blocked.getByRole('button', { name: 'Approve' }).count(), 0);
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Approve version 1…' }).click();
    await page.getByText('Hosts get nothing while the plugin is blocked.').waitFor();
    await page.keyboard.press('Escape');
    await blocked.getByRole('button', { name: 'Unblock plugin…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unblock plugin' }).click();
    await page.getByRole('button', { name: 'Block plugin…' }).waitFor();
    await notice('Version 1 awaits your approval').waitFor();
    await blocked.waitFor({ state: 'detached' });
  });

  it('appear when the reader returns to the tab, and stay while the server cannot be reached', async () => {
    const { page } = owner;
    const returnToTab = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await owner.open(approvals());
    await page.getByRole('button', { name: 'Approve version 1 of sum' }).waitFor();
    await ada.publish(workshop.point.id, 'variance', greetThatSays('v'));
    await returnToTab();
    await page.getByRole('button', { name: 'Approve version 1 of variance' }).waitFor();
    await page.getByRole('link', { name: 'Approvals 2 awaiting approval' }).waitFor();

    await owner.open(`/apps/${workshop.app.id}/guests`);
    await page.getByRole('link', { name: 'Approvals 2 awaiting approval' }).waitFor();
    await ada.publish(workshop.point.id, 'total', greetThatSays('t'));
    await returnToTab();
    await page.getByRole('link', { name: 'Approvals 3 awaiting approval' }).waitFor();

    let failed = 0;
    await page.route('**/api/v1/apps/**', (route) => {
      failed += 1;
      return route.fulfill({ status: 503, body: '' });
    });
    await returnToTab();
    while (failed < 3) await new Promise((resolve) => setTimeout(resolve, 50));
    await page.unroute('**/api/v1/apps/**');
    await page.getByRole('link', { name: 'Approvals 3 awaiting approval' }).waitFor();
    await page.getByRole('link', { name: 'customers/globex' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });
});
