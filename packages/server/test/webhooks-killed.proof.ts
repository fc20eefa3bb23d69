import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../test/helpers/until.ts';
import { sealAuditEvents } from '../src/audit/seal.ts';
import { startWebhookSender } from '../src/webhooks/sender.ts';
import { killServers } from './helpers/kill-servers.ts';
import { noPostgres } from './helpers/postgres.ts';
import { openService, type TestService, type TestUser } from './helpers/service.ts';
import { openTwoNodes } from './helpers/two-nodes.ts';
import { openReceiver, type TestReceiver } from './helpers/webhook-receiver.ts';
import { makeApp, ok } from './helpers/world.ts';

const events = 60;

/** Longer than a test. */
const foreverMs = 60 * 60_000;

/** An application with a webhook for its changes, which are made by `change`. */
async function makeWebhook(service: TestService, owner: TestUser, { origin }: TestReceiver) {
  const path = `/api/v1/apps/${await makeApp(service, owner)}`;
  const json = { url: `${origin}/`, actions: ['app.update'] };
  await ok(service, 'POST', `${path}/webhooks`, { token: owner.token, json });
  const change = (on: TestService, number: number) =>
    ok(on, 'PUT', path, { token: owner.token, json: { name: `Name ${number}` } });
  /** The ids of the events that are to arrive. */
  const expected = async (): Promise<string[]> => {
    const query = `${path}/audit?action=app.update&limit=1000`;
    const { objects } = await ok<{ objects: { id: string }[] }>(service, 'GET', query, owner);
    return objects.map(({ id }) => id).sort();
  };
  return { change, expected };
}

const idsOf = ({ received }: TestReceiver) => received.map(({ headers }) => headers['webhook-id'] ?? '');
const distinct = (receiver: TestReceiver) => [...new Set(idsOf(receiver))].sort();

describe('a server that is killed while it sends webhooks', () => {
  it('loses no event, and sends again only what was being sent, with the same webhook-id', async () => {
    const receiver = await openReceiver();
    const service = await openService({ config: { webhookOrigins: [receiver.origin] } });
    const owner = await service.user();
    const { change, expected } = await makeWebhook(service, owner, receiver);
    for (let number = 0; number < events; number++) await change(service, number);
    receiver.answers((response) => void setTimeout(() => response.writeHead(204).end(), 20));
    const kills = await killServers({
      dataDir: service.dataDir,
      environment: {
        TENON_WEBHOOK_ORIGINS: receiver.origin,
        SERVE_CONSTANTS: JSON.stringify({ webhookPollMs: 20, webhookLeaseMs: 2000 }),
      },
      count: () => receiver.received.length,
      isDone: () => distinct(receiver).length === events,
      step: 10,
    });
    assert.deepEqual(distinct(receiver), await expected());
    assert.ok(kills >= 3, String(kills));
    // A node makes four deliveries to one webhook at once.
    assert.ok(receiver.received.length - events <= 4 * kills, `${receiver.received.length} requests, ${kills} kills`);
    await service.close();
    await receiver.close();
  });
});

describe('two nodes that send the webhooks of one PostgreSQL', { skip: noPostgres }, () => {
  it('send each event once', async () => {
    const receiver = await openReceiver();
    const { nodes, close } = await openTwoNodes({ webhookOrigins: [receiver.origin] });
    const [here, there] = nodes;
    const owner = await here.user();
    const { change, expected } = await makeWebhook(here, owner, receiver);
    const senders = nodes.map(({ services: { deps, log } }) =>
      startWebhookSender({ deps: { ...deps, settings: { ...deps.settings, webhookPollMs: 20 } }, log }),
    );
    for (let number = 0; number < events; number++) {
      await change(number % 2 === 0 ? here : there, number);
      if (number % 10 === 9) await sealAuditEvents((number % 20 === 9 ? here : there).services.deps);
    }
    await until(() => distinct(receiver).length === events);
    await until(() => senders.reduce((sum, { counts }) => sum + counts.delivered, 0) === events);
    assert.deepEqual(idsOf(receiver).sort(), await expected());
    assert.ok(
      senders.every(({ counts }) => counts.delivered > 0),
      'both sent',
    );
    await Promise.all(senders.map((sender) => sender.stop()));
    await Promise.all([close(), receiver.close()]);
  });

  it('deliver for an account while the receivers of another one hang', async () => {
    const receiver = await openReceiver();
    const { nodes, close } = await openTwoNodes({ webhookOrigins: [receiver.origin] });
    const [here] = nodes;
    const [hostile, good] = [await here.user(), await here.user()];
    const held: (() => void)[] = [];
    const delivered = new Set<string>();
    receiver.answers((response, { path, headers }) => {
      if (path === '/hangs') held.push(() => response.writeHead(204).end());
      else {
        delivered.add(headers['webhook-id'] ?? '');
        response.writeHead(204).end();
      }
    });
    const makeWebhooks = async (owner: TestUser, apps: number, url: string) => {
      const { token } = owner;
      const paths: string[] = [];
      for (let index = 0; index < apps; index++) paths.push(`/api/v1/apps/${await makeApp(here, owner)}`);
      const json = { url: `${receiver.origin}${url}`, actions: ['app.update'] };
      for (const path of paths) await ok(here, 'POST', `${path}/webhooks`, { token, json });
      return async (name: string) => {
        for (const path of paths) await ok(here, 'PUT', path, { token, json: { name } });
        await sealAuditEvents(here.services.deps);
      };
    };
    const changeHostile = await makeWebhooks(hostile, 20, '/hangs');
    const changeGood = await makeWebhooks(good, 1, '/good');
    for (let number = 0; number < 5; number++) await changeHostile(`Name ${number}`);
    const senders = nodes.map(({ services: { deps, log } }) => {
      const settings = { ...deps.settings, webhookPollMs: 20, webhookLeaseMs: foreverMs };
      return startWebhookSender({ deps: { ...deps, settings }, log, timeoutMs: foreverMs });
    });
    // Of 80 deliveries to 20 webhooks, each node makes half as many at once as it can.
    await until(() => held.length === 2 * 32);
    for (let number = 1; number <= 10; number++) {
      await changeGood(`Name ${number}`);
      await until(() => delivered.size === number);
    }
    assert.equal(held.length, 2 * 32);
    await Promise.all(senders.map((sender) => sender.stop()));
    await Promise.all([close(), receiver.close()]);
  });
});
