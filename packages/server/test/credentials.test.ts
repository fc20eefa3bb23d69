import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  cliClientId,
  deviceCodeGrantType,
  type PendingLogin,
  type RevokedCredentials,
  type TokenInfo,
  type UserId,
} from '@tenon/protocol';
import { createPasswordLink, revokeCredentialsOf, suspendUser, unsuspendUser } from '../src/auth/manage-users.ts';
import { hashSecret } from '../src/auth/secrets.ts';
import { approve, approvedLogin, exchangeOf, openBrowser, postForm, requestFrom } from './helpers/browser.ts';
import { goodPassword, openJar, type Person, signIn, signUpPerson } from './helpers/jar.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { formOf, ok, tinyModule } from './helpers/world.ts';

const api = '/api/v1';
const everything = `${api}/credentials/revoke-all`;
type List<T> = { readonly objects: readonly T[] };

let service: TestService;
before(async () => {
  service = await openService({
    config: { codeTriesPerMinute: 1000, deviceLoginsPerMinute: 1000, signInsPerMinute: 1000, trustedProxies: ['::1'] },
  });
});
after(() => service.close());

const statusOf = async (token: string, path = `${api}/me`) => (await service.call('GET', path, { token })).statusCode;
const instrument = async (token: string) =>
  (await service.call('POST', '/instrument', { token, ...formOf([{ name: 'wasm', content: tinyModule(1) }]) }))
    .statusCode;

/** Everything that a person can make with a password. */
async function credentialsOf({ id }: Person) {
  const [token, key] = [await service.token(id), await service.apiKey(id)];
  const login = await approvedLogin(service, { id });
  const code = exchangeOf(await approve(await openBrowser(service, id)));
  const { code: link } = await createPasswordLink(service.services.deps, 'operator', id);
  const browser = await openBrowser(service, id);
  return {
    token,
    key,
    /** Which of them work. It uses up those that work once. */
    async work() {
      const grant = { grant_type: deviceCodeGrantType, client_id: cliClientId, device_code: login.deviceCode };
      const reset = { code: link, password: goodPassword };
      const checks = {
        session: async () => (await browser.post('/session/token', {})).statusCode,
        token: () => statusOf(token),
        key: () => instrument(key),
        login: async () => (await postForm(service, '/oauth/token', grant)).statusCode,
        code: async () => (await postForm(service, '/oauth/token', code)).statusCode,
        link: async () => (await openJar(service).call('POST', '/session/reset-password', reset)).statusCode,
      };
      const works: string[] = [];
      for (const [name, check] of Object.entries(checks)) if ((await check()) < 300) works.push(name);
      return works;
    },
  };
}

const all = ['session', 'token', 'key', 'login', 'code', 'link'];

describe('credentials', () => {
  it('work, each of them', async () => {
    assert.deepEqual(await (await credentialsOf(await signUpPerson(service))).work(), all);
  });

  it('end with a suspension, and stay ended after it', async () => {
    const person = await signUpPerson(service);
    const [during, afterwards] = [await credentialsOf(person), await credentialsOf(person)];
    const { deps } = service.services;
    await suspendUser(deps, 'operator', person.id);
    assert.deepEqual(await during.work(), []);
    await unsuspendUser(deps, 'operator', person.id);
    assert.deepEqual(await afterwards.work(), []);
    assert.equal(await statusOf(await (await signIn(service, person)).token()), 200);
  });

  it('end with a password reset', async () => {
    const person = await signUpPerson(service);
    const made = await credentialsOf(person);
    const { code } = await createPasswordLink(service.services.deps, 'operator', person.id);
    const reset = { code, password: 'heron quartz 88 lantern' };
    assert.equal((await openJar(service).call('POST', '/session/reset-password', reset)).statusCode, 200);
    assert.deepEqual(await made.work(), []);
  });

  it('end when the operator revokes them, and the user can sign in again', async () => {
    const person = await signUpPerson(service);
    const made = await credentialsOf(person);
    const revoked = await revokeCredentialsOf(service.services.deps, 'operator', person.id);
    assert.deepEqual(revoked, { sessions: 4, tokens: 1, apiKeys: 1 });
    assert.deepEqual(await made.work(), []);
    await signIn(service, person);
  });
});

