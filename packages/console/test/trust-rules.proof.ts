import assert from 'node:assert/strict';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { axeFaults, noBrowser, openStage, type Stage } from './helpers/stage.ts';
import { accept, openWorkshop, signUpThrough, type Workshop } from './helpers/workshop.ts';

describe('trusted publishing on the page of tokens', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  before(async () => {
    stage = await openStage();
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
  });
  after(() => stage.close());

  it('creates and deletes a rule, and a token for one plugin and a network', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await signUpThrough(visitor, await workshop.invite('acme/north'), 'Gerda');
    await accept(visitor);
    await visitor.open('/account/tokens');
    await page.getByRole('button', { name: 'New rule' }).click();
    const point = { label: `${workshop.app.name}: ${workshop.point.name}` };
    await page.getByLabel('Plugin’s extension point').selectOption(point);
    await page.getByLabel('Plugin', { exact: true }).fill('median');
    await page.getByLabel('Repository').fill('octo/median');
    assert.deepEqual(await axeFaults(page), []);
    await page.getByRole('button', { name: 'Create rule' }).click();
    const row = page.getByRole('row').filter({ hasText: 'repository=octo/median' });
    await row.waitFor();
    await row.getByRole('button', { name: /Delete/ }).click();
    await page.getByRole('button', { name: 'Delete rule' }).click();
    await page.getByText('No rules').waitFor();

    await page.getByRole('button', { name: 'New rule' }).click();
    await page.getByLabel('Plugin’s extension point').selectOption(point);
    await page.getByLabel('Plugin', { exact: true }).fill('median');
    await page.getByLabel('CI service').selectOption({ label: 'another OpenID Connect issuer' });
    await page.getByLabel('Issuer').fill('https://ci.example.org');
    await page.getByLabel('Subject').fill('job:*');
    await page.getByRole('button', { name: 'Create rule' }).click();
    await page.getByText(/must pin a repository or project/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('button', { name: 'New access token' }).click();
    await page.getByLabel('Name', { exact: true }).fill('build');
    await page.getByLabel('Plugin’s extension point').selectOption(point);
    await page.getByLabel('Plugin', { exact: true }).fill('median');
    await page.getByLabel('Networks').fill('192.0.2.0/24, 2001:db8::/32');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Close without copying' }).click();
    await page
      .getByRole('row')
      .filter({ hasText: /only the plugin median.*only from 192\.0\.2\.0\/24, 2001:db8::\/32/ })
      .waitFor();
    assert.deepEqual(visitor.faults, []);
  });

  it('shows rules to the team, which deletes them, and makes rules for a guest', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await signUpThrough(visitor, await workshop.invite('acme/south'), 'Gustav');
    await accept(visitor);
    await visitor.open('/account/tokens');
    await page.getByRole('button', { name: 'New rule' }).click();
    await page
      .getByLabel('Jobs publish')
      .selectOption({ label: `all plugins under your guest of ${workshop.app.name}` });
    assert.equal(await page.getByLabel('Plugin’s extension point').count(), 0);
    await page.getByLabel('Repository').fill('octo/everything');
    await page.getByRole('button', { name: 'Create rule' }).click();
    await page
      .getByRole('row')
      .filter({ hasText: /all plugins under gst_.*repository=octo\/everything/ })
      .waitFor();

    const owner = await stage.visitor();
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.signIn(email, password);
    await owner.open(`/apps/${workshop.app.id}/settings`);
    await owner.page.getByRole('link', { name: 'View rules' }).click();
    const row = owner.page.getByRole('row').filter({ hasText: /a guest.*Gustav.*repository=octo\/everything/ });
    await row.waitFor();
    assert.equal(await owner.page.getByRole('button', { name: 'New rule of yours' }).count(), 0);
    assert.deepEqual(await axeFaults(owner.page), []);
    if (process.env.SCREENSHOTS) await owner.page.screenshot({ path: `${process.env.SCREENSHOTS}/team-rules.png` });
    await row.getByRole('button', { name: /Delete/ }).click();
    await owner.page.getByRole('button', { name: 'Delete rule' }).click();
    await owner.page.getByText('No rules').waitFor();
    await visitor.open('/account/tokens');
    await page.getByText('No rules').waitFor();
    assert.deepEqual([...visitor.faults, ...owner.faults], []);
  });
});
