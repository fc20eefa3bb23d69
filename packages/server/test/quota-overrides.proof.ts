import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId, type QuotaOverride, type QuotaUse, type UserId } from '@tenon/protocol';
import { setOperator } from '../src/auth/manage-users.ts';
import { hashSecret } from '../src/auth/secrets.ts';
import { warnExpiries } from '../src/auth/warn-expiries.ts';
import { quotaList } from '../src/config/quota-list.ts';
import { requestFrom } from './helpers/browser.ts';
import { openMailServer, sendMails, type TestMailServer } from './helpers/mail-server.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { putSimulation, reportOf, scriptedSimulator } from './helpers/simulations.ts';
import { makeApp, makeExtensionPoint, makeGuest, makeMember, ok, tinyModule } from './helpers/world.ts';

const api = '/api/v1';
const dayMs = 24 * 60 * 60 * 1000;

let service: TestService;
let mailServer: TestMailServer;
let operator: TestUser;
before(async () => {
  mailServer = await openMailServer();
  service = await openService({
    config: {
      smtp: mailServer.at,
      quotas: quotaList('applications=10,simulations-per-day=10,app-simulations-per-day=100'),
    },
    simulator: scriptedSimulator(async () => reportOf('passed')),
  });
  operator = await lastingUser();
  await setOperator(service.services.deps, 'operator', operator.id, true);
});
after(async () => {
  await service.close();
  await mailServer.close();
});

/** A user with a token for a year, whose address is verified. */
async function lastingUser(): Promise<TestUser & { readonly email: string }> {
  const { id } = await service.user();
  const email = `${id}@example.org`;
  await service.store.write(async (tx) => {
    await tx.setEmail(id, email);
    await tx.putMailPreferences({ userId: id, verifiedEmail: email, muted: [] });
  });
  return { id, email, token: await service.token(id, { lifetimeMs: 365 * dayMs }) };
}

const override = (method: 'PUT' | 'DELETE', subject: string, name: string, limit?: unknown, by = operator) =>
  service.call(method, `${api}/quota-overrides/${subject}/${name}`, {
    token: by.token,
    ...(method === 'PUT' && { json: { limit } }),
  });

async function quotaOf({ token }: { readonly token: string }, name: string, path = '/me') {
  const { quotas } = await ok<QuotaUse>(service, 'GET', `${api}${path}/quotas`, { token });
  return quotas.find((one) => one.name === name);
}

/** The subjects of the mails to an address, after those that are due were sent. */
async function mailsTo(address: string): Promise<(string | undefined)[]> {
  await sendMails(service, mailServer);
  return mailServer.mails.filter(({ recipient }) => recipient === address).map(({ subject }) => subject);
}

const make = (user: TestUser) => service.call('POST', `${api}/apps`, { token: user.token, json: { name: 'App' } });