describe(`POST ${everything}`, () => {
  const revokeAll = (token: string, json: object = {}) =>
    ok<RevokedCredentials>(service, 'POST', everything, { token, json });

  it('ends all others, and not those of other users', async () => {
    const [person, other] = [await signUpPerson(service), await signUpPerson(service)];
    const [made, kept] = [await credentialsOf(person), await credentialsOf(other)];
    const current = await person.jar.token();
    assert.deepEqual(await revokeAll(current), { sessions: 3, tokens: 1, apiKeys: 1 });
    assert.deepEqual(await made.work(), []);
    assert.equal(await statusOf(current), 200);
    assert.equal((await person.jar.call('POST', '/session/token', {})).statusCode, 201);
    assert.deepEqual(await kept.work(), all);
  });

  it('keeps the token of a program, but not its keys', async () => {
    const user = await service.user();
    const { apiKey } = await ok<{ apiKey: string }>(service, 'POST', `${api}/api-keys`, {
      token: user.token,
      json: { name: 'made by the token' },
    });
    assert.deepEqual(await revokeAll(user.token), { sessions: 0, tokens: 0, apiKeys: 1 });
    assert.deepEqual([await statusOf(user.token), await instrument(apiKey)], [200, 401]);
  });

  it('ends the current session or token too, on request', async () => {
    const person = await signUpPerson(service);
    const current = await person.jar.token();
    assert.deepEqual(await revokeAll(current, { includeCurrent: true }), { sessions: 1, tokens: 0, apiKeys: 0 });
    assert.equal(await statusOf(current), 401);
    const user = await service.user();
    assert.deepEqual(await revokeAll(user.token, { includeCurrent: true }), { sessions: 0, tokens: 1, apiKeys: 0 });
    assert.equal(await statusOf(user.token), 401);
  });

  it('requires a step-up in a browser, and ends nothing without it', async () => {
    const person = await signUpPerson(service);
    const made = await credentialsOf(person);
    service.advance(5 * 60_000 + 1);
    const token = await person.jar.token();
    assertProblem(await service.call('POST', everything, { token, json: {} }), 403, 'step_up_required');
    assert.equal(await statusOf(made.token), 200);
    await person.jar.call('POST', '/session/confirm', { password: person.password });
    await revokeAll(token);
    assert.equal(await statusOf(made.token), 401);
  });

  it('leaves one audit event with the numbers', async () => {
    const user = await service.user();
    await service.token(user.id);
    await revokeAll(user.token);
    const { objects } = await ok<List<{ action: string; details: object }>>(service, 'GET', `${api}/me/audit`, user);
    const details = { sessions: 0, tokens: 1, apiKeys: 0, includesCurrent: false };
    assert.deepEqual([objects[0]?.action, objects[0]?.details], ['account.revoke_credentials', details]);
    assert.notEqual(objects[1]?.action, 'account.revoke_credentials');
  });

  it('ends each of them once, when it is called many times at once', async () => {
    const user = await service.user();
    const tokens = await Promise.all(Array.from({ length: 4 }, () => service.token(user.id)));
    const statuses = await Promise.all(
      tokens.map(async (token) => (await service.call('POST', everything, { token, json: {} })).statusCode),
    );
    assert.deepEqual(statuses.sort(), [200, 401, 401, 401]);
    assert.equal((await Promise.all(tokens.map((token) => statusOf(token)))).filter((one) => one === 200).length, 1);
  });
});

describe('pending logins', () => {
  it('are listed to their user until they are fetched, revoked, or expired', async () => {
    const [user, other] = [await service.user(), await service.user()];
    const login = await approvedLogin(service, user);
    const list = async ({ token }: { readonly token: string }) =>
      (await ok<List<PendingLogin>>(service, 'GET', `${api}/logins`, { token })).objects;
    const [listed] = await list(user);
    assert.equal(listed?.id, login.id);
    assert.equal(listed.address, '192.0.2.7');
    assert.deepEqual(await list(other), []);
    const revoke = (token: string) => service.call('DELETE', `${api}/logins/${login.id}`, { token });
    assertProblem(await revoke(other.token), 404, 'not_found');
    assert.equal((await revoke(user.token)).statusCode, 204);
    assertProblem(await revoke(user.token), 404, 'not_found');
    assert.deepEqual(await list(user), []);
  });
});

