import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Plugin } from '@tenon/protocol';
import { openPublisher, type Publisher } from '../../packages/console/test/helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { faultsInBothColours, openWorkshop, type Workshop } from '../../packages/console/test/helpers/workshop.ts';
import { until } from '../helpers/until.ts';
import { wat } from '../helpers/wat.ts';

/** A plugin whose `greet` returns a text. */
function greeter(text: string): Buffer {
  const length = Buffer.byteLength(text);
  return Buffer.from(
    wat(`(module
      (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
      (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
      (import "extism:host/env" "output_set" (func $output (param i64 i64)))
      (memory (export "memory") 1)
      (data (i32.const 0) ${JSON.stringify(text)})
      (func (export "greet") (result i32) (local $at i32) (local $block i64)
        (local.set $block (call $alloc (i64.const ${length})))
        (loop $next
          (call $store
            (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))
            (i32.load8_u (local.get $at)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $next (i32.lt_u (local.get $at) (i32.const ${length}))))
        (call $output (local.get $block) (i64.const ${length}))
        (i32.const 0))
      (func (export "count_vowels") (result i32) (i32.const 0)))`),
  );
}

const [first, bad, fixed] = [greeter('Hi there.'), greeter('Hey, Ada.'), greeter('Hello, Ada!')];

const fixtures = `[
  { "name": "greets politely", "export": "greet", "input": "Ada", "expect": { "equals": "Hello, Ada!" } }
]`;

describe('a team that tests plugins before hosts get them', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let gustav: Publisher;
  before(async () => {
    stage = await openStage();
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    owner = await stage.visitor();
    await owner.open('/');
    await owner.signIn(email, password);
    gustav = await openPublisher(stage, workshop, 'customers/globex', 'Gustav');
    await gustav.publish(workshop.point.id, 'greeter', first);
  });
  after(() => stage.close());

  /** The bytes that hosts get for the guest. */
  async function bytesOfHosts(): Promise<Buffer> {
    const { TENON_TOKEN: token = '' } = stage.server.quickstart;
    const headers = { authorization: `Bearer ${token}` };
    const list = `/api/v1/extension-points/${workshop.point.id}/bindings/customers/globex`;
    const bindings = await (await fetch(stage.url + list, { headers })).json();
    const [binding] = Object.values(bindings) as { contentAddress: string }[];
    assert.ok(binding, JSON.stringify(bindings));
    const content = await fetch(`${stage.url}/api/v1/c/${binding.contentAddress}`, { headers });
    return Buffer.from(await content.arrayBuffer());
  }

  it('writes a simulation, and sees the bound plugin fail in it before saving', async () => {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/extension-points/${workshop.point.id}/new-simulation`);
    await page.getByLabel('Name').fill('politeness');
    await page.getByRole('textbox', { name: 'Fixtures' }).click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(fixtures);
    await page.getByText('Valid fixtures.').waitFor();
    await page.getByRole('button', { name: 'Try against active versions' }).click();
    await page.getByText('1 of 1 active version would not pass.').waitFor();
    await page.getByText('greets politely').first().waitFor();
    await page.getByText('Hi there.').first().waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Create simulation' }).click();
    await page.getByRole('link', { name: 'politeness' }).waitFor();
    assert.deepEqual(await bytesOfHosts(), first, 'what is bound stays');
  });

  /** Publishes a version on the guest's page. */
  async function publishOnPage(bytes: Buffer): Promise<void> {
    const { page } = gustav.visitor;
    await gustav.visitor.open(`/apps/${workshop.app.id}/my-plugins/${workshop.point.id}`);
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'greeter.wasm', mimeType: 'application/wasm', buffer: bytes });
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
  }

  /** Waits for the result of a publish. The page shows it unless the simulations of a busy server take longer than the publish waits. */
  async function published(number: number, outcome: string): Promise<void> {
    const text = new RegExp(`Version ${number} of greeter (${outcome}|is being tested)`);
    await gustav.visitor.page.getByText(text).waitFor();
    const path = `/api/v1/artifacts/${workshop.point.id}/plugin/${gustav.userId}/greeter`;
    const isTested = async () => {
      const { version } = await gustav.call<Plugin>('GET', path);
      return version.number === number && version.verdict !== null;
    };
    await until(isTested, { message: 'the version is not tested', timeoutMs: 60_000 });
  }

  it('holds a bad version back, and shows its publisher why', async () => {
    const { page } = gustav.visitor;
    await publishOnPage(bad);
    await published(2, 'failed its simulations');
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('link', { name: 'plugin page' }).click();
    await page.getByText('Hosts don’t get this version').waitFor();
    const report = page.getByRole('article', { name: 'Simulation politeness' });
    await report.getByText('Hey, Ada.').first().waitFor();
    await page.getByText(`tenon plugin test plugin.wasm --extension-point ${workshop.point.id}`).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.deepEqual(await bytesOfHosts(), first);

    // The team sees it where it approves versions.
    await owner.open(`/apps/${workshop.app.id}/approvals`);
    await owner.page.getByRole('link', { name: '1 plugin whose newest version failed' }).click();
    await owner.page.getByRole('link', { name: 'greeter' }).waitFor();
    await owner.open(`/apps/${workshop.app.id}/audit`);
    await owner.page
      .getByText(/tested version 2 of.*simulations failed/)
      .first()
      .waitFor();
  });

  it('gives hosts the fixed version', async () => {
    const { page } = gustav.visitor;
    await publishOnPage(fixed);
    await published(3, 'is published');
    assert.deepEqual(await bytesOfHosts(), fixed);
    await page.getByRole('link', { name: 'plugin page' }).click();
    await page.getByText('simulations passed').first().waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    const plugin = await gustav.call<Plugin>(
      'GET',
      `/api/v1/artifacts/${workshop.point.id}/plugin/${gustav.userId}/greeter`,
    );
    assert.deepEqual([plugin.version.number, plugin.version.verdict], [3, 'passed']);
  });

  it('runs the simulations of a version again', async () => {
    const { page } = gustav.visitor;
    await gustav.visitor.open(`/apps/${workshop.app.id}/my-plugins/${workshop.point.id}/greeter`);
    await page.getByText('Simulations of version 2').click();
    const answer = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url().endsWith('/versions/2/simulation-runs'),
    );
    await page.getByRole('button', { name: 'Run again: simulations of version 2' }).click();
    assert.equal((await answer).status(), 200);
    await page.getByText('greets politely').first().waitFor();
    assert.deepEqual(await bytesOfHosts(), fixed);
  });

  it('compares a version with the active one before the team approves it', async () => {
    const { page } = owner;
    const pointPath = `/api/v1/extension-points/${workshop.point.id}`;
    await workshop.call('PUT', `${pointPath}/simulations/politeness`, {
      fixtures: [{ name: 'greets', export: 'greet', input: 'Ada', expect: { matchesSchema: true } }],
    });
    await workshop.call('PUT', pointPath, { requiresApproval: true });
    await publishOnPage(greeter('Good day, Ada!'));
    await published(4, 'is awaiting approval');
    await owner.open(`/apps/${workshop.app.id}/approvals`);
    await page.getByText('simulations passed').waitFor();
    await page.getByText('How it behaves').click();
    await page.getByText('1 call of version 4 differs from version 3.').waitFor();
    await page.getByText('Hello, Ada!').waitFor();
    await page.getByText('Good day, Ada!').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
  });
});
