import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import type { InvitationResults, QuotaUse } from '@tenon/protocol';
import type { Response as LightMyRequestResponse } from 'light-my-request';
import { quotaList } from '../src/config/quota-list.ts';
import type { QuotaName } from '../src/config/quotas.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { invite, largeModule, makeApp, makeExtensionPoint, makeGuest, ok, tinyModule } from './helpers/world.ts';

const api = '/api/v1';
const minuteMs = 60_000;

let service: TestService;
afterEach(() => service.close());

/** @param text as `TENON_QUOTAS` has it */
async function open(text: string): Promise<void> {
  service = await openService({ config: { quotas: quotaList(text) } });
}

function assertExceeded(response: LightMyRequestResponse, name: QuotaName, numbers: string): void {
  const { detail } = assertProblem(response, 403, 'quota_exceeded');
  assert.ok(detail.includes(`"${name}" (TENON_QUOTAS)`), detail);
  assert.ok(detail.includes(numbers), detail);
}

function post({ token }: TestUser, path: string, json: unknown): Promise<LightMyRequestResponse> {
  return service.call('POST', api + path, { token, json });
}

/** A guest of another user's application, who publishes. */
async function makePublisher() {
  const [owner, { id }] = [await service.user(), await service.user()];
  const user = { id, token: await service.token(id, { lifetimeMs: 30 * 24 * 60 * minuteMs }) };
  const appId = await makeApp(service, owner);
  const extensionPointId = await makeExtensionPoint(service, owner, appId);
  await makeGuest(service, owner, appId, 'k', user);
  const publish = (name: string, body: Buffer) =>
    service.call('PUT', `${api}/artifacts/${extensionPointId}/plugin/${user.id}/${name}`, {
      token: user.token,
      body,
      headers: { 'content-type': 'application/wasm' },
    });
  const remove = (name: string) =>
    ok(service, 'DELETE', `${api}/artifacts/${extensionPointId}/plugin/${user.id}/${name}`, { token: user.token });
  return { owner, user, appId, extensionPointId, publish, remove };
}

describe("an account's quotas", () => {
  it('limit its applications, until one is deleted', async () => {
    await open('applications=2');
    const user = await service.user();
    const [first] = [await makeApp(service, user), await makeApp(service, user)];
    assertExceeded(await post(user, '/apps', { name: 'third' }), 'applications', '2 of at most 2');
    await ok(service, 'DELETE', `${api}/apps/${first}`, { token: user.token });
    await makeApp(service, user);
    assert.equal((await post(await service.user(), '/apps', { name: "another's" })).statusCode, 201);
  });

  it('limit its unexpired tokens and API keys, also when they are created at the same time', async () => {
    await open('tokens=5,api-keys=3');
    const user = await service.user(); // has one token already
    const make = (path: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => post(user, path, { name: 't', expiresInDays: 1 })));
    const made = (responses: readonly LightMyRequestResponse[]) =>
      responses.filter(({ statusCode }) => statusCode === 201).length;
    const token = await service.token(user.id, { lifetimeMs: 10 * 24 * 3_600_000 }); // the operator's tokens have no quota
    assert.equal(made(await make('/tokens', 8)), 0, 'the hour of the asking token is less than a day');
    const asLong = { ...user, token };
    const many = (path: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => post(asLong, path, { name: 't', expiresInDays: 1 })));
    const tokens = await many('/tokens', 8);
    assert.equal(made(tokens), 3);
    assertExceeded(await post(asLong, '/tokens', { name: 't' }), 'tokens', '5 of at most 5');
    assert.equal(made(await many('/api-keys', 8)), 3);
    assertExceeded(await post(asLong, '/api-keys', { name: 't' }), 'api-keys', '3 of at most 3');
    service.advance(2 * 24 * 3_600_000);
    assert.equal(made(await many('/tokens', 8)), 4);
    assert.equal(made(await many('/api-keys', 8)), 3);
  });

  it('limit the bytes that it publishes, before they are stored', async () => {
    await open('account-bytes=100KiB,publish-burst=100');
    const { publish, remove } = await makePublisher();
    const KiB = 1024;
    for (const name of ['a', 'b']) assert.equal((await publish(name, largeModule(40 * KiB))).statusCode, 201);
    const before = await filesOf(service);
    assertExceeded(await publish('c', largeModule(41 * KiB)), 'account-bytes', '81,920 of at most 102,400');
    assert.deepEqual(await filesOf(service), before, 'nothing was stored');
    await remove('b');
    // The quota has room again; the disk has not yet, so that the day's bytes count on.
    const { detail } = assertProblem(await publish('d', largeModule(41 * KiB)), 429, 'rate_limited');
    assert.match(detail, /"account-bytes"/);
    assert.deepEqual(await filesOf(service), before);
    service.advance(12 * 3_600_000);
    assert.equal((await publish('d', largeModule(41 * KiB))).statusCode, 201);
  });
});

async function filesOf({ dataDir }: TestService): Promise<string[]> {
  const names = await readdir(join(dataDir, 'blobs'), { recursive: true });
  return names.filter((name) => /[\w-]{40}/.test(name)).sort();
}

