import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { CreatedWebhook, WebhookDelivery } from '@tenon/protocol';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { createPluginWorld, type PluginWorld } from './helpers/plugin-world.ts';

describe('tenon webhook', () => {
  let receiver: Server;
  let origin: string;
  let status = 204;
  const received: { body: string; headers: Record<string, string> }[] = [];
  let world: PluginWorld;

  before(async () => {
    receiver = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      received.push({ body, headers: request.headers as Record<string, string> });
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    world = await createPluginWorld({ TENON_WEBHOOK_ORIGINS: origin });
  });
  after(async () => {
    await world.stop();
    receiver.closeAllConnections();
    receiver.close();
  });

  const webhook = (...args: string[]) => world.tenon(['webhook', ...args]);

  it('creates, tests, rotates, replays, updates, and deletes', async () => {
    const made = await webhook('create', `${origin}/hook`, '--action', 'app.update', '--description', 'Chat');
    assert.equal(made.exitCode, 0, made.stderr);
    const secret = made.stdout.trim();
    assert.match(secret, /^whsec_/);
    const [listed] = (await webhook('list', '--json')).json() as CreatedWebhook[];
    assert.ok(listed);
    const { id } = listed;
    assert.match((await webhook('list')).stdout, /whk_.*enabled +app\.update +Chat/);
    assert.ok(!(await webhook('show', id)).stdout.includes('whsec_'));

    const tested = await webhook('test', id);
    assert.equal(tested.exitCode, 0, tested.stderr);
    assert.match(tested.stderr, /204 after \d+ ms/);
    const [one] = received;
    assert.ok(one);
    new StandardWebhook(secret).verify(one.body, one.headers);

    status = 500;
    const failed = await webhook('test', id);
    assert.equal(failed.exitCode, 1);
    assert.match(failed.stderr, /500 after/);
    status = 204;

    const { stdout } = await webhook('rotate-secret', id, '--overlap', '1');
    assert.match(stdout, /^whsec_/);
    assert.notEqual(stdout.trim(), secret);
    assert.match((await webhook('show', id)).stdout, /signs until/);

    const log = (await webhook('deliveries', id, '--json')).json() as WebhookDelivery[];
    assert.equal(log.length, 2);
    const delivered = log.find(({ state }) => state === 'delivered');
    assert.match((await webhook('deliveries', id, '--state', 'delivered')).stdout, /webhook\.test +delivered/);
    const again = await webhook('replay', id, delivered?.id ?? '');
    assert.equal(again.exitCode, 0, again.stderr);
    assert.deepEqual((await webhook('replay', id, '--since', '1h', '--json')).json(), { replayed: 0 });
    assert.equal((await webhook('replay', id)).exitCode, 2);

    assert.match((await webhook('update', id, '--disable', '--all-actions')).stdout, /disabled\n.*actions +all/);
    assert.equal((await webhook('test', id)).exitCode, 5);
    assert.equal((await webhook('update', id)).exitCode, 2);
    assert.match((await webhook('update', id, '--enable')).stdout, /enabled/);
    assert.equal((await webhook('delete', id, '--yes')).exitCode, 0);
    assert.match((await webhook('list')).stderr, /There are no webhooks/);
  });

  it('refuses URLs and actions that are not allowed', async () => {
    const refused = await webhook('create', 'https://127.0.0.1/');
    assert.notEqual(refused.exitCode, 0);
    assert.match(refused.stderr, /TENON_WEBHOOK_ORIGINS/);
    const unknown = await webhook('create', 'https://hooks.example.org/', '--action', 'plugin.pulbish');
    assert.equal(unknown.exitCode, 2);
    assert.match(unknown.stderr, /plugin\.publish/);
  });
});
