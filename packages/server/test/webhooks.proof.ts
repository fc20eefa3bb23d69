import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { CreatedWebhook, ServerStatus, Webhook, WebhookDelivery } from '@tenon/protocol';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { until } from '../../../test/helpers/until.ts';
import { sealAuditEvents } from '../src/audit/seal.ts';
import { setOperator } from '../src/auth/manage-users.ts';
import { loadConfig } from '../src/config/config.ts';
import { createMetrics } from '../src/ops/metrics/metrics.ts';
import { enqueueWebhooks } from '../src/webhooks/enqueue.ts';
import { purgeWebhookDeliveries } from '../src/webhooks/purge-deliveries.ts';
import { attemptDelaysMs } from '../src/webhooks/schedule.ts';
import { sendDueWebhooks, startWebhookSender } from '../src/webhooks/sender.ts';
import { signUpPerson } from './helpers/jar.ts';
import { openMailServer, sendMails, type TestMailServer } from './helpers/mail-server.ts';
import { parseScrape } from './helpers/prometheus-text.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { openReceiver, type ReceivedWebhook, sendWebhooks, type TestReceiver } from './helpers/webhook-receiver.ts';
import { makeApp, makeExtensionPoint, makeGuest, makeMember, makeWorld, ok, type World } from './helpers/world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const noOpenssl = spawnSync('openssl', ['version']).status === 0 ? false : 'needs openssl';

