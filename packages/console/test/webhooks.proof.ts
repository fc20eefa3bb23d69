import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { axeFaults, noBrowser, openStage, type Stage } from './helpers/stage.ts';
import { openWorkshop, type Workshop } from './helpers/workshop.ts';

describe('the pages of webhooks', { skip: noBrowser }, () => {
  let receiver: Server;
  let origin: string;
  let status = 200;
  const received: { body: string; headers: Record<string, string> }[] = [];
  let stage: Stage;
  let workshop: Workshop;

  before(async () => {
    receiver = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      received.push({ body, headers: request.headers as Record<string, string> });
      response.writeHead(status).end('said <b>the receiver</b>');
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    stage = await openStage({ settings: { TENON_WEBHOOK_ORIGINS: origin } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
  });
  after(async () => {
    await stage.close();
    receiver.closeAllConnections();
    receiver.close();
  });

  it('create one, show its secret once, test it, replay, rotate, disable, and delete', async () => {
    const owner = await stage.visitor();
    const { page } = owner;
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.signIn(email, password);
    const look = async (name: string): Promise<void> => {
      const folder = process.env.SCREENSHOTS;
      if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
      assert.deepEqual(await axeFaults(page), []);
    };
    await owner.open(`/apps/${workshop.app.id}/settings`);
    await page.getByRole('link', { name: 'Manage webhooks' }).click();
    await page.getByText('No webhooks').waitFor();
    assert.deepEqual(await axeFaults(page), []);
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('URL').fill('https://127.0.0.1/');
    await page.getByLabel('Description').fill('Chat of the team');
    await page.getByLabel('Send all events').uncheck();
    await page.getByText('Choose at least one event.').waitFor();
    await page.getByLabel('plugin.publish').check();
    assert.deepEqual(await axeFaults(page), []);
    await look('webhook-dialog');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByText(/must be an https URL with a public address/).waitFor();
    await page.getByLabel('URL').fill(`${origin}/hook`);
    await page.keyboard.press('Enter');
    await page.getByText('Copy the secret now').waitFor();
    assert.deepEqual(await axeFaults(page), []);
    const secret = await page.getByText(/^whsec_/).innerText();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Close without copying' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Chat of the team' });
    await row.getByText('enabled').waitFor();
    assert.deepEqual(await axeFaults(page), []);
    await look('webhooks');

    await row.getByRole('link').click();
    await page.getByText('No deliveries').waitFor();
    await page.getByRole('button', { name: 'Send test' }).click();
    const test = page.getByRole('row').filter({ hasText: 'webhook.test' });
    await test.getByText('delivered').waitFor();
    await test.getByText(/^200, \d+ ms/).waitFor();
    const [first] = received;
    assert.ok(first);
    new Webhook(secret).verify(first.body, first.headers);
    assert.ok(!(await page.content()).includes('whsec_'));
    await test.getByText('Response').click();
    await test.getByText('said <b>the receiver</b>').waitFor();
    assert.deepEqual(await axeFaults(page), []);
    await look('webhook');

    await test.getByRole('button', { name: /^Replay/ }).click();
    await test.getByText('delivered').waitFor();
    while (received.length < 2) await page.waitForTimeout(100);
    assert.equal(received[1]?.headers['webhook-id'], first.headers['webhook-id']);

    await page.getByRole('button', { name: 'Rotate secret…' }).click();
    await page.getByRole('button', { name: 'Rotate secret', exact: true }).click();
    const rotated = await page.getByText(/^whsec_/).innerText();
    assert.notEqual(rotated, secret);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Close without copying' }).click();
    await page.getByText('the last signs until').waitFor();

    status = 410;
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText(/^410, \d+ ms/).waitFor();
    await page.reload();
    await page.getByText('The server disabled this webhook').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Send test' }).isDisabled());
    assert.deepEqual(await axeFaults(page), []);
    status = 200;
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('button', { name: 'Disable' }).waitFor();
    await page.getByRole('button', { name: 'Replay failed of 7 days' }).click();
    await page.getByText('1 delivery queued again.').waitFor();

    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByLabel('Description').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: new URL(origin).host }).waitFor();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByText('No webhooks').waitFor();
    assert.deepEqual(owner.faults, []);
  });
});
