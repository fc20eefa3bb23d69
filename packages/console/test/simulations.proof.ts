import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { ListPage, Simulation } from '@tenon/protocol';
import { wat } from '../../../test/helpers/wat.ts';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, joinTeam, openWorkshop, type Workshop } from './helpers/workshop.ts';

const module = (text: string) => Buffer.from(wat(text));
const testModule = module(`(module
  (import "xtp:test/harness" "call" (func (param i64 i64) (result i64)))
  (func (export "test") (result i32) (i32.const 0)))`);
const mockHost = module(`(module (func (export "sendNotice") (param i64) (result i64) (local.get 0)))`);
const notATest = module('(module (func (export "run")))');

describe('simulations', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let gustav: Publisher;
  let pointPath: string;
  before(async () => {
    stage = await openStage();
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    pointPath = `/apps/${workshop.app.id}/extension-points/${workshop.point.id}`;
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    owner = await stage.visitor({ acceptDownloads: true });
    await owner.open('/');
    await owner.signIn(email, password);
    gustav = await openPublisher(stage, workshop, 'customers/globex', 'Gustav');
  });
  after(() => stage.close());

  const section = () =>
    owner.page.locator('section', { has: owner.page.getByRole('heading', { name: 'Simulations' }) });
  const editor = () => owner.page.getByRole('textbox', { name: 'Fixtures' });
  const stored = async (): Promise<readonly Simulation[]> => {
    const path = `/api/v1/extension-points/${workshop.point.id}/simulations`;
    return (await workshop.call<ListPage<Simulation>>('GET', path)).objects;
  };

  /** Replaces what is in the editor, as a person does. */
  async function write(text: string): Promise<void> {
    await editor().click();
    await owner.page.keyboard.press('ControlOrMeta+A');
    await owner.page.keyboard.insertText(text);
  }

  /** Gives a file to a field, as if the user had chosen it. */
  const give = (label: string, name: string, buffer: Buffer) =>
    owner.page
      .getByRole('group', { name: label })
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'application/wasm', buffer });

  it('are written as fixtures, in an editor that says what is wrong where', async () => {
    const { page } = owner;
    await owner.open(pointPath);
    await section().getByText('No simulations.').waitFor();
    await section().getByRole('link', { name: 'New simulation' }).click();
    await editor().getByText('"greet accepts an example"').waitFor();
    await page.getByText('Valid fixtures.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    await page.getByLabel('Name').fill('-basics');
    await page.getByText('Name must begin with a letter or digit').waitFor();
    await page.getByLabel('Name').fill('basics');
    await write('[\n  { "export": "gret", "expect": { "equals": "Hello, Ada!" } }\n]');
    await page.getByText('did you mean "greet"?').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Create simulation' }).isDisabled());
    assert.ok(await page.getByRole('button', { name: 'Try against active versions' }).isDisabled());
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Line 2, column 15' }).click(); // the cursor stands before the name
    await page.keyboard.press('Delete');
    await page.keyboard.type('"');
    await page.getByText('Line 2').waitFor();

    // What is completed is the name of an export.
    await write('[{ "input": "Ada", "expect": { "equals": "Hello, Ada!" }, "export": "g');
    await page.locator('[role="option"]', { hasText: '"greet"' }).click();
    await page.keyboard.type(' }]');
    await page.getByText('Valid fixtures.').waitFor();
    await page.getByRole('button', { name: 'Create simulation' }).click();
    await page.getByText('Simulation created.').waitFor();
    await section().getByRole('link', { name: 'basics' }).waitFor();
    await section().getByText('1 fixture').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    const [simulation] = await stored();
    assert.deepEqual(simulation?.fixtures, [{ input: 'Ada', expect: { equals: 'Hello, Ada!' }, export: 'greet' }]);
  });

  it('have a name that is free, and show what the server refuses', async () => {
    const { page } = owner;
    await owner.open(`${pointPath}/new-simulation`);
    await editor().waitFor();
    await page.getByLabel('Name').fill('basics');
    await page.getByText('is the name of another simulation').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Create simulation' }).isDisabled());
    await page.getByLabel('Name').fill('refused');
    await write('[{ "export": "greet", "inputBase64": "not Base64", "expect": { "matchesSchema": true } }]');
    await page.getByText('Valid fixtures.').waitFor();
    await page.getByRole('button', { name: 'Create simulation' }).click();
    await page.locator('.field-error', { hasText: 'base64' }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('are changed, and another change meanwhile is not overwritten', async () => {
    const { page } = owner;
    await owner.open(`${pointPath}/simulations/basics`);
    await editor().getByText('Hello, Ada!').waitFor();
    const apiPath = `/api/v1/extension-points/${workshop.point.id}/simulations/basics`;
    await workshop.call('PUT', apiPath, { fixtures: [{ export: 'greet', expect: { fails: true } }] });
    await write('[{ "export": "greet", "expect": { "equals": "mine" } }]');
    await page.getByText('Valid fixtures.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('has changed').waitFor();
    assert.deepEqual((await stored())[0]?.fixtures, [{ export: 'greet', expect: { fails: true } }]);
    await owner.open(`${pointPath}/simulations/basics`);
    await write('[{ "export": "greet", "expect": { "equals": "mine" } }]');
    await page.getByText('Valid fixtures.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    assert.deepEqual((await stored())[0]?.fixtures, [{ export: 'greet', expect: { equals: 'mine' } }]);
  });

  it('are uploaded as modules, which are checked first', async () => {
    const { page } = owner;
    await owner.open(`${pointPath}/new-simulation`);
    await page.getByLabel('Name').fill('host-calls');
    await page.getByLabel('Test module').check();
    await give('Test module', 'notes.wasm', Buffer.from('hello'));
    await page.getByText('This is not a WebAssembly module').waitFor();
    await give('Test module', 'run.wasm', notATest);
    await page.getByText('run.wasm has no export').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Create simulation' }).isDisabled());
    assert.deepEqual(await faultsInBothColours(page), []);
    await give('Test module', 'test.wasm', testModule);
    await page.getByText('test.wasm', { exact: true }).waitFor();
    await give('Mock host', 'host.wasm', mockHost);
    await page.getByText('host.wasm', { exact: true }).waitFor();
    await page.getByLabel('Mock input', { exact: false }).first().fill('grüße');
    await page.getByRole('button', { name: 'Create simulation' }).click();
    await section().getByText('mock host, mock input').waitFor();
    const [, simulation] = await stored();
    assert.equal(simulation?.testModule?.size, testModule.length);
    assert.equal(simulation.mockInputBase64, Buffer.from('grüße').toString('base64'));

    // The modules stay when only the mock input changes.
    await section().getByRole('link', { name: 'host-calls' }).click();
    await page.getByText('Stored module').first().waitFor();
    await page.getByRole('button', { name: 'Remove: Mock host' }).click();
    await page.getByLabel('Mock input', { exact: false }).first().fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const [, changed] = await stored();
    assert.deepEqual(
      [changed?.testModule, changed?.mockHost, changed?.mockInputBase64],
      [simulation.testModule, null, null],
    );
  });

  it('are read and downloaded by guests and viewers, who change nothing', async () => {
    const { page } = gustav.visitor;
    await gustav.visitor.open(`/apps/${workshop.app.id}/my-plugins/${workshop.point.id}`);
    await page.getByRole('heading', { name: 'Simulations' }).waitFor();
    await page.getByText(`tenon plugin test plugin.wasm --extension-point ${workshop.point.id}`).waitFor();
    assert.equal(await page.getByRole('link', { name: 'New simulation' }).count(), 0);
    assert.deepEqual(await faultsInBothColours(page), []);
    const download = async (label: string) => {
      const waiting = page.waitForEvent('download');
      await page.getByRole('button', { name: label }).click();
      return readFile(await (await waiting).path());
    };
    assert.deepEqual(JSON.parse(String(await download('Download the fixtures of basics'))), [
      { export: 'greet', expect: { equals: 'mine' } },
    ]);
    assert.deepEqual(await download('Download the test module of host-calls'), testModule);

    await joinTeam(workshop, gustav, 'viewer');
    await gustav.visitor.open(`${pointPath}/simulations/basics`);
    await page.getByText('"equals": "mine"').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
    assert.deepEqual(await faultsInBothColours(page), []);
    await gustav.visitor.open(`${pointPath}/new-simulation`);
    await page.getByText('Only owners and admins').waitFor();
  });

  it('have results whose texts stay texts, and whose long lists are cut', async () => {
    const { page } = gustav.visitor;
    const hostile = '<img src=x onerror="document.title=1">\u202egnp';
    const fixtures = Array.from({ length: 300 }, (_, at) => ({
      name: `${at} ${hostile}`,
      export: 'greet',
      input: hostile,
      expect: { equals: `${hostile}\nnever` },
    }));
    const path = `/api/v1/extension-points/${workshop.point.id}/simulations`;
    await workshop.call('PUT', `${path}/hostile`, { fixtures });
    await gustav.publish(workshop.point.id, 'greeter', greetThatSays('nothing that is expected'));
    await gustav.visitor.open(`/apps/${workshop.app.id}/my-plugins/${workshop.point.id}/greeter`);
    const report = page.getByRole('article', { name: 'Simulation hostile' });
    await report.getByText('\\u{202e}gnp').first().waitFor();
    assert.equal(await report.locator('img').count(), 0);
    assert.equal(await report.locator('.sim-assertion').count(), 20);
    await report.getByRole('button', { name: 'Show 20 more' }).click();
    assert.equal(await report.locator('.sim-assertion').count(), 40);
    await report.getByText(/calls of the plugin$/).click();
    await report.getByText('Input', { exact: true }).first().waitFor();
    await page.setViewportSize({ width: 320, height: 700 });
    assert.deepEqual(await faultsInBothColours(page), []);
    const scrolled = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(scrolled <= 320, `${scrolled} wide`);
    await page.setViewportSize({ width: 1280, height: 800 });
    await workshop.call('DELETE', `${path}/hostile`);
  });

  it('are deleted', async () => {
    const { page } = owner;
    await owner.open(`${pointPath}/simulations/basics`);
    await page.getByRole('button', { name: 'Delete simulation…' }).click();
    await page.getByRole('button', { name: 'Delete simulation', exact: true }).click();
    await section().getByRole('link', { name: 'host-calls' }).waitFor();
    assert.equal((await stored()).length, 1);
    await owner.open(`${pointPath}/simulations/basics`);
    await page.getByRole('heading', { name: 'Simulation not found' }).waitFor();
    await owner.open(`/apps/${workshop.app.id}/audit`);
    await page.getByText('deleted the simulation basics of').first().waitFor();
  });
});