describe('webhooks', () => {
  let receiver: TestReceiver;
  let mails: TestMailServer;
  let service: TestService;
  let world: World;
  let path: string;

  before(async () => {
    [receiver, mails] = await Promise.all([openReceiver(), openMailServer()]);
    service = await openService({ config: { webhookOrigins: [receiver.origin], smtp: mails.at } });
    world = await makeWorld(service);
    const { owner } = world;
    world = { ...world, owner: { ...owner, token: await service.token(owner.id, { lifetimeMs: 100 * dayMs }) } };
  });
  after(() => Promise.all([service.close(), receiver.close(), mails.close()]));

  /** Each test has an application of its own, so that no delivery of another test is due. */
  beforeEach(async () => {
    const { owner, admin, viewer } = world;
    receiver.answers(undefined);
    path = `/api/v1/apps/${await makeApp(service, owner, { admin, viewer })}`;
    await sendWebhooks(service);
    receiver.received.length = 0;
  });

  /** The libraries verify the time too, so that each test begins at the present one. */
  let aheadMs = 0;
  const advance = (ms: number): void => {
    aheadMs += ms;
    service.advance(ms);
  };
  afterEach(async () => {
    await service.store.write(async (tx) => {
      for (const { id } of await tx.webhookIds('', 100)) await tx.deleteWebhook(id);
    });
    advance(-aheadMs);
  });

  const call = <T>(method: string, rest: string, json?: unknown) =>
    ok<T>(service, method, `${path}${rest}`, { token: world.owner.token, json });
  const create = (fields: object = {}) =>
    call<CreatedWebhook>('POST', '/webhooks', { url: `${receiver.origin}/hook`, ...fields });
  const rename = (name: string) => call('PUT', '', { name });
  const read = (id: string) => call<Webhook>('GET', `/webhooks/${id}`);
  const deliveries = async (id: string, query = '') =>
    (await call<{ objects: WebhookDelivery[] }>('GET', `/webhooks/${id}/deliveries${query}`)).objects;
  const only = async (id: string) => {
    const all = await deliveries(id);
    assert.equal(all.length, 1, JSON.stringify(all));
    return all[0] as WebhookDelivery;
  };
  const send = () => sendWebhooks(service);
  /** A webhook that gets changes of the application, and one change that waits. */
  const createWithChange = async (fields: object = {}) => {
    const created = await create({ actions: ['app.update'], ...fields });
    await rename(`Renamed ${created.id}`);
    return created;
  };
  const verify = (secret: string, { headers, body }: ReceivedWebhook) => {
    const standard = new StandardWebhook(secret).verify(body, { ...headers });
    new SvixWebhook(secret).verify(body, { ...headers }); // throws
    return standard as { type: string; timestamp: string; data: Record<string, unknown> };
  };

  it('sends each event of the trail once, in the form and with the signature that both libraries verify', async () => {
    const { secret } = await create();
    const id = await makeExtensionPoint(service, world.owner, path.split('/').at(-1) ?? '');
    await rename('Other name');
    assert.deepEqual(await send(), { delivered: 3, retried: 0, failed: 0 });
    assert.deepEqual(await send(), { delivered: 0, retried: 0, failed: 0 });
    const payloads = receiver.received.map((one) => verify(secret, one));
    assert.deepEqual(payloads.map(({ type }) => type).sort(), [
      'app.update',
      'extension_point.create',
      'webhook.create',
    ]);
    const trail = await call<{ objects: { id: string; at: string; details: unknown; target: { id: string } }[] }>(
      'GET',
      '/audit',
    );
    for (const { timestamp, data } of payloads) {
      const entry = trail.objects.find((one) => one.id === data.id);
      assert.equal(entry?.at, timestamp);
      assert.deepEqual(data.details, entry?.details);
    }
    assert.ok(payloads.some(({ data }) => (data.target as { id: string }).id === id));
    for (const { headers } of receiver.received) {
      assert.match(headers['webhook-id'] ?? '', /^evt_/);
      assert.equal(headers['content-type'], 'application/json');
    }
    assert.ok(!receiver.received.some(({ body }) => body.includes(secret) || body.includes(receiver.origin)));
  });

  it('sends no guest keys and no network addresses', async () => {
    await create();
    await makeGuest(service, world.owner, path.split('/').at(-1) ?? '', 'very/secret/key', world.guest);
    await send();
    const bodies = receiver.received.map(({ body }) => body).join('\n');
    assert.match(bodies, /guest\.invite/);
    assert.doesNotMatch(bodies, /secret\/key|"address"|guestKeys/);
  });

  it('fails the verification of what was changed, and with another secret', async () => {
    const { secret } = await createWithChange();
    await send();
    const [one] = receiver.received;
    assert.ok(one);
    verify(secret, one);
    assert.throws(() => verify(secret, { ...one, body: `${one.body} ` }));
    assert.throws(() => verify(`whsec_${Buffer.alloc(32).toString('base64')}`, one));
    const id = { ...one.headers, 'webhook-id': 'evt_other' };
    assert.throws(() => verify(secret, { ...one, headers: id }));
  });

  it('signs with the old and the new secret during the overlap, and then with the new one', async () => {
    const { id, secret: old } = await create({ actions: ['app.update'] });
    const rotated = await call<CreatedWebhook>('POST', `/webhooks/${id}/secrets`, { overlapHours: 1 });
    assert.notEqual(rotated.secret, old);
    assert.equal(rotated.secrets.length, 2);
    await rename('During');
    await send();
    const [during] = receiver.received;
    assert.ok(during);
    verify(old, during);
    verify(rotated.secret, during);
    advance(hourMs + 1);
    await rename('After');
    await send();
    const { headers } = receiver.received[1] ?? {};
    assert.equal(headers?.['webhook-signature']?.split(' ').length, 1);
    assert.equal((await read(id)).secrets.length, 1);
    const now = await call<CreatedWebhook>('POST', `/webhooks/${id}/secrets`, { overlapHours: 0 });
    assert.deepEqual(now.secrets.length, 1);
  });

  it('has at most five secrets, and shows each only once', async () => {
    const { id, secret } = await create();
    const shown = new Set([secret]);
    for (let count = 1; count < 5; count++) {
      shown.add((await call<CreatedWebhook>('POST', `/webhooks/${id}/secrets`, {})).secret);
    }
    assert.equal(shown.size, 5);
    const options = { token: world.owner.token, json: {} };
    const response = await service.call('POST', `${path}/webhooks/${id}/secrets`, options);
    assertProblem(response, 422, 'limit_exceeded');
    const text = JSON.stringify([
      await call('GET', '/webhooks'),
      await read(id),
      await call('GET', '/audit'),
      service.logged,
    ]);
    for (const one of shown) assert.ok(!text.includes(one.slice(6)));
  });

  it('sends only the chosen actions, and from the creation on', async () => {
    await rename('Before');
    const { id } = await create({ actions: ['app.update'] });
    await makeExtensionPoint(service, world.owner, path.split('/').at(-1) ?? '');
    await rename('Then');
    await send();
    assert.deepEqual(
      (await deliveries(id)).map(({ type }) => type),
      // The change before the creation was not sealed yet.
      ['app.update', 'app.update'].slice(0, (await deliveries(id)).length),
    );
    assert.ok(receiver.received.every(({ body }) => body.includes('"app.update"')));
  });

  it('retries on the schedule of the specification, with the same id, and then fails', async () => {
    receiver.answers(500);
    const { id } = await createWithChange();
    for (const [index, delayMs] of attemptDelaysMs.entries()) {
      if (index > 0) {
        advance(delayMs - 10_000); // at least one attempt is made after ten seconds
        if (delayMs > 10_000) assert.deepEqual(await send(), { delivered: 0, retried: 0, failed: 0 }, `early ${index}`);
        advance(10_000 + delayMs * 0.1 + 1);
      }
      const outcome = index === attemptDelaysMs.length - 1 ? { retried: 0, failed: 1 } : { retried: 1, failed: 0 };
      assert.deepEqual(await send(), { delivered: 0, ...outcome }, String(index));
    }
    assert.equal(receiver.received.length, 10);
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1);
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-timestamp'])).size, 10);
    const { state, attempts, status, error, response, nextAttemptAt } = await only(id);
    assert.deepEqual([state, attempts, status, error, response], ['failed', 10, 500, 'status', 'text']);
    assert.equal(nextAttemptAt, null);
    assert.notEqual((await read(id)).failingSince, null);
  });

  it('succeeds later after a failure, and is healthy again', async () => {
    receiver.answers(500);
    const { id } = await createWithChange();
    await send();
    receiver.answers(undefined);
    advance(5_600);
    assert.deepEqual(await send(), { delivered: 1, retried: 0, failed: 0 });
    assert.equal((await read(id)).failingSince, null);
    const { state, attempts, status, error } = await only(id);
    assert.deepEqual([state, attempts, status, error], ['delivered', 2, 204, null]);
  });

  it('follows no redirect', async () => {
    const other = await openReceiver();
    receiver.answers((response) => void response.writeHead(302, { location: `${other.origin}/` }).end());
    const { id } = await createWithChange();
    assert.equal((await send()).retried, 1);
    const { error, status } = await only(id);
    assert.deepEqual([error, status, other.received.length], ['redirect', 302, 0]);
    await other.close();
  });

  it('disables a webhook whose receiver is gone, with a notice and an event', async () => {
    receiver.answers(410);
    const person = await signUpPerson(service);
    await service.store.write((tx) =>
      tx.putMailPreferences({ userId: person.id, verifiedEmail: person.email, muted: [] }),
    );
    const appId = path.split('/').at(-1) ?? '';
    await makeMember(service, world.owner, appId, 'owner', { token: await person.jar.token() });
    const { id } = await createWithChange();
    assert.equal((await send()).failed, 1);
    assert.equal((await read(id)).state, 'gone');
    await sendMails(service, mails);
    const mail = mails.mails.findLast(({ recipient }) => recipient === person.email);
    assert.match(mail?.subject ?? '', /^A webhook of Renamed .* was disabled$/);
    assert.match(mail?.text ?? '', new RegExp(`/apps/${appId}/webhooks/${id}`));
    await rename('Unsent');
    receiver.received.length = 0;
    await send();
    assert.equal(receiver.received.length, 0);
    const { objects } = await call<{ objects: { action: string }[] }>('GET', '/audit?action=webhook.disable');
    assert.equal(objects.length, 1);
    const refused = await service.call('POST', `${path}/webhooks/${id}/test`, { token: world.owner.token });
    assertProblem(refused, 409, 'conflict');
    receiver.answers(undefined);
    assert.equal((await call<Webhook>('PUT', `/webhooks/${id}`, { isEnabled: true })).state, 'enabled');
    await rename('Sent again');
    await send();
    assert.ok(receiver.received.length >= 1);
  });

  it('disables a webhook that fails for days, and fails what is pending', async () => {
    receiver.answers(500);
    const { id } = await createWithChange();
    await send();
    advance(5 * dayMs);
    await rename('Much later');
    await send();
    assert.equal((await read(id)).state, 'failing');
    advance(3 * dayMs);
    await send();
    for (const { state } of await deliveries(id)) assert.equal(state, 'failed');
  });

  for (const status of [429, 502, 504]) {
    it(`pauses after ${status} as long as retry-after says, for all deliveries`, async () => {
      receiver.answers((response) => void response.writeHead(status, { 'retry-after': '120' }).end());
      const { id } = await createWithChange();
      await send();
      receiver.answers(undefined);
      await rename('Another');
      advance(100_000);
      assert.deepEqual(await send(), { delivered: 0, retried: 0, failed: 0 });
      advance(21_000);
      assert.equal((await send()).delivered, 2);
      assert.ok((await deliveries(id)).every(({ state }) => state === 'delivered'));
    });
  }

  it('ends an attempt after the time-out, and one whose connection is closed', async () => {
    receiver.answers(() => {});
    const { id } = await createWithChange();
    assert.equal((await sendWebhooks(service, { timeoutMs: 100 })).retried, 1);
    assert.equal((await only(id)).error, 'timeout');
    receiver.answers((response) => void response.socket?.destroy());
    advance(6000);
    assert.equal((await send()).retried, 1);
    assert.equal((await only(id)).error, 'unreachable');
  });

  it('reads only the beginning of a response, and none that does not end', async () => {
    receiver.answers((response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'.repeat(100_000)), 1);
      response.once('close', () => clearInterval(timer));
    });
    const { id } = await createWithChange();
    assert.equal((await send()).delivered, 1);
    assert.equal((await only(id)).response, 'x'.repeat(1000));
    receiver.answers((response) => void response.writeHead(200).write('begin\0\u001b[31m'));
    await rename('Endless');
    assert.equal((await send()).delivered, 1);
    assert.equal((await deliveries(id))[0]?.response, 'begin[31m');
  });

  it('does not let a slow receiver hold up others', async () => {
    const slow = await create({ url: `${receiver.origin}/slow`, actions: ['app.update'] });
    const fast = await create({ url: `${receiver.origin}/fast`, actions: ['app.update'] });
    const held: (() => void)[] = [];
    receiver.answers((response, { path: at }) => {
      if (at === '/slow') held.push(() => response.writeHead(204).end());
      else response.writeHead(204).end();
    });
    for (let index = 0; index < 20; index++) await rename(`Name ${index}`);
    const { deps, log } = service.services;
    await sealAuditEvents(deps);
    const settings = { ...deps.settings, webhookPollMs: 20 };
    const sender = startWebhookSender({ deps: { ...deps, settings }, log });
    await until(async () => (await deliveries(fast.id)).filter(({ state }) => state === 'delivered').length === 20);
    assert.equal(held.length, 4, 'at once to one webhook');
    assert.equal((await deliveries(slow.id, '?state=delivered')).length, 0);
    const released = setInterval(() => {
      for (const release of held.splice(0)) release();
    }, 5);
    await until(async () => (await deliveries(slow.id, '?state=delivered')).length === 20);
    clearInterval(released);
    assert.equal(sender.counts.delivered, 40);
    await sender.stop();
  });

  it('does not let the slow receivers of one application hold up another', async () => {
    const held: (() => void)[] = [];
    receiver.answers((response, { path: at }) => {
      if (at === '/slow') held.push(() => response.writeHead(204).end());
      else response.writeHead(204).end();
    });
    for (let index = 0; index < 20; index++) await create({ url: `${receiver.origin}/slow`, actions: ['app.update'] });
    for (let index = 0; index < 20; index++) await rename(`Name ${index}`);
    path = `/api/v1/apps/${await makeApp(service, world.owner)}`;
    const fast = await create({ url: `${receiver.origin}/fast`, actions: ['app.update'] });
    await rename('Other');
    const { deps, log } = service.services;
    await sealAuditEvents(deps);
    const settings = { ...deps.settings, webhookPollMs: 20 };
    const sender = startWebhookSender({ deps: { ...deps, settings }, log });
    await until(async () => (await deliveries(fast.id, '?state=delivered')).length === 1);
    await until(() => held.length >= 16);
    assert.equal(held.length, 16, 'at once for one application');
    for (const release of held) release();
    await sender.stop();
  });

  it('delivers for an account while another one, with many applications, holds all the slots that it gets', async () => {
    const held: (() => void)[] = [];
    let isHolding = true;
    const order: string[] = [];
    receiver.answers((response, { path: at }) => {
      order.push(at);
      if (at === '/hangs' && isHolding) held.push(() => response.writeHead(204).end());
      else response.writeHead(204).end();
    });
    const hostile = await service.user('Hostile');
    const paths: string[] = [];
    for (let index = 0; index < 12; index++) paths.push(`/api/v1/apps/${await makeApp(service, hostile)}`);
    const json = { url: `${receiver.origin}/hangs`, actions: ['app.update'] };
    for (const at of [...paths, ...paths, ...paths]) {
      await ok(service, 'POST', `${at}/webhooks`, { token: hostile.token, json });
    }
    for (const at of [...paths, ...paths]) {
      await ok(service, 'PUT', at, { token: hostile.token, json: { name: `Name ${Math.random()}` } });
    }
    const good = await create({ url: `${receiver.origin}/good`, actions: ['app.update'] });
    await rename('First');
    const { deps, log } = service.services;
    await sealAuditEvents(deps);
    const settings = { ...deps.settings, webhookPollMs: 20, webhookLeaseMs: hourMs };
    const sender = startWebhookSender({ deps: { ...deps, settings }, log, timeoutMs: hourMs });
    const delivered = async () => (await deliveries(good.id, '?state=delivered')).length;
    try {
      await until(async () => (await delivered()) === 1);
      await until(() => held.length === 32);
      for (let count = 2; count <= 10; count++) {
        await rename(`Number ${count}`);
        await sealAuditEvents(deps);
        await until(async () => (await delivered()) === count);
      }
      assert.equal(held.length, 32, 'half of the slots, and no more of them when others are delivered');
      assert.ok(order.indexOf('/good') <= 32, 'before those that were due earlier, beyond the share');
    } finally {
      isHolding = false;
      for (const release of held) release();
    }
    await until(() => sender.counts.delivered === 12 * 3 * 2 + 10);
    await sender.stop();
  });

  it('queues what two hundred changes send to twenty webhooks', async () => {
    for (let index = 0; index < 20; index++) await create({ actions: ['app.update'] });
    for (let index = 0; index < 200; index++) await rename(`Name ${index}`);
    const { deps } = service.services;
    await sealAuditEvents(deps);
    while (await enqueueWebhooks(deps));
    assert.equal((await service.store.read.webhookQueue()).pending, 4000);
  });

  it('verifies the certificate of a receiver', { skip: noOpenssl }, async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'tenon-receiver-'));
    test.after(() => rmSync(folder, { recursive: true }));
    const options =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout key -out cert';
    assert.equal(spawnSync('openssl', options.split(' '), { cwd: folder }).status, 0);
    let requests = 0;
    const secure = createServer(
      { key: readFileSync(join(folder, 'key')), cert: readFileSync(join(folder, 'cert')) },
      (_request, response) => {
        requests++;
        response.writeHead(204).end();
      },
    ).listen(0, '127.0.0.1');
    await once(secure, 'listening');
    test.after(() => secure.close());
    const url = `https://hooks.example.org:${(secure.address() as AddressInfo).port}/`;
    const { id } = await createWithChange({ url });
    const { deps, log } = service.services;
    const lookup = ((_name: string, _options: object, found: (error: null, all: LookupAddress[]) => void) =>
      found(null, [{ address: '127.0.0.1', family: 4 }])) as never;
    const settings = { ...deps.settings, webhookOrigins: [new URL(url).origin] };
    await sealAuditEvents(deps);
    assert.equal((await sendDueWebhooks({ deps: { ...deps, settings }, log, lookup })).retried, 1);
    assert.deepEqual([(await only(id)).error, requests], ['unreachable', 0]);
  });

  it('gives a new URL the time that a failing webhook has', async () => {
    receiver.answers(500);
    const { id } = await createWithChange();
    await send();
    assert.notEqual((await read(id)).failingSince, null);
    const moved = await call<Webhook>('PUT', `/webhooks/${id}`, { url: `${receiver.origin}/moved` });
    assert.equal(moved.failingSince, null);
    advance(5 * dayMs);
    await rename('After the move');
    await send();
    assert.equal((await read(id)).state, 'enabled');
  });

  it('moves the metrics and the status by what it delivered, retries, and gave up', async () => {
    const { deps, log } = service.services;
    const operator = await service.user('Operator');
    await setOperator(deps, 'operator', operator.id, true);
    const token = await service.token(operator.id, { lifetimeMs: dayMs });
    const status = async () => (await ok<ServerStatus>(service, 'GET', '/api/v1/status', { token })).webhooks;
    const failedBefore = (await status()).failed;
    const settings = { ...deps.settings, webhookPollMs: 20 };
    const sender = startWebhookSender({ deps: { ...deps, settings }, log });
    const metrics = createMetrics(loadConfig({}, {}), 'list');
    metrics.watchWebhooks(sender);
    const read = () => {
      const { samples } = parseScrape(metrics.registry.text());
      const attempts = (outcome: string) => samples.get(`tenon_webhook_deliveries_total{outcome="${outcome}"}`);
      return {
        attempts: ['delivered', 'retried', 'failed'].map(attempts),
        queued: samples.get('tenon_webhook_deliveries_queued'),
        ageSeconds: samples.get('tenon_webhook_queue_age_seconds') ?? -1,
      };
    };
    const reads = async (attempts: readonly number[], queued: number) => {
      await sealAuditEvents(deps);
      await until(() => isDeepStrictEqual([read().attempts, read().queued], [attempts, queued]));
    };
    try {
      await reads([0, 0, 0], 0);
      assert.equal(read().ageSeconds, 0);

      const good = await createWithChange();
      await reads([1, 0, 0], 0);
      assert.deepEqual(await status(), { pending: 0, oldestPendingAt: null, failed: failedBefore });

      receiver.answers((response) => void response.writeHead(429, { 'retry-after': '3600' }).end());
      await rename('Fails at first');
      await reads([1, 1, 0], 1);
      const [failing] = await deliveries(good.id, '?state=pending');
      assert.deepEqual(await status(), { pending: 1, oldestPendingAt: failing?.createdAt, failed: failedBefore });

      receiver.answers(undefined);
      advance(hourMs + minuteMs);
      await reads([2, 1, 0], 0);

      receiver.answers(410);
      await rename('Gone');
      await reads([2, 1, 1], 0);
      assert.deepEqual(await status(), { pending: 0, oldestPendingAt: null, failed: failedBefore + 1 });
    } finally {
      await sender.stop();
      metrics.close();
    }
  });

  it('tests a webhook whatever its filter', async () => {
    const { id, secret } = await create({ actions: ['version.yank'] });
    const other = await create();
    await send();
    receiver.received.length = 0;
    const queued = await call<WebhookDelivery>('POST', `/webhooks/${id}/test`);
    assert.equal(queued.state, 'pending');
    await send();
    const tests = receiver.received.filter(({ body }) => body.includes('"webhook.test"'));
    assert.equal(tests.length, 1, 'and no other webhook');
    const [one] = tests;
    assert.ok(one);
    assert.equal(verify(secret, one).type, 'webhook.test');
    assert.equal((await only(id)).state, 'delivered');
    assert.ok((await deliveries(other.id)).every(({ type }) => type !== 'webhook.test'));
  });

  it('replays one delivery, and all failed ones since a time, with the same id', async () => {
    const { id } = await createWithChange();
    await send();
    const first = await only(id);
    const again = `/webhooks/${id}/deliveries/${first.id}/replay`;
    assert.equal((await call<WebhookDelivery>('POST', again)).state, 'pending');
    assertProblem(await service.call('POST', `${path}${again}`, { token: world.owner.token }), 409, 'conflict');
    await send();
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.deepEqual(ids, [first.eventId, first.eventId]);
    const other = await createWithChange();
    const foreign = `${path}/webhooks/${other.id}/deliveries/${first.id}/replay`;
    assertProblem(await service.call('POST', foreign, { token: world.owner.token }), 404, 'not_found');
    await service.store.write((tx) =>
      tx.setWebhookDelivery({ id: first.id as never, attempts: 1 }, { state: 'failed' }),
    );
    receiver.answers(500);
    await rename('Fails');
    await send();
    const failing = (await deliveries(id)).find(({ state }) => state === 'pending');
    await service.store.write((tx) =>
      tx.setWebhookDelivery({ id: failing?.id as never, attempts: 1 }, { state: 'failed' }),
    );
    receiver.answers(undefined);
    const later = { since: new Date(service.services.deps.clock() + hourMs).toISOString() };
    assert.deepEqual(await call('POST', `/webhooks/${id}/replay`, later), { replayed: 0, hasMore: false });
    const since = { since: failing?.createdAt };
    assert.deepEqual(await call('POST', `/webhooks/${id}/replay`, since), { replayed: 1, hasMore: false });
    await send();
    assert.equal((await deliveries(id, '?state=failed')).length, 0);
  });

  it('sends nothing that was due days ago, as after a restored backup', async () => {
    const { id } = await createWithChange();
    await sealAuditEvents(service.services.deps);
    receiver.answers(500);
    await send();
    receiver.received.length = 0;
    advance(3 * dayMs + hourMs);
    assert.equal((await send()).failed, 1);
    const { state, error, attempts } = await only(id);
    assert.deepEqual([state, error, attempts, receiver.received.length], ['failed', 'expired', 1, 0]);
  });

  it('refuses URLs that are not allowed', async () => {
    for (const url of [
      'http://hooks.example.org/',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://169.254.169.254/latest',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://localhost/',
      'https://a.localhost./',
      'https://user:password@hooks.example.org/',
      'https://hooks.example.org/#fragment',
      'ftp://hooks.example.org/',
      'file:///etc/passwd',
      'https:hooks.example.org',
      'hooks.example.org',
      '',
      `https://hooks.example.org/${'a'.repeat(2000)}`,
      receiver.origin.replace('127.0.0.1', 'localhost'),
    ]) {
      const response = await service.call('POST', `${path}/webhooks`, { token: world.owner.token, json: { url } });
      assertProblem(response, 422, 'invalid_field');
    }
    for (const json of [
      { url: 'https://hooks.example.org/', actions: ['token.create'] },
      { url: 'https://hooks.example.org/', actions: ['app.delete'] },
      { url: 'https://hooks.example.org/', actions: [] },
    ]) {
      assertProblem(
        await service.call('POST', `${path}/webhooks`, { token: world.owner.token, json }),
        422,
        'invalid_field',
      );
    }
  });

  it('connects to no address that is not public, checks at each attempt, and says no more than "unreachable"', async () => {
    const port = new URL(receiver.origin).port;
    const { id } = await createWithChange({ url: `https://hooks.example.org:${port}/` });
    let resolved: string[] = [];
    let lookups = 0;
    const lookup = ((_host: string, _options: object, callback: (error: null, found: LookupAddress[]) => void) => {
      lookups++;
      callback(
        null,
        resolved.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    }) as never;
    const tries = [
      ['127.0.0.1'],
      ['8.8.8.8', '127.0.0.1'],
      ['::ffff:127.0.0.1'],
      ['169.254.169.254'],
      ['fe80::1'],
      ['fd00::1'],
      ['100.64.0.1'],
      [],
    ];
    for (const [index, found] of tries.entries()) {
      resolved = found;
      advance((attemptDelaysMs[index] ?? 0) * 1.11);
      assert.equal((await sendWebhooks(service, { lookup, timeoutMs: 500 })).retried, 1, found.join());
      assert.equal((await only(id)).error, 'unreachable');
    }
    assert.equal(lookups, tries.length);
    assert.equal(receiver.received.length, 0);
  });

  it('keeps to its quota, and deletes a webhook with its log', async () => {
    const { owner } = world;
    await service.close();
    service = await openService({
      config: { webhookOrigins: [receiver.origin], smtp: mails.at, quotas: { all: { webhooks: 2 }, byId: {} } },
    });
    world = await makeWorld(service);
    world = {
      ...world,
      owner: { ...world.owner, token: await service.token(world.owner.id, { lifetimeMs: 100 * dayMs }) },
    };
    assert.notEqual(world.owner.id, owner.id);
    path = `/api/v1/apps/${world.appId}`;
    const { id } = await createWithChange();
    await create();
    const json = { url: `${receiver.origin}/` };
    assertProblem(
      await service.call('POST', `${path}/webhooks`, { token: world.owner.token, json }),
      403,
      'quota_exceeded',
    );
    await send();
    await call('DELETE', `/webhooks/${id}`);
    assertProblem(await service.call('GET', `${path}/webhooks/${id}`, { token: world.owner.token }), 404, 'not_found');
    assert.deepEqual(await service.store.read.webhookDeliveries(id as never, undefined, {}), []);
    assert.deepEqual(await service.store.read.webhookSecrets([id as never]), []);
    await create();
  });

  it('deletes old deliveries, and those beyond the newest', async () => {
    const { id } = await create({ actions: ['app.update'] });
    for (let index = 0; index < 5; index++) await rename(`Name ${index}`);
    await send();
    await purgeWebhookDeliveries(service.services.deps, 3);
    assert.equal((await deliveries(id)).length, 3);
    advance(29 * dayMs);
    await purgeWebhookDeliveries(service.services.deps);
    assert.equal((await deliveries(id)).length, 3);
    advance(2 * dayMs);
    await purgeWebhookDeliveries(service.services.deps);
    assert.equal((await deliveries(id)).length, 0);
  });

  it('sends nothing of a deleted application', async () => {
    const { id } = await createWithChange();
    await ok(service, 'DELETE', path, { token: world.owner.token });
    await send();
    assert.equal(receiver.received.length, 0);
    assert.equal(await service.store.read.webhook(id as never), undefined);
  });

  it('needs step-up in a browser session', async () => {
    const person = await signUpPerson(service);
    const token = await person.jar.token();
    const appId = await makeApp(service, { id: person.id, token });
    const webhooks = `/api/v1/apps/${appId}/webhooks`;
    const json = { url: `${receiver.origin}/` };
    const { id } = await ok<CreatedWebhook>(service, 'POST', webhooks, { token, json });
    advance(6 * minuteMs);
    for (const [method, at, body] of [
      ['POST', webhooks, json],
      ['PUT', `${webhooks}/${id}`, { isEnabled: false }],
      ['POST', `${webhooks}/${id}/secrets`, {}],
    ] as const) {
      assertProblem(await service.call(method, at, { token, json: body }), 403, 'step_up_required');
    }
  });
});
