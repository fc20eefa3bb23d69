import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cliClientId, type DeviceAuthorization, deviceCodeGrantType, oauthPaths } from '@tenon/protocol';
import { createPasswordLink } from '../src/auth/manage-users.ts';
import { authorizationQuery, exchangeOf, postForm } from './helpers/browser.ts';
import { type Jar, openJar, type Person, signIn, signUpPerson } from './helpers/jar.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';

const api = '/api/v1';
const newPassword = 'four candles, no fork handles';

describe('recovering an account', () => {
  let service: TestService;
  before(async () => {
    service = await openService({
      config: {
        codeTriesPerMinute: 1000,
        accountTriesPerHour: 1000,
        signInsPerMinute: 1000,
        deviceLoginsPerMinute: 1000,
      },
    });
  });
  after(() => service.close());

  /** Approves a login on another machine, which does not fetch its token yet. */
  async function approveDevice(jar: Jar): Promise<() => Promise<string>> {
    const started = await postForm(service, oauthPaths.deviceAuthorization, { client_id: cliClientId });
    const { user_code: userCode, device_code } = started.json<DeviceAuthorization>();
    const approved = await jar.call('POST', '/session/device', { userCode, decision: 'approve' });
    assert.equal(approved.statusCode, 204, approved.payload);
    const fields = { grant_type: deviceCodeGrantType, client_id: cliClientId, device_code };
    return () => redeem(fields);
  }

  /** Approves a login with a redirect, whose code is not exchanged yet. */
  async function approveRedirect(jar: Jar): Promise<() => Promise<string>> {
    const decision = { request: authorizationQuery(), decision: 'approve' };
    const approved = await jar.call('POST', '/session/authorization', decision);
    const fields = exchangeOf(new URL(approved.json<{ redirectTo: string }>().redirectTo));
    return () => redeem(fields);
  }

  /** `token`, or the error. */
  async function redeem(fields: Parameters<typeof postForm>[2]): Promise<string> {
    const response = await postForm(service, oauthPaths.token, fields);
    return response.statusCode === 200 ? 'token' : response.json<{ error: string }>().error;
  }

  const link = async ({ id }: Person) => (await createPasswordLink(service.services.deps, 'operator', id)).code;
  const reset = (json: object) => openJar(service).call('POST', '/session/reset-password', json);
  const status = async (token: string) => (await service.call('GET', `${api}/me`, { token })).statusCode;
  const instrument = async (token: string) => (await service.call('POST', '/instrument', { token })).statusCode;

  const change = async (person: Person, more: object = {}) => {
    const json = { currentPassword: person.password, newPassword, ...more };
    const answer = await service.call('PUT', `${api}/me/password`, { token: await person.jar.token(), json });
    assert.equal(answer.statusCode, 204, answer.payload);
  };

  it('with a link ends older links, approved logins, sessions, tokens and keys', async () => {
    const person = await signUpPerson(service);
    const [token, key] = [await service.token(person.id), await service.apiKey(person.id)];
    const thief = await signIn(service, person);
    const pages = await thief.token();
    const waiting = [await approveDevice(thief), await approveRedirect(thief)];
    const [older, code] = [await link(person), await link(person)];

    assert.equal((await reset({ code, password: newPassword })).statusCode, 200);
    assert.deepEqual([await status(token), await status(pages), await instrument(key)], [401, 401, 401]);
    for (const fetchToken of waiting) assert.equal(await fetchToken(), 'invalid_grant');
    assertProblem(await reset({ code: older, password: 'the thief chose 77 this one' }), 410, 'link_expired');
    assertProblem(await reset({ code, password: 'the thief chose 77 this one' }), 410, 'link_used');
    const { store } = service.services.deps;
    const [event] = await store.read.auditOfAccount(person.id, { action: 'account.password_reset' }, { limit: 1 });
    assert.equal(event?.details.revokedTokens, true);
  });

  it('with a link keeps only tokens and keys, if requested', async () => {
    const person = await signUpPerson(service);
    const [token, key] = [await service.token(person.id), await service.apiKey(person.id)];
    const waiting = [await approveDevice(person.jar), await approveRedirect(person.jar)];
    const [older, code] = [await link(person), await link(person)];
    assert.equal((await reset({ code, password: newPassword, revokeTokens: false })).statusCode, 200);
    assert.equal(await status(token), 200);
    assert.notEqual(await instrument(key), 401);
    for (const fetchToken of waiting) assert.equal(await fetchToken(), 'invalid_grant');
    assertProblem(await reset({ code: older, password: newPassword }), 410, 'link_expired');
  });

  it('with a password change ends links and the approved logins of all sessions', async () => {
    const person = await signUpPerson(service);
    const waiting = [await approveDevice(person.jar), await approveRedirect(await signIn(service, person))];
    const code = await link(person);
    await change(person);
    for (const fetchToken of waiting) assert.equal(await fetchToken(), 'invalid_grant');
    assertProblem(await reset({ code, password: 'the thief chose 77 this one' }), 410, 'link_expired');
  });

  it('does not affect other accounts', async () => {
    const [person, other] = [await signUpPerson(service), await signUpPerson(service)];
    const waiting = [await approveDevice(other.jar), await approveRedirect(other.jar)];
    const code = await link(other);
    assert.equal((await reset({ code: await link(person), password: newPassword })).statusCode, 200);
    for (const fetchToken of waiting) assert.equal(await fetchToken(), 'token');
    assert.equal((await reset({ code, password: newPassword })).statusCode, 200);
  });

  it('rejects a login whose approving session was signed out', async () => {
    const person = await signUpPerson(service);
    const elsewhere = await signIn(service, person);
    const kept = [await approveDevice(person.jar), await approveRedirect(person.jar)];
    const [device, redirect] = [await approveDevice(elsewhere), await approveRedirect(elsewhere)];
    assert.equal((await elsewhere.call('DELETE', '/session')).statusCode, 204);
    assert.equal(await device(), 'access_denied');
    assert.equal(await redirect(), 'invalid_grant');
    for (const fetchToken of kept) assert.equal(await fetchToken(), 'token');
  });
});