describe("an operator's quota", () => {
  it('takes precedence over the setting, which takes precedence over the default, until it is removed', async () => {
    const user = await lastingUser();
    assert.equal((await quotaOf(user, 'tokens'))?.source, 'default');
    assert.deepEqual(
      [(await quotaOf(user, 'applications'))?.limit, (await quotaOf(user, 'applications'))?.source],
      [10, 'setting'],
    );
    assert.equal((await override('PUT', user.id, 'applications', 1)).statusCode, 204);
    const { limit, source } = (await quotaOf(user, 'applications')) ?? {};
    assert.deepEqual([limit, source], [1, 'operator']);
    await makeApp(service, user);
    assertProblem(await make(user), 403, 'quota_exceeded');
    const { quotas } = await ok<QuotaUse>(service, 'GET', `${api}/quota-overrides/${user.id}`, operator);
    assert.equal(quotas.find(({ name }) => name === 'applications')?.used, 1);
    const { objects } = await ok<{ objects: QuotaOverride[] }>(service, 'GET', `${api}/quota-overrides`, operator);
    const listed = objects.find(({ subjectId }) => subjectId === user.id);
    assert.deepEqual([listed?.name, listed?.limit, listed?.subjectName], ['applications', 1, 'A user']);
    assert.equal((await override('DELETE', user.id, 'applications')).statusCode, 204);
    assert.equal((await make(user)).statusCode, 201);
  });

  it('of an application applies to that one alone', async () => {
    const owner = await lastingUser();
    const [appId, other] = [await makeApp(service, owner), await makeApp(service, owner)];
    await override('PUT', appId, 'extension-points', 1);
    await makeExtensionPoint(service, owner, appId);
    const create = (id: string) =>
      service.call('POST', `${api}/apps/${id}/extension-points`, { token: owner.token, json: { name: 'x' } });
    assertProblem(await create(appId), 403, 'quota_exceeded');
    assert.equal((await create(other)).statusCode, 201);
    assert.equal((await create(other)).statusCode, 201);
  });

  it('is refused for what does not exist, for the other kind, for limits that are none, and from others', async () => {
    const user = await lastingUser();
    const appId = await makeApp(service, user);
    assertProblem(await override('PUT', 'usr_01m8fq5nt2ens9hs8dzv4nbbfw', 'tokens', 1), 404, 'not_found');
    assertProblem(await override('PUT', 'constructor', 'tokens', 1), 404, 'not_found');
    assertProblem(await override('PUT', user.id, 'constructor', 1), 404, 'not_found');
    assertProblem(await override('PUT', user.id, 'plugins', 1), 400, 'invalid_request');
    assertProblem(await override('PUT', appId, 'tokens', 1), 400, 'invalid_request');
    for (const limit of [0, -1, 1.5, '9', 2 ** 53, null]) {
      assertProblem(await override('PUT', user.id, 'tokens', limit), 422, 'invalid_field');
    }
    assertProblem(await override('PUT', user.id, 'tokens', 9999, user), 403, 'forbidden');
    assertProblem(await service.call('GET', `${api}/quota-overrides`, { token: user.token }), 403, 'forbidden');
  });

  it('leaves an event with the limits before and after', async () => {
    const owner = await lastingUser();
    const appId = await makeApp(service, owner);
    await override('PUT', appId, 'plugins', 7);
    await override('PUT', appId, 'plugins', 7); // the same
    await override('PUT', appId, 'plugins', 8);
    const path = `${api}/apps/${appId}/audit?action=app.quota`;
    const { objects } = await ok<{ objects: { details: object }[] }>(service, 'GET', path, owner);
    assert.deepEqual(
      objects.map(({ details }) => details),
      [
        { quota: 'plugins', limit: { before: 7, after: 8 } },
        { quota: 'plugins', limit: { before: null, after: 7 } },
      ],
    );
  });

  it('ends with the account', async () => {
    const user = await lastingUser();
    await override('PUT', user.id, 'tokens', 7);
    await ok(service, 'DELETE', `${api}/users/${user.id}`, operator);
    assert.deepEqual(await service.store.read.quotaOverrides([user.id]), []);
  });
});

