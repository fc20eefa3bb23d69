import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { BindingList, ExtensionPoint, Guest, Plugin } from '@tenon/protocol';
import type { CDPSession, Page } from 'playwright-core';
import { customSection } from '../../../test/helpers/module-bytes.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { accept, faultsInBothColours, openWorkshop, signUpThrough, type Workshop } from './helpers/workshop.ts';

const greet = readFileSync(new URL('../../server/sample/greet.wasm', import.meta.url));
const maxModuleBytes = 400_000;

/** A module of that many bytes or some more: another one, with a custom section that says nothing. */
function padded(bytes: Buffer, atLeast: number): Buffer {
  return Buffer.concat([bytes, customSection('p', Buffer.alloc(atLeast, 0x2e))]);
}

const addressOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64url');

describe('what guests see of an application', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  before(async () => {
    stage = await openStage({ settings: { TENON_LIMITS: `module-bytes=${maxModuleBytes}` } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
  });
  after(() => stage.close());

  /** A new user who holds the guest, where plugins are published. */
  async function guest(guestKey: string, name: string): Promise<Visitor> {
    const visitor = await stage.visitor();
    await signUpThrough(visitor, await workshop.invite(guestKey), name);
    await accept(visitor);
    await openPoint(visitor);
    return visitor;
  }

  async function openPoint(visitor: Visitor): Promise<void> {
    await visitor.open(`/apps/${workshop.app.id}/my-plugins/${workshop.point.id}`);
    await visitor.page.getByRole('heading', { name: 'Publish a plugin' }).waitFor();
  }

  /** Drops a file on the page as a person does. */
  async function drop({ page }: Visitor, name: string, bytes: Buffer): Promise<void> {
    const dataTransfer = await page.evaluateHandle(
      ([base64, fileName]) => {
        const transfer = new DataTransfer();
        const content = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
        transfer.items.add(new File([content], fileName, { type: 'application/wasm' }));
        return transfer;
      },
      [bytes.toString('base64'), name] as const,
    );
    const zone = page.locator('.drop-zone');
    for (const event of ['dragenter', 'dragover', 'drop']) await zone.dispatchEvent(event, { dataTransfer });
  }

  /** Has each file chooser sent here from now on: `waitForEvent()` alone turns this on without waiting until it is on. */
  function interceptFileChoosers(page: Page): void {
    page.on('filechooser', () => undefined);
  }

  /** Makes uploads take some seconds, until the session is detached. */
  async function slowDown(page: Page): Promise<CDPSession> {
    const slow = await page.context().newCDPSession(page);
    await slow.send('Network.enable');
    await slow.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 40_000,
    });
    return slow;
  }

  const publish = ({ page }: Visitor) => page.getByRole('button', { name: 'Publish', exact: true }).click();

  /** The binding list of a guest key. */
  const bound = (guestKey: string) =>
    workshop.call<BindingList>(
      'GET',
      `/api/v1/extension-points/${workshop.point.id}/bindings/${encodeURIComponent(guestKey)}`,
    );

  it('are the extension points, what they expect, and a place to drop a plugin, which the host then finds', async () => {
    const visitor = await guest('customers/globex', 'Gustav Guest');
    const { page } = visitor;
    await page.getByRole('heading', { name: 'Requirements' }).waitFor();
    await page.getByText('Greets the one whose name is the input.').waitFor();
    await page.getByText('None yet.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    await drop(visitor, 'My greetings.wasm', greet);
    await page.getByText('My greetings.wasm', { exact: true }).waitFor();
    const findings = page.getByRole('list', { name: 'Exports that the application expects' });
    assert.deepEqual(await findings.getByRole('listitem').allTextContents(), [
      '✓ greet is there',
      '✓ count_vowels is there',
    ]);
    assert.equal(await page.getByLabel('Plugin name').inputValue(), 'My-greetings');
    await page.getByText(/tenon plugin push 'My greetings.wasm'/).waitFor();
    await page.getByLabel('Plugin name').fill('greet it');
    await publish(visitor);
    await page.getByText('Use 1 to 100 letters').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByLabel('Plugin name').fill('greet');
    await page.getByText(new RegExp(`--extension-point ${workshop.point.id} \\\\\\s+--name greet`)).waitFor();
    await publish(visitor);
    await page.getByText('Version 1 of greet is published').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    const list = await bound('customers/globex');
    assert.equal(list.greet?.contentAddress, addressOf(greet));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download greet' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'greet.wasm');
    assert.deepEqual(await readFile(await download.path()), greet);

    await drop(visitor, 'greet.wasm', greet);
    await page.getByText('Publishes version 2 of greet.').waitFor();
    await publish(visitor);
    await page.getByText('No change: identical to greet version 1').waitFor();
    await drop(visitor, 'greet.wasm', padded(greet, 10));
    await publish(visitor);
    await page.getByText('Version 2 of greet is published').waitFor();

    await page.getByRole('link', { name: 'Acme Spreadsheet' }).click();
    await page.getByText('· 1 plugin').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await visitor.close();
  });

  it('takes a file that is chosen by keyboard, and sends nothing that can be no plugin', async () => {
    const visitor = await guest('customers/initech', 'Peter Gibbons');
    const { page } = visitor;
    interceptFileChoosers(page);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PUT') sent.push(request.url());
    });
    const component = Buffer.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]);
    for (const [key, bytes, words] of [
      ['Enter', Buffer.from('<!doctype html>'), /This is not a WebAssembly module/],
      ['Space', component, /This is a component/],
      ['Enter', Buffer.alloc(0), /The file is empty/],
    ] as const) {
      await page.locator('input[type=file]').focus();
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press(key)]);
      await chooser.setFiles({ name: 'plugin.wasm', mimeType: 'application/wasm', buffer: bytes });
      await page.getByRole('alert').getByText(words).waitFor();
    }
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.deepEqual(sent, []);

    // What misses the place is not opened in the page's stead.
    const isKeptOut = await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['x'], 'x.wasm'));
      return !document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    });
    assert.equal(isKeptOut, true);
    await visitor.close();
  });

  it('warns of a module that looks wrong, and has words for what the server refuses', async () => {
    const visitor = await guest('customers/umbrella', 'Alice Abernathy');
    const { page } = visitor;
    await drop(visitor, 'broken.wasm', greet.subarray(0, -20));
    await page.getByText('This module looks invalid').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await publish(visitor);
    await page.getByRole('alert').getByText('The module is not valid').waitFor();
    await page.getByText('Build it again.').waitFor();

    const colleague = await guest('customers/umbrella', 'Albert Wesker');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await drop(visitor, 'shared.wasm', greet);
    await publish(visitor);
    await page.getByText('Version 1 of shared is published').waitFor();
    await drop(colleague, 'shared.wasm', greet);
    await publish(colleague);
    await colleague.page.locator('.field-error').getByText('Choose another name').waitFor();
    assert.deepEqual(await faultsInBothColours(colleague.page), []);
    await colleague.close();
    await visitor.close();
  });

  it('refuses a file over the limit before it is uploaded, and keeps what was there', async () => {
    const visitor = await guest('customers/tyrell', 'Eldon Tyrell');
    const { page } = visitor;
    interceptFileChoosers(page);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PUT') sent.push(request.url());
    });
    await page.getByText('A core module of up to 391 KiB.').waitFor();
    await drop(visitor, 'large.wasm', padded(greet, maxModuleBytes));
    const refusal = page
      .getByRole('alert')
      .getByText(/^large\.wasm has 39\d KiB\. The server accepts modules of up to 391 KiB\./);
    await refusal.waitFor();
    assert.equal(await page.getByRole('button', { name: 'Publish', exact: true }).count(), 0);
    assert.deepEqual(await faultsInBothColours(page), []);

    await drop(visitor, 'first.wasm', greet);
    await refusal.waitFor({ state: 'detached' });
    await page.getByLabel('Note').fill('Greets people by name.');
    await drop(visitor, 'large.wasm', padded(greet, maxModuleBytes));
    await refusal.waitFor();
    await page.locator('.drop-zone').getByText('first.wasm').waitFor();
    assert.equal(await page.getByLabel('Note').inputValue(), 'Greets people by name.');

    // By keyboard, another file takes its place; a name that nobody typed goes with the file.
    await page.locator('input[type=file]').focus();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
    await chooser.setFiles({ name: 'second.wasm', mimeType: 'application/wasm', buffer: padded(greet, 20) });
    await page.locator('.drop-zone').getByText('second.wasm').waitFor();
    assert.equal(await page.getByLabel('Plugin name').inputValue(), 'second');
    assert.equal(await page.getByLabel('Note').inputValue(), 'Greets people by name.');
    assert.equal(await page.evaluate(() => document.activeElement?.matches('input[type=file]')), true);
    await page.getByLabel('Plugin name').fill('replicant');
    await drop(visitor, 'third.wasm', greet);
    await page.locator('.drop-zone').getByText('third.wasm').waitFor();
    assert.equal(await page.getByLabel('Plugin name').inputValue(), 'replicant');
    assert.deepEqual(sent, []);
    await publish(visitor);
    await page.getByText('Version 1 of replicant is published').waitFor();
    await visitor.close();
  });

  it('asks before what was typed is lost, or an upload ends: by links, back, signing out, and reloading', async () => {
    const visitor = await guest('customers/wayland', 'Peter Weyland');
    const { page } = visitor;
    const here = page.url();
    const question = page.getByRole('dialog');
    const stay = async (heading: string): Promise<void> => {
      await question.getByRole('heading', { name: heading }).waitFor();
      await question.getByRole('button', { name: 'Stay' }).click();
      await question.waitFor({ state: 'detached' });
      assert.equal(page.url(), here);
    };
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    const reload = () => page.reload({ timeout: 3_000 }).catch(() => undefined); // which does not come to pass

    // A file that was chosen can be chosen again.
    await drop(visitor, 'android.wasm', greet);
    await page.getByLabel('Note').waitFor();
    await page.getByRole('link', { name: 'Acme Spreadsheet' }).click();
    await page.getByRole('link', { name: 'Greetings' }).click();

    await drop(visitor, 'android.wasm', greet);
    await page.getByLabel('Note').fill('Version for the Nostromo');
    await page.getByRole('link', { name: 'Acme Spreadsheet' }).click();
    await stay('Leave without publishing?');
    await page.goBack();
    await stay('Leave without publishing?');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await stay('Leave without publishing?');
    await reload();
    assert.deepEqual(asked, ['beforeunload']);
    assert.equal(await page.getByLabel('Note').inputValue(), 'Version for the Nostromo');
    await page.getByLabel('Note').fill('');

    const slow = await slowDown(page);
    await drop(visitor, 'slow.wasm', padded(greet, 300_000));
    await publish(visitor);
    await page.getByRole('progressbar', { name: 'Uploaded' }).waitFor();
    await page.getByRole('link', { name: 'Acme Spreadsheet' }).click();
    await question.getByText('slow.wasm is still uploading. It won’t be published if you leave.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await stay('Stop the upload and leave?');
    await reload();
    assert.deepEqual(asked, ['beforeunload', 'beforeunload']);
    await page.getByRole('progressbar', { name: 'Uploaded' }).waitFor();
    await page.getByRole('link', { name: 'Acme Spreadsheet' }).click();
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('link', { name: 'Greetings' }).waitFor();
    assert.deepEqual(await bound('customers/wayland'), {});
    await slow.detach();

    // Nothing is asked once it is published.
    await page.getByRole('link', { name: 'Greetings' }).click();
    await drop(visitor, 'android.wasm', greet);
    await page.getByLabel('Note').fill('Version for the Nostromo');
    await publish(visitor);
    await page.getByText('Version 1 of android is published').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await visitor.close();
  });

  it('shows how much is sent, and stops when one says so', async () => {
    const visitor = await guest('customers/hooli', 'Nelson Bighetti');
    const { page } = visitor;
    const slow = await slowDown(page);
    await drop(visitor, 'slow.wasm', padded(greet, 300_000));
    await publish(visitor);
    const progress = page.getByRole('progressbar', { name: 'Uploaded' });
    await progress.waitFor();
    await page.waitForFunction(() => {
      const bar = document.querySelector('progress');
      return bar !== null && bar.value > 0 && bar.value < bar.max;
    });
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Stop' }).click();
    await progress.waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('alert').count(), 0, 'to stop is no error');
    assert.deepEqual(await bound('customers/hooli'), {});

    await slow.detach();
    await publish(visitor);
    await page.getByText('Version 1 of slow is published').waitFor();
    await visitor.close();
  });

  it('lets who holds several guests choose among them by number, without their keys', async () => {
    const visitor = await guest('customers/vandelay', 'Art Vandelay');
    const { page } = visitor;
    const { objects: all } = await workshop.call<{ objects: Guest[] }>('GET', `/api/v1/apps/${workshop.app.id}/guests`);
    const first = all.find(({ guestKey }) => guestKey === 'customers/vandelay')?.id;
    await workshop.call('PUT', `/api/v1/apps/${workshop.app.id}/guests/${first}`, { label: 'Latex imports' });
    await page.goto(await workshop.invite('customers/kramerica'));
    await accept(visitor);
    await openPoint(visitor);
    await drop(visitor, 'import.wasm', greet);
    const choice = page.getByLabel('Guest', { exact: true });
    await choice.waitFor();
    assert.match(
      (await choice.locator('option').allInnerTexts()).join('|'),
      /^all of your 2 guests\|only Latex imports\|only your guest 2$/,
    );
    await choice.selectOption({ index: 2 });
    const { objects } = await workshop.call<{ objects: Guest[] }>('GET', `/api/v1/apps/${workshop.app.id}/guests`);
    const second = objects.find(({ guestKey }) => guestKey === 'customers/kramerica')?.id ?? '';
    await page.getByText(new RegExp(`--guest ${second}`)).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await publish(visitor);
    await page.getByText('Hosts of Acme Spreadsheet now receive it under your guest 2.').waitFor();
    assert.deepEqual(Object.keys(await bound('customers/vandelay')), []);
    assert.deepEqual(Object.keys(await bound('customers/kramerica')), ['import']);
    assert.ok(!/vandelay|kramerica/.test((await page.locator('main').innerHTML()).replaceAll('Art Vandelay', '')));
    await visitor.close();
  });

  it('shows the state of a version that awaits approval, and why it was rejected', async () => {
    const { call, app } = workshop;
    const schema = { exports: ['greet', 'evaluate'] };
    const strict = await call<ExtensionPoint>('POST', `/api/v1/apps/${app.id}/extension-points`, {
      name: 'Looked at',
      schema: { exports: ['greet'] },
      requiresApproval: true,
    });
    const visitor = await guest('customers/soylent', 'Sol Roth');
    const { page } = visitor;
    await visitor.open(`/apps/${app.id}/my-plugins/${strict.id}`);
    await page.getByText('Each new version needs the approval of Acme Spreadsheet’s team').waitFor();
    await drop(visitor, 'greet.wasm', greet);
    await publish(visitor);
    await page.getByText('Version 1 of greet is awaiting approval').waitFor();
    const row = page.getByRole('row', { name: /greet/ });
    await row.getByText('not active · newest v1 awaiting approval', { exact: true }).waitFor();
    await row.getByText('Version 1 awaits approval').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    const { objects } = await call<{ objects: Plugin[] }>('GET', `/api/v1/extension-points/${strict.id}/plugins`);
    const path = `/api/v1/artifacts/${objects[0]?.id}/versions/1/reject`;
    await call('POST', path, { reason: 'It says <b>hello</b> too often.' });
    await page.reload();
    await row.getByText('“It says <b>hello</b> too often.”').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    await call('PUT', `/api/v1/extension-points/${strict.id}`, { schema });
    await page.reload();
    await drop(visitor, 'other.wasm', greet);
    await page.getByText('evaluate is missing').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await publish(visitor);
    await page.getByRole('alert').getByText('The module does not fit the extension point', { exact: true }).waitFor();
    await page.getByRole('alert').getByText('does not export the function "evaluate"').waitFor();
    await visitor.close();
  });

  it('are other words for members without a guest, and for what is not there', async () => {
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    const owner = await stage.visitor();
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/my-plugins`);
    await owner.signIn(email, password);
    await page.getByRole('heading', { name: 'You are not a guest here' }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.goto(await workshop.invite('customers/us'));
    await accept(owner);
    await page.getByRole('link', { name: 'Go to Acme Spreadsheet' }).click();
    await page.getByRole('link', { name: 'Greetings' }).waitFor();
    await page.getByRole('link', { name: 'My plugins' }).waitFor(); // beside the parts of the team
    await page.getByText('no plugins yet').first().waitFor(); // though others have published
    assert.deepEqual(await faultsInBothColours(page), []);
    for (const path of ['/apps/app_none/my-plugins', `/apps/${workshop.app.id}/my-plugins/ext_none`]) {
      await owner.open(path);
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    }
    assert.deepEqual(await faultsInBothColours(page), []);
    await owner.close();
  });
});
