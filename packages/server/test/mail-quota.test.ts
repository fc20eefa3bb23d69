import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { quotaList } from '../src/config/quota-list.ts';
import { openMailServer, sendMails, type TestMailServer } from './helpers/mail-server.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { makeApp, ok } from './helpers/world.ts';

const dayMs = 24 * 60 * 60 * 1000;

describe('the quota of mailed invitations', () => {
  let server: TestMailServer;
  let service: TestService;
  let owner: TestUser;
  let admin: TestUser;
  let appId: string;

  before(async () => {
    server = await openMailServer();
    service = await openService({ config: { smtp: server.at, quotas: quotaList('mails-per-day=4') } });
    const user = async (name: string) => {
      const made = await service.user(name);
      return { ...made, token: await service.token(made.id, { lifetimeMs: 30 * dayMs }) };
    };
    [owner, admin] = [await user('Ada'), await user('Grace')];
    appId = await makeApp(service, owner);
  });

  after(async () => {
    await service.close();
    await server.close();
  });

  const post = (path: string, json: object, by = owner, app = appId) =>
    service.call('POST', `/api/v1/apps/${app}${path}`, { token: by.token, json });

  const invite = (guestKey: string, by = owner, app = appId) =>
    post('/guests', { deliveryMethod: 'email', guestKey, email: `${guestKey}@example.org` }, by, app);

  const used = async () => {
    const { quotas } = await ok<{ quotas: { name: string; used: number }[] }>(
      service,
      'GET',
      '/api/v1/me/quotas',
      owner,
    );
    return quotas.find(({ name }) => name === 'mails-per-day')?.used;
  };

  it('bounds invitations of guests and the team, and renewals, in all applications of an account', async () => {
    assert.equal(await used(), 0);
    assert.equal((await invite('a')).statusCode, 200);
    const team = { deliveryMethod: 'email', role: 'admin', email: 'grace@example.org' };
    const { link } = (await post('/members', team)).json<{ link: string }>();
    const search = `/api/v1/apps/${appId}/invitations?q=a@example.org`;
    const { objects } = await ok<{ objects: { id: string }[] }>(service, 'GET', search, owner);
    const renewal = `/invitations/${objects[0]?.id}/renew`;
    assert.equal((await post(renewal, { deliveryMethod: 'email' })).statusCode, 200);
    const otherApp = await makeApp(service, owner);
    assert.equal((await invite('b', owner, otherApp)).statusCode, 200);
    assert.equal(await used(), 4);

    const refused = await invite('c');
    const problem = assertProblem(refused, 429, 'rate_limited');
    assert.match(problem.detail ?? '', /^Your account may mail 4 invitations a day \(quota "mails-per-day"\)\./);
    assert.ok(Number(refused.headers['retry-after']) > 0.9 * (dayMs / 4000));
    assertProblem(await post(renewal, { deliveryMethod: 'email' }), 429, 'rate_limited');
    assertProblem(await post('/members', team), 429, 'rate_limited');
    const guests = await ok<{ total: number }>(service, 'GET', `/api/v1/apps/${appId}/guests`, owner);
    assert.equal(guests.total, 1, 'a refused request changes nothing');
    assert.equal((await post('/guests', { guestKey: 'c' })).statusCode, 200, 'links have no such quota');

    const json = { code: new URL(link).searchParams.get('code') };
    await ok(service, 'POST', '/api/v1/invitations/accept', { token: admin.token, json });
    assert.equal((await invite('d', admin)).statusCode, 200, 'another account has its own quota');
  });

  it('frees nothing when guests or applications are deleted, and refills in a day', async () => {
    const { objects } = await ok<{ objects: { id: string; guestKey: string }[] }>(
      service,
      'GET',
      `/api/v1/apps/${appId}/guests`,
      owner,
    );
    const guest = objects.find(({ guestKey }) => guestKey === 'a');
    await service.call('DELETE', `/api/v1/apps/${appId}/guests/${guest?.id}`, { token: owner.token });
    assertProblem(await invite('e'), 429, 'rate_limited');
    service.advance(dayMs / 4);
    assert.equal((await invite('e')).statusCode, 200);
    assertProblem(await invite('f'), 429, 'rate_limited');
    service.advance(dayMs);
    assert.equal(await used(), 0);
  });

  it('bounds concurrent requests', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async (_, at) => (await invite(`together-${at}`)).statusCode),
    );
    assert.deepEqual(statuses.toSorted(), [200, 200, 200, 200, 429, 429, 429, 429]);
  });

  it('mails batches within the quota, to those with an address', async () => {
    service.advance(dayMs);
    const row = (guestKey: string, email?: string) => ({ guestKey, ...(email !== undefined && { email }) });
    const batch = (invitations: object[], deliveryMethod = 'email') =>
      post('/invitations', { deliveryMethod, invitations });
    const faulty = assertProblem(await batch([row('k1', 'k1@example.org'), row('k2', 'k2')]), 422, 'invalid_field');
    assert.deepEqual(
      faulty.errors?.map(({ pointer }) => pointer),
      ['/invitations/1/email'],
    );
    assertProblem(await batch([row('k1')], 'pigeon'), 422, 'unsupported_delivery_method');

    const keys = ['k1', 'k2', 'k3', 'k4', 'k5'];
    const rows = [row('none'), ...keys.map((key) => row(key, `${key}@example.org`))];
    const { objects } = (await batch(rows)).json<{
      objects: { outcome: string; isMailed?: boolean; error?: { code: string } }[];
    }>();
    assert.deepEqual(
      objects.map(({ outcome, isMailed, error }) => error?.code ?? [outcome, isMailed]),
      [['invited', false], ...keys.slice(1).map(() => ['invited', true]), 'rate_limited'],
    );
    const guests = await ok<{ total: number }>(service, 'GET', `/api/v1/apps/${appId}/guests?q=k5`, owner);
    assert.equal(guests.total, 0);
    const again = (await batch(rows.slice(0, 3))).json<{ objects: { outcome: string; isMailed?: boolean }[] }>();
    assert.ok(again.objects.every(({ outcome, isMailed }) => outcome === 'pending' && isMailed === undefined));

    const renew = (ids: string[]) => post('/invitations/renew', { deliveryMethod: 'email', ids });
    const found = await ok<{ objects: { id: string; guestKey: string }[] }>(
      service,
      'GET',
      `/api/v1/apps/${appId}/invitations?status=pending&limit=100`,
      owner,
    );
    const idOf = (key: string) => found.objects.find(({ guestKey }) => guestKey === key)?.id ?? '';
    assertProblem(await renew([idOf('k1')]), 429, 'rate_limited');
    service.advance(dayMs);
    const renewed = (await renew([idOf('k1'), idOf('none')])).json<{ objects: { isMailed: boolean }[] }>();
    assert.deepEqual(renewed.objects.map(({ isMailed }) => isMailed).toSorted(), [false, true]);
    const sent = await sendMails(service, server);
    assert.equal(sent.failed, 0);
    assert.ok(server.mails.some(({ recipient }) => recipient === 'k1@example.org'));
  });
});
