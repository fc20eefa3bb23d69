import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ExtensionPoint } from '@tenon/protocol';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, openWorkshop, type Workshop } from './helpers/workshop.ts';

describe('what modules are held to', { skip: noBrowser }, () => {
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

  const pointPath = () => `/apps/${workshop.app.id}/extension-points/${workshop.point.id}`;
  const point = () => workshop.call<ExtensionPoint>('GET', `/api/v1/extension-points/${workshop.point.id}`);

  it('is set as limits and ticks, and what is typed is checked', async () => {
    const { page } = owner;
    await owner.open(pointPath());
    await page.getByRole('link', { name: 'Edit rules' }).click();
    const save = page.getByRole('button', { name: 'Save' });
    const size = page.getByLabel('Maximum module size, in bytes');
    await size.fill('7');
    await page.getByText('Enter at least 8, or leave the field empty.').waitFor();
    assert.ok(await save.isDisabled());
    assert.deepEqual(await faultsInBothColours(page), []);
    await size.fill('99999999999');
    await page.getByText('The server’s limit is').waitFor();
    assert.ok(await save.isDisabled());
    await size.fill('2000000');
    await page.getByText('1.91 MiB').waitFor();
    await page.getByLabel('Maximum initial memory').fill('32');
    await page.getByText('2.00 MiB').waitFor();
    await page.getByLabel('Only the selected proposals').check();
    const none = page.getByText('No proposal is selected.');
    assert.equal(await none.count(), 0);
    const checked = page.locator('.proposals input:checked');
    for (const name of await checked.evaluateAll((boxes) => boxes.map((box) => box.getAttribute('name')))) {
      await page.getByLabel(name ?? '', { exact: true }).uncheck();
    }
    await none.waitFor();
    await page.getByLabel('simd', { exact: true }).check();
    await page.getByLabel('threads').check();
    await page.getByLabel('threads').uncheck();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.setViewportSize({ width: 360, height: 740 });
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    await page.setViewportSize({ width: 1280, height: 720 });

    await page.getByRole('link', { name: 'Applications' }).first().click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay' }).click();
    await save.click();
    await page.getByText('Proposals: simd.').waitFor();
    const { limits, requiresApproval } = await point();
    assert.deepEqual(limits, {
      maxModuleBytes: 2_000_000,
      maxInitialMemoryPages: 32,
      proposals: ['simd'],
      allowWasi: true,
    });
    assert.equal(requiresApproval, false);
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('is not changed to what bound plugins would not fit before the user has read which and why', async () => {
    const { page } = owner;
    await owner.open(`${pointPath()}/rules`);
    await page.getByLabel('Maximum module size, in bytes').fill('100');
    await page.getByRole('button', { name: 'Save' }).click();
    const question = page.getByRole('dialog', { name: '1 active plugin no longer fits' });
    await question.getByText('the extension point allows at most 100').waitFor();
    await question.getByText('version 1 by Ada Lovelace').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await question.waitFor({ state: 'detached' });
    assert.equal(await page.getByLabel('Maximum module size, in bytes').inputValue(), '100');
    assert.equal(await page.getByRole('alert').count(), 0);
    assert.equal((await point()).limits.maxModuleBytes, 2_000_000);
    await page.getByRole('button', { name: 'Save' }).click();
    await question.getByRole('button', { name: 'Save anyway' }).click();
    await page.getByText('Module size: at most 100 bytes').waitFor();
    assert.equal((await point()).limits.maxModuleBytes, 100);

    // What does not fit already is no reason to ask again.
    await page.getByRole('link', { name: 'Edit rules' }).click();
    await page.getByLabel('Modules may import WASI preview 1').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('WASI: not allowed.').waitFor();
    await workshop.call('PUT', `/api/v1/extension-points/${workshop.point.id}`, {
      limits: { maxModuleBytes: null, maxInitialMemoryPages: null, proposals: null, allowWasi: true },
    });
  });

  it('can be tried before a schema is saved', async () => {
    const { page } = owner;
    await owner.open(`${pointPath()}/edit`);
    await page.getByRole('button', { name: 'Check against published plugins' }).click();
    await page.getByText('The only active version fits.').waitFor();
    await page.getByRole('textbox', { name: 'Schema' }).click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText('exports: [greet, evaluate]');
    await page.getByText('The only active version fits.').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'evaluate' }).waitFor();
    await page.getByRole('button', { name: 'Check against published plugins' }).click();
    await page.getByText('1 of 1 active version would not fit.').waitFor();
    await page.getByText('does not export the function "evaluate"').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.deepEqual((await point()).schema, workshop.point.schema);

    await page.getByRole('button', { name: 'Save' }).click();
    const question = page.getByRole('dialog', { name: '1 active plugin no longer fits' });
    await question.getByRole('button', { name: 'Save anyway' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('heading', { name: 'Greetings', level: 1, exact: true }).waitFor();
    assert.deepEqual(Object.keys((await point()).schema.exports), ['greet', 'evaluate']);
  });

  it('is shown to guests before they publish and when they are rejected, with the intended name', async () => {
    await workshop.call('PUT', `/api/v1/extension-points/${workshop.point.id}`, {
      schema: { exports: ['greet', 'count_vowel', 'evaluate', 'finish', 'begin'] },
      limits: { maxInitialMemoryPages: 0 },
    });
    const { page } = ada.visitor;
    const open = () => ada.visitor.open(`/apps/${workshop.app.id}/my-plugins/${workshop.point.id}`);
    const choose = () =>
      page.locator('input[type=file]').setInputFiles({
        name: 'mode.wasm',
        mimeType: 'application/wasm',
        buffer: greetThatSays('mode'),
      });
    await open();
    await choose();
    await page.getByText('This module doesn’t match the schema and will be refused').waitFor();
    const reported = await page.locator('.mismatches li').allInnerTexts();
    assert.equal(reported.length, 5, reported.join('\n'));
    assert.ok(reported.includes('The module does not export the function "count_vowel"; it exports "count_vowels".'));
    assert.ok(
      reported.some((line) => line.includes('allows at most 0')),
      reported.join('\n'),
    );
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const refusal = page.getByRole('alert');
    await refusal.getByText('The module does not fit the extension point').waitFor();
    assert.deepEqual(
      await refusal.getByRole('listitem').allInnerTexts(),
      reported,
      'the page checks as the server does',
    );
    assert.deepEqual(await faultsInBothColours(page), []);
  });
});