describe('warnings of quotas', () => {
  it('are mailed once at 80 %, and once at 95 %, to the account', async () => {
    const user = await lastingUser();
    for (let count = 1; count <= 7; count++) await makeApp(service, user);
    assert.deepEqual(await mailsTo(user.email), []);
    const eighth = await makeApp(service, user);
    await makeApp(service, user);
    assert.deepEqual(await mailsTo(user.email), ['80 % of the quota applications is used']);
    await ok(service, 'DELETE', `${api}/apps/${eighth}`, user);
    await makeApp(service, user); // at 90 % again
    await makeApp(service, user);
    assertProblem(await make(user), 403, 'quota_exceeded');
    assert.deepEqual(await mailsTo(user.email), [
      '80 % of the quota applications is used',
      '95 % of the quota applications is used',
    ]);
  });

  it('are mailed to the owners of an application, and when an operator lowers its limit', async () => {
    const [owner, second, admin] = [await lastingUser(), await lastingUser(), await lastingUser()];
    const appId = await makeApp(service, owner);
    await makeMember(service, owner, appId, 'owner', second);
    await makeMember(service, owner, appId, 'admin', admin);
    for (let count = 0; count < 4; count++) await makeExtensionPoint(service, owner, appId);
    await override('PUT', appId, 'extension-points', 5);
    const mails = [await mailsTo(owner.email), await mailsTo(second.email), await mailsTo(admin.email)];
    assert.deepEqual(mails, [
      ['80 % of the quota extension-points is used'],
      ['80 % of the quota extension-points is used'],
      [],
    ]);
  });

  it('are sent once when many changes reach the level at once', async () => {
    const user = await lastingUser();
    const statuses = await Promise.all(Array.from({ length: 12 }, () => make(user)));
    assert.equal(statuses.filter(({ statusCode }) => statusCode === 201).length, 10);
    const subjects = await mailsTo(user.email);
    assert.deepEqual([...subjects].sort(), [
      '80 % of the quota applications is used',
      '95 % of the quota applications is used',
    ]);
  });

  it('are not sent to those who turned them off', async () => {
    const user = await lastingUser();
    await ok(service, 'PUT', `${api}/me`, { token: user.token, json: { notices: { quotas: false } } });
    for (let count = 0; count < 9; count++) await makeApp(service, user);
    assert.deepEqual(await mailsTo(user.email), []);
  });
});

describe('simulations', () => {
  async function publisher() {
    const [owner, user] = [await lastingUser(), await lastingUser()];
    const appId = await makeApp(service, owner);
    const extensionPointId = await makeExtensionPoint(service, owner, appId);
    await makeGuest(service, owner, appId, 'k', user);
    await putSimulation(service, extensionPointId);
    await putSimulation(service, extensionPointId, { id: newId('simulation'), name: 'second' });
    let serial = 0;
    const publish = (query = '') =>
      service.call('PUT', `${api}/artifacts/${extensionPointId}/plugin/${user.id}/p${serial}${query}`, {
        token: user.token,
        body: tinyModule(serial++),
        headers: { 'content-type': 'application/wasm' },
      });
    return { owner, user, appId, extensionPointId, publish };
  }

  it('are charged for publishes and dry runs; a publish above the quota stores no bytes', async () => {
    const { user, publish } = await publisher();
    const used = async () => (await quotaOf(user, 'simulations-per-day'))?.used;
    for (let count = 0; count < 2; count++) assert.ok((await publish()).statusCode < 300);
    assert.equal(await used(), 4);
    for (let count = 0; count < 3; count++) assert.equal((await publish('?dryRun=true')).statusCode, 200);
    assert.equal(await used(), 10);
    const blobs = await service.store.read.blobs({ limit: 1000 });
    const refused = assertProblem(await publish(), 429, 'rate_limited');
    assert.match(refused.detail ?? '', /^Your account may run 10 simulations a day \(quota "simulations-per-day"\)\./);
    assertProblem(await publish('?dryRun=true'), 429, 'rate_limited');
    assert.equal((await service.store.read.blobs({ limit: 1000 })).length, blobs.length);
    service.advance(dayMs);
    assert.ok((await publish()).statusCode < 300);
  });

  it('are charged for trials, which end before what is above the quota', async () => {
    const { owner, appId, extensionPointId, publish } = await publisher();
    await publish();
    await publish();
    const trial = () =>
      service.call('POST', `${api}/extension-points/${extensionPointId}/simulations/trial`, {
        token: owner.token,
        json: {},
      });
    await override('PUT', owner.id, 'simulations-per-day', 7);
    const [first, second] = [await trial(), await trial()];
    assert.deepEqual([first.statusCode, second.statusCode], [200, 200], first.body);
    assert.equal(second.json().objects.length, 1, 'the second version was above the quota');
    assertProblem(await trial(), 429, 'rate_limited');
    assert.ok(((await quotaOf(owner, 'app-simulations-per-day', `/apps/${appId}`))?.used ?? 0) >= 10);
  });

  it('count their reports to the bytes of the application', async () => {
    const { owner, appId, publish } = await publisher();
    const bytes = async () => (await quotaOf(owner, 'app-bytes', `/apps/${appId}`))?.used ?? 0;
    const before = await bytes();
    await publish();
    const [run] = await service.store.read.simulationRuns(
      (await service.store.read.versionsOfContent((await latest()) as never))[0]?.id as never,
    );
    assert.equal((await bytes()) - before, tinyModule(0).length + Buffer.byteLength(run?.reportsJson ?? ''));

    async function latest(): Promise<string | undefined> {
      const { objects } = await ok<{ objects: { contentAddress: string }[] }>(
        service,
        'GET',
        `${api}/apps/${appId}/plugins`,
        owner,
      );
      return objects[0]?.contentAddress;
    }
  });
});