describe('the last use', () => {
  const listed = async (token: string) =>
    (await ok<List<TokenInfo>>(service, 'GET', `${api}/tokens`, { token })).objects[0];

  it('has the address, for unrestricted tokens that manage the account only', async () => {
    const user = await service.user();
    await statusOf(user.token);
    await service.services.lastUsed.flush();
    assert.equal((await listed(user.token))?.lastUsedAddress, '127.0.0.1');
    const reading = await service.token(user.id, { scopes: ['read'] });
    const found = await listed(reading);
    assert.ok(found !== undefined && !('lastUsedAddress' in found));
    const { token } = await ok<{ token: TokenInfo }>(service, 'GET', `${api}/me`, { token: reading });
    assert.ok(!('lastUsedAddress' in token));
  });
});

describe('a token that is used from a new network', () => {
  const noted = async (address: string, token: string, headers = {}) => {
    const found = await service.store.read.tokenByHash(hashSecret(token));
    assert.ok(found !== undefined);
    service.services.lastUsed.note(found.id, found.userId, requestFrom(address, headers));
  };
  const flush = () => service.services.lastUsed.flush();
  const networksOf = async (id: UserId) => {
    const events = await service.store.read.auditOfAccount(id, { action: 'token.new_network' }, { limit: 100 });
    return events.map(({ details }) => details.network).reverse();
  };

  it('leaves an event for each new network, but not for that of its first use, or for known ones', async () => {
    const { id, token } = await service.user();
    for (const address of ['192.0.2.1', '192.0.2.200', '198.51.100.9', '192.0.2.3', '2001:db8:1:2::3']) {
      await noted(address, token);
      await flush();
    }
    await noted('2001:db8:1:ffff::1', token);
    await noted('2001:db8:2::1', token);
    await flush();
    assert.deepEqual(await networksOf(id), ['198.51.100.0/24', '2001:db8:1::/48', '2001:db8:2::/48']);
  });

  it('tells them apart within a minute, and by the trusted forwarding header alone', async () => {
    const { id, token } = await service.user();
    await noted('192.0.2.1', token);
    await noted('198.51.100.1', token);
    await noted('::1', token, { 'x-forwarded-for': '203.0.113.5' });
    await noted('192.0.2.1', token, { 'x-forwarded-for': '203.0.114.5' });
    await noted('::1', token, { 'x-forwarded-for': '203.0.115.5' });
    await flush();
    assert.deepEqual(await networksOf(id), ['198.51.100.0/24', '203.0.113.0/24', '203.0.115.0/24']);
  });

  it('fills neither the memory nor the trail, however many networks there are', async () => {
    const { id, token } = await service.user();
    for (let network = 0; network < 300; network++) await noted(`10.${network >> 8}.${network & 255}.1`, token);
    await flush();
    for (let network = 0; network < 40; network++) {
      await noted(`172.16.${network}.1`, token);
      await flush();
    }
    assert.equal((await networksOf(id)).length, 10);
    const found = await service.store.read.tokenByHash(hashSecret(token));
    const stored = await service.store.read.usedNetworks(found?.id ?? 'tok_');
    assert.equal(stored?.networks?.length, 16);
    assert.equal(stored.networks[0], '172.16.39.0/24');
  });

  it('is noted again if the store could not be written', async () => {
    const { id, token } = await service.user();
    await noted('192.0.2.1', token);
    await flush();
    const { store } = service.services.deps;
    const { write } = store;
    await noted('198.51.100.1', token);
    Object.assign(store, { write: () => Promise.reject(new Error('not now')) });
    await assert.rejects(flush(), /not now/);
    Object.assign(store, { write });
    await noted('198.51.100.1', token);
    await flush();
    assert.deepEqual(await networksOf(id), ['198.51.100.0/24']);
  });
});
