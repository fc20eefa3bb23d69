import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import type { ExtensionPoint, Guest, ListPage, RollOut, Version } from '@tenon/protocol';
import type { Locator, Page } from 'playwright-core';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { axeFaults, noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, openWorkshop, type Workshop } from './helpers/workshop.ts';

const guestKeys = Array.from({ length: 10 }, (_, at) => `customers/${at}`);

describe('staged roll-outs', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let ada: Publisher;
  let ownerPassword = '';

  before(async () => {
    stage = await openStage({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    const [first = '', ...others] = guestKeys;
    ada = await openPublisher(stage, workshop, first, 'Ada Lovelace');
    for (const key of others) {
      const code = new URL(await workshop.invite(key)).searchParams.get('code');
      await ada.call('POST', '/api/v1/invitations/accept', { code });
    }
    await workshop.call('PUT', pointPath(), { requiresApproval: true });
    await publish(1);
    await workshop.call('POST', `${versionPath(1)}/approve`);
    owner = await stage.visitor();
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    ownerPassword = password;
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const pointPath = () => `/api/v1/extension-points/${workshop.point.id}`;
  const versionPath = (number: number) =>
    `/api/v1/artifacts/${workshop.point.id}/plugin/${ada.userId}/median/versions/${number}`;
  const publish = (number: number) => ada.publish(workshop.point.id, 'median', greetThatSays(`median ${number}`));
  const rollOut = (number: number) => workshop.call<RollOut>('GET', `${versionPath(number)}/roll-out`);
  const appPage = () => `/apps/${workshop.app.id}`;
  const pluginPage = () => `${appPage()}/extension-points/${workshop.point.id}/plugins/${ada.userId}/median`;
  const dialog = (page: Page) => page.getByRole('dialog');
  const press = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true }).click();
  const panel = (page: Page) => page.locator('.roll-out-panel').first();
  const steps = (page: Page) => panel(page).locator('.roll-out-steps li').allInnerTexts();

  /** Lets the last confirmation of the password be an hour ago. */
  const age = () => {
    const database = new DatabaseSync(join(stage.server.folder, 'tenon-data', 'tenon.db'));
    database.exec('update sessions set confirmedAtMs = confirmedAtMs - 3600000');
    database.exec('insert into commits (invalidated) values (null)'); // has the server forget what it knows
    database.close();
  };
  const confirmPassword = async (page: Page) => {
    const asked = page.getByRole('dialog', { name: 'Confirm your password' });
    await asked.getByLabel('Password', { exact: true }).fill(ownerPassword);
    await press(asked, 'Continue');
  };
  const isNarrow = async (page: Page) => {
    await page.setViewportSize({ width: 360, height: 740 });
    assert.deepEqual(await axeFaults(page), []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    await page.setViewportSize({ width: 1280, height: 720 });
  };

  it('are an empty list at first', async () => {
    const { page } = owner;
    await owner.open(`${appPage()}/approvals`);
    await page.getByRole('link', { name: 'Roll-outs', exact: true }).click();
    await page.getByText('No roll-outs').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('reach the ring of a guest, which its page sets', async () => {
    const { page } = owner;
    const { objects } = await workshop.call<ListPage<Guest>>('GET', `/api/v1/apps/${workshop.app.id}/guests`);
    const guest = objects.find(({ guestKey }) => guestKey === guestKeys[0]);
    await owner.open(`${appPage()}/guests/${guest?.id}`);
    await page.getByLabel('Ring').fill('a b');
    await press(page, 'Save');
    await page.getByText('Ring must').waitFor();
    await page.getByLabel('Ring').fill('staff');
    await press(page, 'Save');
    await page.locator('.facts').getByText('staff', { exact: true }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('have a default plan among the rules of an extension point', async () => {
    const { page } = owner;
    await owner.open(`${appPage()}/extension-points/${workshop.point.id}/rules`);
    await page.getByLabel('Guests in steps').check();
    const step = (number: number) => page.getByRole('group', { name: `Step ${number}` });
    await step(1).getByLabel('Guests').selectOption('Ring');
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await step(1).getByText('Enter up to 40 letters').waitFor();
    assert.ok(await save.isDisabled());
    await step(1).getByRole('textbox', { name: 'Ring' }).fill('staff');
    await step(2).getByLabel('Unit').selectOption('until promoted');
    await press(page, 'Remove step 3');
    await press(page, 'Add a step');
    assert.equal(await step(3).getByLabel('Percent').inputValue(), '20');
    await step(3).getByLabel('Percent').fill('5');
    await step(3).getByText('Enter more than 10.').waitFor();
    await step(3).getByLabel('Percent').fill('50');
    assert.deepEqual(await faultsInBothColours(page), []);
    await isNarrow(page);
    await save.click();
    await page
      .getByText('Roll-out: ring staff for 1 hour, then 10% until promoted, then 50% for 1 hour, then all guests.')
      .waitFor();
    const { rollOut: plan } = await workshop.call<ExtensionPoint>('GET', pointPath());
    assert.deepEqual(plan?.steps, [
      { ring: 'staff', holdSeconds: 3600 },
      { percent: 10, holdSeconds: null },
      { percent: 50, holdSeconds: 3600 },
    ]);
    await workshop.call('PUT', pointPath(), { rollOut: null });
  });

  it('show another member’s plan when both edit the rules', async () => {
    const { page } = owner;
    await owner.open(`${appPage()}/extension-points/${workshop.point.id}/rules`);
    await page.getByLabel('Guests in steps').check();
    const plan = { steps: [{ ring: 'staff', holdSeconds: 3600 }], halt: null };
    await workshop.call('PUT', pointPath(), { rollOut: plan });
    await press(page, 'Save');
    await dialog(page).getByRole('heading', { name: 'Roll-out' }).waitFor();
    await dialog(page).getByText('ring staff for 1 hour, then all guests').first().waitFor();
    await press(dialog(page), 'Discard my changes');
    await page.getByRole('group', { name: 'Step 1' }).getByRole('textbox', { name: 'Ring' }).waitFor();
    assert.deepEqual((await workshop.call<ExtensionPoint>('GET', pointPath())).rollOut, plan);
  });

  it('are planned at the approval', async () => {
    await publish(2);
    const { page } = owner;
    await owner.open(`${appPage()}/approvals`);
    await press(page, 'Approve version 2 of median');
    const asked = dialog(page);
    await asked.getByText('Ring staff for 1 hour, then all guests.').waitFor();
    assert.ok(await asked.getByLabel('As the extension point’s rules say').isChecked());
    await asked.getByText('customers/0').waitFor();
    await asked.getByText('No change for 9 other guests.').waitFor();
    await asked.getByLabel('All guests at once').check();
    await asked.getByText('10 guests', { exact: true }).waitFor();
    await asked.getByLabel('In other steps').check();
    await press(asked, 'Add a step');
    await asked.getByRole('group', { name: 'Step 2' }).getByLabel('Percent').fill('0');
    await asked.getByText('Correct the plan of the roll-out.').waitFor();
    assert.ok(await asked.getByRole('button', { name: 'Approve version' }).isDisabled());
    await asked.getByRole('group', { name: 'Step 2' }).getByLabel('Percent').fill('100');
    await asked.getByRole('group', { name: 'Step 2' }).getByLabel('Unit').selectOption('days');
    await asked.getByLabel('Errors').fill('2.5');
    await asked.getByLabel('Reported calls').fill('10');
    await asked.getByText('No change for 9 other guests.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await isNarrow(page);
    await press(asked, 'Approve version');
    await page.getByText('median version 2 approved.').waitFor();
    const { state, plan, reachedGuests, totalGuests } = await rollOut(2);
    assert.deepEqual([state, reachedGuests, totalGuests], ['running', 1, 10]);
    assert.deepEqual(plan, {
      steps: [
        { ring: 'staff', holdSeconds: 3600 },
        { percent: 100, holdSeconds: 86_400 },
      ],
      halt: { minCalls: 10, errorRate: 0.025, p95Ratio: null, memoryRatio: null },
    });
  });

  it('are listed, and shown on the plugin’s page with their steps', async () => {
    const { page } = owner;
    await owner.open(`${appPage()}/roll-outs`);
    await page.getByRole('row', { name: /median version 2.*rolling out.*1 of 2.*1 of 10 guests/ }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await isNarrow(page);
    await page.getByRole('link', { name: 'median version 2' }).click();
    await page.getByRole('heading', { name: 'Roll-out of version 2' }).waitFor();
    assert.deepEqual(await steps(page), ['ring staff\nfor 1 hour', '100%\nfor 1 day']);
    assert.equal(await panel(page).locator('[aria-current=step]').innerText(), 'ring staff\nfor 1 hour');
    await panel(page).getByText('1 of 10 guests have it').waitFor();
    await panel(page).getByText('The other guests keep version 1.').waitFor();
    await panel(page).getByText('Hosts have not reported calls.').waitFor();
    await page.getByRole('row', { name: /customers\/0.*version 2.*reached by the roll-out/ }).waitFor();
    await page.getByRole('row', { name: /customers\/1.*version 1.*version 2 has not reached it/ }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await isNarrow(page);
  });

  it('are paused, resumed with the password, and followed while others act', async () => {
    const { page } = owner;
    await press(panel(page), 'Pause…');
    await press(dialog(page), 'Pause');
    await panel(page).getByText('Guests keep the version that they have.').waitFor();
    assert.equal((await rollOut(2)).state, 'paused');
    age();
    await press(panel(page), 'Resume…');
    await dialog(page).getByText('No change for hosts.').waitFor();
    await press(dialog(page), 'Resume');
    await confirmPassword(page);
    await panel(page).getByText('rolling out').waitFor();
    await workshop.call('POST', `${versionPath(2)}/roll-out/pause`);
    await panel(page).getByText('paused', { exact: true }).waitFor(); // by the live updates
    await workshop.call('POST', `${versionPath(2)}/roll-out/resume`);
    await panel(page).getByText('rolling out').waitFor();
  });

  it('are not promoted twice by two tabs', async () => {
    const { page } = owner;
    await press(panel(page), 'Promote…');
    await dialog(page).getByText('The next step is 100%.').waitFor();
    await dialog(page).getByText('9 guests').waitFor();
    await workshop.call('POST', `${versionPath(2)}/roll-out/promote`, { step: 0 });
    await press(dialog(page), 'Promote');
    await dialog(page).getByText('The plugin has changed. Cancel to see its current state.').waitFor();
    assert.ok(await dialog(page).getByRole('button', { name: 'Promote', exact: true }).isDisabled());
    await press(dialog(page), 'Cancel');
    await panel(page).getByText('10 of 10 guests have it').waitFor();
    assert.deepEqual([(await rollOut(2)).state, (await rollOut(2)).step], ['running', 1]);
  });

  /** Reports calls of a version, as a host does. */
  const report = async (number: number, calls: number, failed: number) => {
    const { contentAddress } = await workshop.call<Version>('GET', versionPath(number));
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
    const attributes = [
      text('tenon.plugin.id', `${workshop.point.id}/plugin/${ada.userId}/median`),
      text('tenon.plugin.content_address', contentAddress),
    ];
    const point = (count: number, more: object[] = []) => ({
      ...{ attributes: [...attributes, ...more], startTimeUnixNano: '1', timeUnixNano: `${Date.now()}000000` },
      ...{
        count: String(count),
        sum: count / 50,
        explicitBounds: [0.01, 0.1],
        bucketCounts: ['0', String(count), '0'],
      },
    });
    const dataPoints = [point(calls - failed), ...(failed > 0 ? [point(failed, [text('error.type', 'trap')])] : [])];
    const metrics = [
      { name: 'tenon.plugin.call.duration', unit: 's', histogram: { aggregationTemporality: 1, dataPoints } },
      { name: 'tenon.plugin.memory', unit: 'By', gauge: { dataPoints: [{ attributes, asInt: String(2 ** 21) }] } },
    ];
    await workshop.call('POST', `${pointPath()}/otlp/v1/metrics`, {
      resourceMetrics: [{ scopeMetrics: [{ metrics }] }],
    });
  };

  it('are halted by reports, with charts of both versions', async () => {
    const { page } = owner;
    await report(1, 200, 1);
    await report(2, 20, 3);
    await owner.open(pluginPage());
    await panel(page).getByText('Halted by the reports of hosts').waitFor();
    await panel(page).getByText('All guests are back on version 1.').waitFor();
    await panel(page).getByText('0 of 10 guests have it').waitFor();
    const { reason } = await rollOut(2);
    await panel(page)
      .getByText(reason ?? 'no reason')
      .waitFor();
    await panel(page)
      .getByText(/Version 2: 20 calls, 3 failed \(15%\), p95 .*Version 1: 200 calls/)
      .waitFor();
    const chart = panel(page).getByRole('slider', { name: 'Time of the charts' });
    await chart.focus();
    await page.keyboard.press('Home');
    assert.match(
      (await chart.getAttribute('aria-valuetext')) ?? '',
      /^[A-Z][a-z]{2} \d+, \d\d:\d\d\. Version 2: 20 calls/,
    );
    await page.keyboard.press('Escape');
    assert.match((await chart.getAttribute('aria-valuetext')) ?? '', /^This step\./);
    for (const title of ['Failed calls, in %', 'Call time (p95), in ms', 'Memory, in MiB']) {
      await panel(page).getByRole('heading', { name: title }).waitFor();
    }
    await panel(page).getByText('Show as a table').click();
    await panel(page)
      .getByRole('row', { name: /20 calls.*200 calls/ })
      .waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await isNarrow(page);
    await owner.open(`${appPage()}/roll-outs`);
    await page.getByRole('row', { name: /median version 2.*halted/ }).waitFor();
  });

  it('show their publisher neither the plan nor rings, reports, and actions', async () => {
    const { page } = ada.visitor;
    await ada.visitor.open(`${appPage()}/my-plugins/${workshop.point.id}/median`);
    await panel(page).getByText('Halted by the reports of hosts').waitFor();
    await panel(page).getByText('step 2 of 2').waitFor();
    assert.equal(await panel(page).getByRole('button').count(), 0);
    assert.equal(await panel(page).locator('.roll-out-steps').count(), 0);
    assert.ok(!(await page.locator('main').innerText()).includes('staff'));
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('are aborted with a reason, which the history keeps', async () => {
    const { page } = owner;
    await owner.open(pluginPage());
    await press(panel(page), 'Resume…');
    await dialog(page).getByText('The guests of this step get the version again.').waitFor();
    await dialog(page).getByText('10 guests').waitFor();
    await press(dialog(page), 'Resume');
    await panel(page).getByText('10 of 10 guests have it').waitFor();
    await press(panel(page), 'Abort…');
    const abort = dialog(page).getByRole('button', { name: 'Abort roll-out' });
    assert.ok(await abort.isDisabled());
    await dialog(page).getByLabel('Reason').fill('Rounds <b>down</b>');
    await abort.click();
    const entry = page.locator('.history-entry').filter({ hasText: 'Version 2' });
    await entry.getByText('Yanked by the team').waitFor();
    await page.getByRole('heading', { name: 'Roll-out of version 2' }).waitFor({ state: 'detached' });
    await entry.locator('summary', { hasText: 'Roll-out' }).click();
    await entry.locator('.roll-out-panel').getByText('Rounds <b>down</b>').waitFor();
    assert.deepEqual(await steps(page), ['ring staff\nfor 1 hour\ndone', '100%\nfor 1 day']);
    assert.equal((await rollOut(2)).state, 'aborted');
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('begin again upon a restore, and end for all guests', async () => {
    const { page } = owner;
    await page.getByRole('button', { name: 'Restore version 2' }).click();
    assert.ok(await dialog(page).getByLabel('As it was planned before').isChecked());
    await press(dialog(page), 'Restore version');
    await page.getByRole('heading', { name: 'Roll-out of version 2' }).waitFor();
    await press(panel(page), 'Promote to all guests…');
    await press(dialog(page), 'Promote to all guests');
    await page.getByRole('heading', { name: 'Roll-out of version 2' }).waitFor({ state: 'detached' });
    assert.deepEqual([(await rollOut(2)).state, (await rollOut(2)).reachedGuests], ['completed', 10]);
    await page.getByRole('row', { name: /customers\/9.*version 2.*the newest/ }).waitFor();
  });
});