describe('warnings of expiries', () => {
  const warn = () => warnExpiries(service.services.deps);
  const expiring = (userId: UserId, days: number) => service.token(userId, { lifetimeMs: days * dayMs });

  it('are mailed once for each credential, some days before, also for those of a week, but not of an hour', async () => {
    const user = await lastingUser();
    await expiring(user.id, 90);
    await expiring(user.id, 7);
    await service.token(user.id, { lifetimeMs: 3_600_000 });
    await warn();
    assert.deepEqual(await mailsTo(user.email), []);
    service.advance(5 * dayMs);
    await Promise.all([warn(), warn()]);
    assert.deepEqual(await mailsTo(user.email), ['A token of yours expires']);
    service.advance(79 * dayMs);
    await service.apiKey(user.id);
    await warn();
    await warn();
    assert.equal((await mailsTo(user.email)).length, 2);
    assert.match(mailServer.mails.at(-1)?.text ?? '', /The access token “test” expires at/);
  });

  it('are mailed after downtime for what has expired meanwhile, and not for what was revoked', async () => {
    const user = await lastingUser();
    await expiring(user.id, 10);
    service.advance(12 * dayMs);
    await warn();
    assert.equal((await mailsTo(user.email)).length, 1);
    assert.match(mailServer.mails.at(-1)?.text ?? '', /The access token “test” expired at/);
    const revoked = await expiring(user.id, 10);
    service.advance(9 * dayMs);
    await warn();
    const found = await service.store.read.tokenByHash(hashSecret(revoked));
    await service.store.write((tx) => tx.deleteToken(found?.id ?? 'tok_'));
    assert.equal((await mailsTo(user.email)).length, 1);
  });
});

describe('notices of new networks', () => {
  it('are mailed once an hour, with all networks since the one before', async () => {
    const user = await lastingUser();
    const found = await service.store.read.tokenByHash(hashSecret(user.token));
    const use = async (address: string) => {
      service.services.lastUsed.note(found?.id ?? 'tok_', user.id, requestFrom(address));
      await service.services.lastUsed.flush();
    };
    for (const address of ['192.0.2.1', '198.51.100.1', '203.0.113.1']) await use(address);
    assert.deepEqual(await mailsTo(user.email), ['A token was used from a new network']);
    const { text = '' } = mailServer.mails.at(-1) ?? {};
    assert.match(text, /198\.51\.100\.0\/24/);
    assert.match(text, /203\.0\.113\.0\/24/);
    await use('10.0.0.1');
    await use('10.0.1.1');
    assert.equal((await mailsTo(user.email)).length, 1);
    service.advance(3_600_000);
    assert.equal((await mailsTo(user.email)).length, 2);
    assert.match(mailServer.mails.at(-1)?.text ?? '', /10\.0\.1\.0\/24/);
  });
});
