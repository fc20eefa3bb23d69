import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ExtensionPoint } from '@tenon/protocol';
import type { Locator } from 'playwright-core';
import { greetThatSays } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { endSessions, faultsInBothColours, openWorkshop, signInAgain, type Workshop } from './helpers/workshop.ts';

describe('extension points', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  before(async () => {
    stage = await openStage();
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    owner = await stage.visitor();
    await owner.open('/');
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const editor = () => owner.page.getByRole('textbox', { name: 'Schema' });

  /** Replaces what is in the editor, as a person does. */
  async function write(text: string): Promise<void> {
    await editor().click();
    await owner.page.keyboard.press('ControlOrMeta+A');
    await owner.page.keyboard.insertText(text);
  }

  it('are made with an editor that says what is wrong where, and shows what guests will read', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/extension-points`);
    await page.getByRole('link', { name: 'New extension point' }).click();
    await editor().waitFor();
    const preview = page.getByRole('region', { name: 'Preview for guests' });
    await preview.getByRole('heading', { name: 'evaluate' }).waitFor();
    await page.getByText('Valid schema.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    await page.getByLabel('Name').fill('Formulas <b>&</b>');
    await write('exports:\n  total:\n    description: 123456789\n    output: {type: nummer}\n');
    await page.getByText('expected text, found a number').waitFor();
    await page.getByRole('button', { name: 'Line 4, column 20' }).click();
    assert.ok(await page.getByRole('button', { name: 'Create extension point' }).isDisabled());
    await page.locator('.cm-lint-marker-error').nth(1).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    // "Line 4, column 20" has put the cursor before the word that is wrong.
    for (let at = 0; at < 'nummer'.length; at++) await page.keyboard.press('Delete');
    await page.keyboard.type('number');
    await page.getByRole('button', { name: 'Line 4, column 20' }).waitFor({ state: 'detached' });

    await write(
      'exports:\n  total:\n    description: Adds up.\n    output: {type: number, contentType: application/json}\n',
    );
    await preview.getByRole('heading', { name: 'total' }).waitFor();
    await page.getByRole('button', { name: 'Create extension point' }).click();
    await page.getByRole('heading', { name: 'Formulas <b>&</b>', level: 1 }).waitFor();
    await page.getByText('Adds up.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const { schema } = await workshop.call<ExtensionPoint>('GET', `/api/v1/extension-points/${id}`);
    assert.deepEqual(schema.exports, {
      total: { description: 'Adds up.', output: { type: 'number', contentType: 'application/json' } },
    });
    // Going back does not lead to the form again.
    await page.goBack();
    await page.getByRole('link', { name: 'Formulas <b>&</b>' }).waitFor();
  });

  it('can be written and left by keyboard alone', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/extension-points/new`);
    await editor().waitFor();
    await page.getByLabel('Name').focus();
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Schema');
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type('x-note:');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab'); // indents
    await page.keyboard.type('by: me');
    assert.equal(await focused(), 'Schema');
    await page.getByText('by: me').first().waitFor();
    await page.getByText('Valid schema.').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'reference'); // of the schema's keys
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Create extension point');
    await page.getByText('To leave the editor by keyboard, press Escape, then Tab.').first().waitFor();

    async function focused(): Promise<string> {
      return page.evaluate(() => {
        let element = document.activeElement;
        while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
        return element?.getAttribute('aria-label') ?? element?.textContent ?? '';
      });
    }
  });

  it('are written with suggestions and descriptions, by keyboard alone', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/extension-points/new`);
    await editor().waitFor();
    await write('version: v1-draft\n');
    await page.keyboard.type('exp');
    const option = (name: string) => page.getByRole('option', { name, selected: true });
    await option('exports').waitFor();
    await page.getByText('The functions that a plugin must export, by name.').first().waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.waitForTimeout(100); // the editor ignores Enter right after the list opens
    await page.keyboard.press('Enter');
    await page.keyboard.type('run:\n');
    await page.keyboard.type('out');
    await option('output').waitFor();
    await page.waitForTimeout(100);
    await page.keyboard.press('Enter');
    await page.keyboard.type('type');
    await page.keyboard.type(': ');
    await page.getByRole('option', { name: 'buffer' }).waitFor();
    await page.keyboard.type('num');
    await option('number').waitFor();
    await page.waitForTimeout(100);
    await page.keyboard.press('Enter');
    await page.getByText('Valid schema.').waitFor();
    await page.getByText('type: The kind of the value.').waitFor();
    assert.equal(await text(), 'version: v1-draft\nexports:\n  run:\n    output:\n      type: number');
    await hoverUntilShown('exports', page.getByText('exports The functions that a plugin must export, by name.'));

    async function text(): Promise<string> {
      return (await page.locator('.cm-line').allInnerTexts()).join('\n');
    }

    /** Hovers over a word again and again: the editor shows no description while its own update is under way. */
    async function hoverUntilShown(word: string, description: Locator): Promise<void> {
      for (let tries = 0; tries < 20 && !(await description.isVisible()); tries++) {
        await page.mouse.move(0, 0);
        await page
          .locator('.cm-line', { hasText: `${word}:` })
          .getByText(word)
          .hover();
        await description.waitFor({ timeout: 3_000 }).catch(() => {});
      }
      await description.waitFor();
    }
  });

  it('begin with a template, until it is edited', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/extension-points/new`);
    await page.getByLabel('Begin with').selectOption('Events, with host functions');
    await page.getByText('onOrder').first().waitFor();
    await page.getByText('Valid schema.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByLabel('Begin with').selectOption('Text in, text out');
    await page.getByRole('region', { name: 'Preview for guests' }).getByRole('heading', { name: 'greet' }).waitFor();
    await editor().click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type('x-a: 1');
    await page.getByText('Edited', { exact: true }).waitFor({ state: 'attached' });
    assert.equal(await page.getByLabel('Begin with').isDisabled(), true);
  });

  it('are tried with a module before they are saved', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/extension-points/new`);
    const drop = (name: string, buffer: Buffer) =>
      page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/wasm', buffer });
    await drop('notes.txt', Buffer.from('hello'));
    await page.getByText('This is not a WebAssembly module').waitFor();
    await drop('greet.wasm', greetThatSays('hello'));
    await page.getByText('This module doesn’t match the schema').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByLabel('Begin with').selectOption('Text in, text out');
    await page.getByText('This module doesn’t match the schema').waitFor({ state: 'detached' });
    await page.getByText('greet.wasm').waitFor();
  });

  it('are edited as YAML, and nothing that is unsaved is lost by a slip', async () => {
    const { page } = owner;
    const path = `/apps/${workshop.app.id}/extension-points/${workshop.point.id}`;
    await owner.open(path);
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await editor().waitFor();
    await page.getByText('greet:').waitFor();
    const field = page.getByLabel('Name');
    await field.fill('Hellos');
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });

    await page.getByRole('link', { name: 'Applications' }).first().click();
    await question.waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await question.getByRole('button', { name: 'Stay' }).click();
    assert.equal(await field.inputValue(), 'Hellos');

    await page.goBack();
    await question.waitFor();
    assert.ok(page.url().endsWith('/edit'));
    await page.keyboard.press('Escape');
    assert.equal(await field.inputValue(), 'Hellos');

    // Closing and reloading are the browser's own question.
    const asked = page.waitForEvent('dialog');
    await page.evaluate(() => {
      setTimeout(() => location.reload());
    });
    const dialog = await asked;
    assert.equal(dialog.type(), 'beforeunload');
    await dialog.dismiss();
    assert.equal(await field.inputValue(), 'Hellos');

    await page.goBack();
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Greetings', level: 1 }).waitFor();
    assert.ok(page.url().endsWith(path));

    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await field.fill('Greetings, again');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Greetings, again', level: 1 }).waitFor();
    const saved = await workshop.call<ExtensionPoint>('GET', `/api/v1/extension-points/${workshop.point.id}`);
    assert.equal(saved.name, 'Greetings, again');
    assert.deepEqual(saved.schema, workshop.point.schema);
    await page.getByRole('link', { name: 'Applications' }).first().click(); // nothing to ask any more
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
  });

  it('show the earlier changes of the schema, which can be edited again', async () => {
    const { page } = owner;
    const apiPath = `/api/v1/extension-points/${workshop.point.id}`;
    const { schema } = await workshop.call<ExtensionPoint>('GET', apiPath);
    await workshop.call('PUT', apiPath, { schema: 'exports: [greet, farewell]' });
    await owner.open(`/apps/${workshop.app.id}/extension-points/${workshop.point.id}/edit`);
    await page.getByText('Earlier changes').click();
    await page.getByText('added: farewell: {}').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Edit the schema before this change' }).first().click();
    await page.locator('.cm-line', { hasText: 'farewell' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    assert.deepEqual((await workshop.call<ExtensionPoint>('GET', apiPath)).schema, schema);
  });

  it('are not lost when the session ends while they are written', async () => {
    const { page } = owner;
    const { TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.open(`/apps/${workshop.app.id}/extension-points/new`);
    await page.getByLabel('Name').fill('Long thought about');
    await write('exports: [ponder]');
    await endSessions(workshop);
    await page.getByRole('heading', { name: 'ponder' }).waitFor();
    await page.getByRole('button', { name: 'Create extension point' }).click();
    await signInAgain(owner, password); // and what was pressed goes on
    await page.getByRole('heading', { name: 'Long thought about', level: 1 }).waitFor();
    await page.getByRole('heading', { name: 'ponder' }).waitFor();
    // What is written is let go once it is saved.
    await page.getByRole('link', { name: 'Extension points' }).click();
    await page.getByRole('link', { name: 'New extension point' }).click();
    assert.equal(await page.getByLabel('Name').inputValue(), '');
    await editor().getByText('evaluate').waitFor();
  });

  it('show what the server refuses at its field', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/extension-points/new`);
    await page.getByLabel('Name').fill('   ');
    await page.getByRole('button', { name: 'Create extension point' }).click();
    const field = page.getByLabel('Name');
    await page.locator('.field-error').waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.ok(await field.evaluate((input) => input === document.activeElement));
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('are deleted once the name was typed', async () => {
    const point = await workshop.call<ExtensionPoint>('POST', `/api/v1/apps/${workshop.app.id}/extension-points`, {
      name: 'Short lived',
      schema: 'exports: [f]',
    });
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/extension-points/${point.id}`);
    await page.getByRole('button', { name: 'Delete extension point…' }).click();
    await page.getByLabel(/^Type/).fill('Short lived');
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Delete extension point', exact: true }).click();
    await page.getByRole('heading', { name: 'Extension points', level: 2 }).waitFor();
    await page.getByRole('link', { name: 'Short lived' }).waitFor({ state: 'detached' });
    await owner.open(`/apps/${workshop.app.id}/extension-points/${point.id}`);
    await page.getByRole('heading', { name: 'Extension point not found' }).waitFor();
  });
});
