import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { App, ExtensionPoint } from '@tenon/protocol';
import { until } from '../../../test/helpers/until.ts';
import { quiet } from './helpers/quiet.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, openWorkshop, type Workshop } from './helpers/workshop.ts';

describe('two people who edit the same', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let path: string;
  let pointPath: string;
  before(async () => {
    stage = await openStage();
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    path = `/apps/${workshop.app.id}/extension-points/${workshop.point.id}`;
    pointPath = `/api/v1/extension-points/${workshop.point.id}`;
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    owner = await stage.visitor();
    await owner.open('/');
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const present = () => workshop.call<ExtensionPoint>('GET', pointPath);
  const question = () => owner.page.getByRole('dialog', { name: 'This was changed meanwhile' });

  it('of an extension point lose nothing: the second sees what the first has changed', async () => {
    const { page } = owner;
    await owner.open(`${path}/edit`);
    await page.getByText('Valid schema.').waitFor();
    // The other tab renames it; this one changes the schema alone.
    await workshop.call('PUT', pointPath, { name: 'Cell functions' });
    await page.getByRole('textbox', { name: 'Schema' }).click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText('exports: [mine]');
    await page.getByRole('region', { name: 'Preview for guests' }).getByRole('heading', { name: 'mine' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await question().waitFor();
    await question().getByText('removed: Greetings').waitFor();
    await question().getByText('added: Cell functions').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.equal((await present()).name, 'Cell functions');
    assert.deepEqual((await present()).schema, workshop.point.schema);
    await question().getByRole('button', { name: 'Keep editing' }).click();
    assert.equal(await page.getByLabel('Name').inputValue(), 'Cell functions');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Cell functions', level: 1 }).waitFor();
    assert.equal((await present()).name, 'Cell functions');
    assert.deepEqual((await present()).schema, { exports: { mine: {} } });
  });

  it('may let their own changes go', async () => {
    const { page } = owner;
    await owner.open(`${path}/edit`);
    await page.getByText('Valid schema.').waitFor();
    await workshop.call('PUT', pointPath, { name: 'Theirs', schema: 'exports: [theirs]' });
    await page.getByLabel('Name').fill('Mine');
    await page.getByRole('button', { name: 'Save' }).click();
    await question().getByText('added: Mine').waitFor();
    await question()
      .getByText(/added: .*theirs/)
      .waitFor();
    await question().getByRole('button', { name: 'Discard my changes' }).click();
    assert.equal(await page.getByLabel('Name').inputValue(), 'Theirs');
    await page.getByRole('textbox', { name: 'Schema' }).getByText('theirs').waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click(); // nothing is unsaved any more
    await page.getByRole('heading', { name: 'Theirs', level: 1 }).waitFor();
  });

  it('of its rules change what they have changed alone', async () => {
    const { page } = owner;
    await owner.open(`${path}/rules`);
    await page.getByLabel('Modules may import WASI preview 1').uncheck();
    // Another field of the same resource is no conflict of this form.
    await workshop.call('PUT', pointPath, { name: 'Renamed meanwhile' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Renamed meanwhile', level: 1 }).waitFor();
    assert.equal((await present()).limits.allowWasi, false);

    await owner.open(`${path}/rules`);
    await page.getByLabel('Modules may import WASI preview 1').check();
    await workshop.call('PUT', pointPath, { limits: { maxModuleBytes: 4096 } });
    await page.getByRole('button', { name: 'Save' }).click();
    await question().getByText('added: 4096').waitFor();
    await question().getByRole('button', { name: 'Keep editing' }).click();
    assert.equal(await page.getByLabel('Maximum module size, in bytes').inputValue(), '4096');
    await page.getByRole('button', { name: 'Save' }).click();
    const { limits } = await until(
      async () => {
        const point = await present();
        return point.limits.allowWasi && point;
      },
      { message: 'the rules were not saved' },
    );
    assert.equal(limits.maxModuleBytes, 4096);
  });

  it('of an application’s name see each other’s', async () => {
    const { page } = owner;
    const app = `/api/v1/apps/${workshop.app.id}`;
    await owner.open(`/apps/${workshop.app.id}/settings`);
    const field = page.getByLabel('Application name');
    await field.fill('Mine');
    await quiet(page);
    await workshop.call('PUT', app, { name: 'Theirs' });
    await page.getByRole('button', { name: 'Rename' }).click();
    await question().getByText('added: Theirs').waitFor();
    assert.equal((await workshop.call<App>('GET', app)).name, 'Theirs');
    await question().getByRole('button', { name: 'Keep editing' }).click();
    assert.equal(await field.inputValue(), 'Mine');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'Mine', level: 1 }).waitFor();
    assert.equal((await workshop.call<App>('GET', app)).name, 'Mine');
  });
});
