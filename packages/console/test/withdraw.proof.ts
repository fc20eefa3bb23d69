import assert from 'node:assert/strict';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, openWorkshop, type Workshop } from './helpers/workshop.ts';

describe('what the team holds back and withdraws', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let ada: Publisher;
  before(async () => {
    stage = await openStage({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    ada = await openPublisher(stage, workshop, 'customers/globex', 'Ada Lovelace');
    const bob = await openPublisher(stage, workshop, 'customers/initech', 'Bob');
    await bob.publish(workshop.point.id, 'median', greetThatSays('0'));
    await ada.publish(workshop.point.id, 'rnedian', greetThatSays('1'));
    owner = await stage.visitor();
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const look = async (name: string): Promise<void> => {
    const folder = process.env.SCREENSHOTS;
    if (folder !== undefined) await owner.page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
    assert.deepEqual(await faultsInBothColours(owner.page), []);
  };
  const pointPath = () => `/apps/${workshop.app.id}/extension-points/${workshop.point.id}`;
  const pluginPath = () => `${pointPath()}/plugins/${ada.userId}/rnedian`;

  it('is a minimum age in the rules, and a version that the team releases early', async () => {
    const { page } = owner;
    await owner.open(pointPath());
    await page.getByRole('link', { name: 'Edit rules' }).click();
    const hours = page.getByLabel('Minimum age of new versions, in hours');
    await hours.fill('2161');
    await page.getByText('Enter hours from 0 to 2,160').waitFor();
    await hours.fill('24');
    await look('rules');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Minimum age: hosts get a new version 1 day after its publish.').waitFor();
    await ada.publish(workshop.point.id, 'rnedian', greetThatSays('2'));
    await owner.open(pluginPath());
    await page.getByText('Version 2 waits for its minimum age').waitFor();
    await page.getByText('The name is similar to that of another publisher’s plugin').waitFor();
    await look('cooling');
    await page.getByRole('button', { name: 'Release version 2 now…' }).click();
    await page.getByLabel('Reason').fill('It fixes the totals.');
    await look('release');
    await page.getByRole('button', { name: 'Release version', exact: true }).click();
    await page.getByText('rnedian version 2 released.').waitFor();
  });

  it('is a publisher, whom the team blocks and unblocks', async () => {
    const { page } = owner;
    await owner.open(pluginPath());
    await page.getByRole('button', { name: 'Block publisher…' }).click();
    await page.getByLabel('Reason').fill('The account was taken over.');
    await look('block');
    await page.getByRole('button', { name: 'Block publisher', exact: true }).click();
    await page.getByText('The team has blocked all plugins of the publisher').waitFor();
    await look('blocked');
    await owner.open(`/apps/${workshop.app.id}/withdraw`);
    await page.getByRole('cell', { name: 'The account was taken over.' }).waitFor();
    await page.getByRole('button', { name: 'Unblock Ada Lovelace' }).click();
    await page.getByRole('button', { name: 'Unblock publisher' }).click();
    await page.getByText('No publisher is blocked').waitFor();
  });

  it('is everything that a publisher published, after a look at it', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/settings`);
    await page.getByRole('link', { name: 'Withdraw by credential' }).click();
    await page.getByLabel('Token, session, rule, or publisher').fill('key_1');
    await page.getByRole('button', { name: 'Show what would be withdrawn' }).click();
    await page.getByText('must be the id of a token or a session').waitFor();
    await page.getByLabel('Token, session, rule, or publisher').fill(ada.userId);
    await page.getByRole('button', { name: 'Show what would be withdrawn' }).click();
    await page.getByRole('button', { name: 'Withdraw 2 versions…' }).waitFor();
    await look('withdraw');
    await page.getByRole('button', { name: 'Withdraw 2 versions…' }).click();
    await page.getByLabel('Reason').fill('The account was taken over.');
    await page.getByRole('button', { name: 'Withdraw', exact: true }).click();
    await page.getByText('Withdrew 2 versions of 1 plugin.').waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    await look('withdraw-narrow');
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  });
});