describe("an application's quotas", () => {
  it('limit its extension points and their schemas', async () => {
    await open('extension-points=3,schema-bytes=1KiB');
    const user = await service.user();
    const appId = await makeApp(service, user);
    const path = `/apps/${appId}/extension-points`;
    const schema = (length: number) => ({ description: 'x'.repeat(length) });
    const { id } = (await post(user, path, { name: 'a', schema: schema(300) })).json<{ id: string }>();
    assertExceeded(await post(user, path, { name: 'b', schema: schema(900) }), 'schema-bytes', 'at most 1,024');
    const update = (length: number) =>
      service.call('PUT', `${api}/extension-points/${id}`, { token: user.token, json: { schema: schema(length) } });
    assertExceeded(await update(1000), 'schema-bytes', 'at most 1,024');
    assert.equal((await update(900)).statusCode, 200);
    assert.equal((await update(10)).statusCode, 200);
    for (const name of ['b', 'c']) assert.equal((await post(user, path, { name })).statusCode, 201);
    assertExceeded(await post(user, path, { name: 'd' }), 'extension-points', '3 of at most 3');
  });

  it('limit its guests and open invitations', async () => {
    await open('guests=3');
    const user = await service.user();
    const appId = await makeApp(service, user);
    await invite(service, user, appId, 'a'); // a guest, and an open invitation
    await invite(service, user, appId, 'a');
    const again = { deliveryMethod: 'link', guestKey: 'a' };
    assertExceeded(await post(user, `/apps/${appId}/guests`, again), 'guests', '3 of at most 3');
    service.advance(8 * 24 * 60 * minuteMs); // longer than invitations work
    const token = await service.token(user.id);
    await invite(service, { ...user, token }, appId, 'a');
  });

  it('limit invitations in bulk row by row', async () => {
    await open('guests=5');
    const user = await service.user();
    const appId = await makeApp(service, user);
    const send = (path: string, json: object) => post(user, `/apps/${appId}/invitations${path}`, json);
    const keys = ['a', 'b', 'a', 'c', 'a'];
    const invitations = keys.map((guestKey, at) => ({ guestKey, name: `${at}` }));
    const { objects } = (await send('', { invitations })).json<InvitationResults>();
    const outcomes = objects.map(({ outcome, error }) => error?.code ?? outcome);
    assert.deepEqual(outcomes, ['invited', 'invited', 'invited', 'quota_exceeded', 'quota_exceeded']);
    assert.equal((await send('/renew', { filter: { status: 'pending' } })).json().objects.length, 3);
  });

  it('limit its bytes, plugins and versions', async () => {
    await open('plugins=2,versions=2,app-bytes=1KiB');
    const { publish, remove } = await makePublisher();
    for (const number of [1, 2]) assert.ok((await publish('a', tinyModule(number))).statusCode < 300);
    assertExceeded(await publish('a', tinyModule(3)), 'versions', '2 of at most 2');
    assert.equal((await publish('a', tinyModule(2))).statusCode, 200, 'which makes no version');
    assertExceeded(await publish('b', largeModule(1000)), 'app-bytes', 'at most 1,024');
    assert.equal((await publish('b', tinyModule(4))).statusCode, 201);
    assertExceeded(await publish('c', tinyModule(5)), 'plugins', '2 of at most 2');
    await remove('b');
    assert.equal((await publish('c', tinyModule(5))).statusCode, 201);
  });

  it('can be raised for one application', async () => {
    await open('applications=5');
    const { appId } = await makePublisher();
    await service.close();
    await open(`plugins=1,${appId}:plugins=2`);
    const { publish } = await makePublisher();
    assert.equal((await publish('a', tinyModule(1))).statusCode, 201);
    assertExceeded(await publish('b', tinyModule(2)), 'plugins', '1 of at most 1');
  });
});

describe('GET …/quotas', () => {
  it('returns the usage and the limit of each quota of an account and an application', async () => {
    await open('applications=7');
    const { owner, user, appId, publish } = await makePublisher();
    const module = tinyModule(1);
    assert.equal((await publish('a', module)).statusCode, 201);
    const read = async (path: string, token: string) => {
      const { quotas } = await ok<QuotaUse>(service, 'GET', api + path, { token });
      return Object.fromEntries(quotas.map(({ name, used, limit }) => [name, [used, limit]]));
    };
    const [ofOwner, ofUser] = [await read('/me/quotas', owner.token), await read('/me/quotas', user.token)];
    assert.deepEqual(ofOwner.applications, [1, 7]);
    assert.deepEqual(ofUser['account-bytes'], [module.length, 5 * 2 ** 30]);
    assert.deepEqual(Object.keys(ofUser), [
      'applications',
      'tokens',
      'api-keys',
      'account-bytes',
      'simulations-per-day',
    ]);
    const ofApp = await read(`/apps/${appId}/quotas`, owner.token);
    assert.deepEqual(ofApp['app-bytes'], [module.length, 20 * 2 ** 30]);
    assert.deepEqual(
      [ofApp.plugins, ofApp['extension-points']],
      [
        [1, 10_000],
        [1, 500],
      ],
    );
    assert.deepEqual(Object.keys(ofApp), [
      'app-bytes',
      'extension-points',
      'schema-bytes',
      'webhooks',
      'guests',
      'plugins',
      'app-simulations-per-day',
    ]);
  });
});

describe('the rate of publishing', () => {
  it('allows 10 versions of a plugin at once, and then one per minute', async () => {
    await open('');
    const { publish } = await makePublisher();
    const versions = await Promise.all(Array.from({ length: 12 }, (_, number) => publish('a', tinyModule(number))));
    assert.equal(versions.filter(({ statusCode }) => statusCode < 300).length, 10);
    const refused = await publish('a', tinyModule(20));
    assertProblem(refused, 429, 'rate_limited');
    const seconds = Number(refused.headers['retry-after']);
    assert.ok(seconds > 0 && seconds <= 60, `${seconds} s`);
    assert.equal((await publish('b', tinyModule(1))).statusCode, 201, 'another plugin');
    service.advance(minuteMs);
    assert.equal((await publish('a', tinyModule(21))).statusCode, 200);
    assertProblem(await publish('a', tinyModule(22)), 429, 'rate_limited');
  });
});
