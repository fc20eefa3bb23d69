import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Account, Member, Session, SessionState } from '@tenon/protocol';
import { createApp } from '../src/apps/apps.ts';
import { acceptInvitation } from '../src/apps/invitations.ts';
import type { Actor } from '../src/auth/access.ts';
import { authenticateToken } from '../src/auth/authenticate.ts';
import { createPasswordLink } from '../src/auth/manage-users.ts';
import { hashSecret } from '../src/auth/secrets.ts';
import { issueSessionToken } from '../src/auth/sessions.ts';
import { createApiKey, createToken } from '../src/auth/tokens.ts';
import type { SessionRecord } from '../src/db/records.ts';
import type { Store } from '../src/db/store.ts';
import type { Deps } from '../src/deps.ts';
import { accountExample } from '../src/http/examples.ts';
import { goodPassword, openJar, type Person, signIn, signUpPerson } from './helpers/jar.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import {
  invite,
  type List,
  makeApp,
  makeExtensionPoint,
  makeGuest,
  makeMember,
  makeWorld,
  ok,
  publishAs,
  tinyModule,
} from './helpers/world.ts';

const api = '/api/v1';
const day = 24 * 3_600_000;
const newPassword = 'four candles, no fork handles';

let service: TestService;
before(async () => {
  service = await openService();
});
after(() => service.close());

async function put(person: Person, path: string, json: object) {
  return service.call('PUT', api + path, { token: await person.jar.token(), json });
}

async function isSignedIn({ jar }: Pick<Person, 'jar'>): Promise<boolean> {
  return (await jar.call('GET', '/session')).json<SessionState>().account !== null;
}

function credentials({ email, password }: Person) {
  return { email, password };
}

/** A user as the other helpers know one: with a token of all scopes. */
async function withToken(person: Person) {
  return { id: person.id, token: await service.token(person.id) };
}

describe('an account', () => {
  it('changes its name, and keeps it if none is sent', async () => {
    const person = await signUpPerson(service, { name: 'Ada' });
    const answer = await put(person, '/me', { name: 'Ada Lovelace' });
    assert.deepEqual(answer.json<Account>(), {
      id: person.id,
      name: 'Ada Lovelace',
      email: person.email,
      isOperator: false,
      mayCreateApps: true,
      isEmailVerified: false,
      hasPassword: true,
      notices: accountExample.notices,
    });
    assert.equal((await put(person, '/me', {})).json<Account>().name, 'Ada Lovelace');
    assertProblem(await put(person, '/me', { name: '' }), 422, 'invalid_field');
    const state = (await person.jar.call('GET', '/session')).json<SessionState>();
    assert.equal(state.account?.name, 'Ada Lovelace');
  });
});

describe('changing a password', () => {
  it('requires the current password, and ends other sessions but not tokens', async () => {
    const person = await signUpPerson(service);
    const elsewhere = await signIn(service, person);
    const [program, pages] = [await service.token(person.id), await elsewhere.token()];
    const json = { currentPassword: person.password, newPassword };
    assertProblem(await put(person, '/me/password', { ...json, currentPassword: 'wrong' }), 401, 'invalid_credentials');
    const weak = assertProblem(
      await put(person, '/me/password', { ...json, newPassword: 'password123' }),
      422,
      'weak_password',
    );
    assert.equal(weak.errors?.[0]?.pointer, '/newPassword');
    assert.equal((await put(person, '/me/password', json)).statusCode, 204);

    assert.equal(await isSignedIn(person), true);
    assert.equal(await isSignedIn({ jar: elsewhere }), false);
    assertProblem(await service.call('GET', `${api}/me`, { token: pages }), 401, 'invalid_token');
    assert.equal((await service.call('GET', `${api}/me`, { token: program })).statusCode, 200);
    assertProblem(await openJar(service).call('POST', '/session', credentials(person)), 401, 'invalid_credentials');
    await signIn(service, { ...person, password: newPassword });
  });

  it('revokes tokens and keys on request', async () => {
    const person = await signUpPerson(service);
    const [token, key] = [await service.token(person.id), await service.apiKey(person.id)];
    const json = { currentPassword: person.password, newPassword, revokeTokens: true };
    assert.equal((await put(person, '/me/password', json)).statusCode, 204);
    assertProblem(await service.call('GET', `${api}/me`, { token }), 401, 'invalid_token');
    assertProblem(await service.call('POST', '/instrument', { token: key }), 401, 'invalid_token');
    assert.equal(await isSignedIn(person), true);
  });

  it("ends every session if a program's token makes the change", async () => {
    const person = await signUpPerson(service);
    const token = await service.token(person.id);
    const json = { currentPassword: person.password, newPassword };
    assert.equal((await service.call('PUT', `${api}/me/password`, { token, json })).statusCode, 204);
    assert.equal(await isSignedIn(person), false);
    assert.deepEqual((await ok<List<Session>>(service, 'GET', `${api}/sessions`, { token })).objects, []);
  });

  it("removes the account's known browsers", async () => {
    const person = await signUpPerson(service);
    const { store } = service.services.deps;
    const known = hashSecret(person.jar.cookies.get('tenon-browser-8366') ?? '');
    assert.equal((await store.read.knownBrowserByHash(known))?.userId, person.id);
    await put(person, '/me/password', { currentPassword: person.password, newPassword });
    assert.equal(await store.read.knownBrowserByHash(known), undefined);
  });

  it('succeeds once for two concurrent requests', async () => {
    const person = await signUpPerson(service);
    const responses = await Promise.all(
      [1, 2].map((at) =>
        put(person, '/me/password', { currentPassword: person.password, newPassword: newPassword + at }),
      ),
    );
    const statuses = responses.map(({ statusCode }) => statusCode).sort();
    assert.ok(statuses.join() === '204,409' || statuses.join() === '204,401', statuses.join());
  });
});

describe('a password link', () => {
  it('sets a password once, signs in, and ends all sessions', async () => {
    const person = await signUpPerson(service);
    const { code } = await createPasswordLink(service.services.deps, 'operator', person.id);
    const jar = openJar(service);
    const info = (await jar.call('POST', '/session/link', { code })).json();
    assert.deepEqual([info.purpose, info.email], ['reset_password', person.email]);
    assertProblem(
      await jar.call('POST', '/session/reset-password', { code, password: 'password123' }),
      422,
      'weak_password',
    );
    assertProblem(
      await jar.call('POST', '/session/sign-up', { ...credentials(person), name: 'x', linkCode: code }),
      404,
      'not_found',
    );
    const responses = await Promise.all(
      [1, 2, 3].map((at) =>
        openJar(service).call('POST', '/session/reset-password', { code, password: newPassword + at }),
      ),
    );
    assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [200, 410, 410]);
    for (const answer of responses) if (answer.statusCode !== 200) assertProblem(answer, 410, 'link_used');
    assert.equal(await isSignedIn(person), false);
    const at = responses.findIndex(({ statusCode }) => statusCode === 200) + 1;
    await signIn(service, { ...person, password: newPassword + at });
  });

  it('stops working after a day', async () => {
    const own = await openService();
    try {
      const person = await signUpPerson(own);
      const { code } = await createPasswordLink(own.services.deps, 'operator', person.id);
      own.advance(day);
      const answer = await openJar(own).call('POST', '/session/reset-password', { code, password: newPassword });
      assertProblem(answer, 410, 'link_expired');
      assert.equal(await isSignedIn(person), true);
    } finally {
      await own.close();
    }
  });

  it('lets a user that the operator created sign in', async () => {
    const { deps } = service.services;
    const made = await service.user('Made by the operator');
    await assert.rejects(createPasswordLink(deps, 'operator', made.id), { code: 'invalid_field' });
    const { code } = await createPasswordLink(deps, 'operator', made.id, 'Made@Example.org');
    await assert.rejects(createPasswordLink(deps, 'operator', made.id, 'other@example.org'), { code: 'invalid_field' });
    const other = await service.user('Another');
    await assert.rejects(createPasswordLink(deps, 'operator', other.id, 'made@example.org'), { code: 'email_taken' });
    const jar = openJar(service);
    const answer = await jar.call('POST', '/session/reset-password', { code, password: goodPassword });
    assert.deepEqual(answer.json<SessionState>().account, {
      id: made.id,
      name: 'Made by the operator',
      email: 'made@example.org',
      isOperator: false,
      mayCreateApps: true,
      isEmailVerified: false,
      hasPassword: true,
      notices: accountExample.notices,
    });
  });
});

describe('deleting an account', () => {
  const deletion = async ({ jar }: Person, json: object = { password: goodPassword }) =>
    service.call('POST', `${api}/me/deletion`, { token: await jar.token(), json });

  it('requires the password, and leaves no credentials or data', async () => {
    const owner = await service.user('Olga');
    const appId = await makeApp(service, owner);
    const extensionPointId = await makeExtensionPoint(service, owner, appId);
    const person = await signUpPerson(service, { name: 'Gustav' });
    const { id, token } = await withToken(person);
    const key = await service.apiKey(id);
    await makeGuest(service, owner, appId, 'globex', { id, token });
    await publishAs(service, { id, token }, extensionPointId, 'median', tinyModule(3));
    await makeMember(service, owner, appId, 'viewer', { token });
    const bindings = () =>
      ok(service, 'GET', `${api}/extension-points/${extensionPointId}/bindings/globex`, { token: owner.token });
    assert.notDeepEqual(await bindings(), {});
    const pages = await person.jar.token();

    assertProblem(await deletion(person, {}), 403, 'step_up_required');
    assertProblem(await deletion(person, { password: 'wrong' }), 401, 'invalid_credentials');
    assert.equal((await deletion(person)).statusCode, 204);

    assert.deepEqual(await bindings(), {});
    for (const dead of [token, pages])
      assertProblem(await service.call('GET', `${api}/me`, { token: dead }), 401, 'invalid_token');
    assertProblem(await service.call('POST', '/instrument', { token: key }), 401, 'invalid_token');
    assert.equal(await isSignedIn(person), false);
    assertProblem(await openJar(service).call('POST', '/session', credentials(person)), 401, 'invalid_credentials');
    const members = await ok<List<Member>>(service, 'GET', `${api}/apps/${appId}/members`, { token: owner.token });
    assert.deepEqual(
      members.objects.map(({ userId }) => userId),
      [owner.id],
    );
    const path = `${api}/apps/${appId}/members/${id}`;
    assertProblem(await service.call('PUT', path, { token: owner.token, json: { role: 'viewer' } }), 404, 'not_found');
    await signUpPerson(service, { email: person.email }); // the address is free again
  });

  it('is rejected for the only owner of an application, with its name', async () => {
    const person = await signUpPerson(service);
    const self = await withToken(person);
    const appId = await makeApp(service, self);
    await ok(service, 'PUT', `${api}/apps/${appId}`, { token: self.token, json: { name: 'Acme <b>Spreadsheet</b>' } });
    const { detail } = assertProblem(await deletion(person), 409, 'conflict');
    assert.match(detail ?? '', /"Acme <b>Spreadsheet<\/b>"/);
    const other = await service.user('Another');
    await makeMember(service, self, appId, 'owner', other);
    assert.equal((await deletion(person)).statusCode, 204);
  });

  it('leaves nothing of concurrent requests', async () => {
    const { deps } = service.services;
    const { store } = deps;
    const owner = await withToken(await signUpPerson(service));
    const appId = await makeApp(service, owner);
    const code = await invite(service, owner, appId, 'a-key');
    const attempts: readonly [(racing: Deps, actor: Actor, session: SessionRecord) => Promise<unknown>, string][] = [
      [(racing, actor) => createToken(racing, actor, { name: 'a' }), 'invalid_token'],
      [(racing, actor) => createApiKey(racing, actor, { name: 'a' }), 'invalid_token'],
      [(racing, actor) => createApp(racing, actor, 'a'), 'invalid_token'],
      [(racing, actor) => acceptInvitation(racing, actor, code), 'invalid_token'],
      [(racing, _, session) => issueSessionToken(racing, session), 'not_signed_in'],
    ];
    for (const [attempt, code] of attempts) {
      const person = await signUpPerson(service);
      const actor = await authenticateToken(deps, await service.token(person.id));
      const [session] = await store.read.sessions(person.id, {});
      assert.ok(session);
      // The account is deleted after everything was looked at, and before anything is written.
      const write: Store['write'] = async (work) => {
        await service.store.write((tx) => tx.eraseUser(person.id, { name: 'Gone', deletedAtMs: 1 }));
        return store.write(work);
      };
      await assert.rejects(attempt({ ...deps, store: { ...store, write } }, actor, session), { code });
      assert.deepEqual(await store.read.tokens(person.id, undefined, {}), []);
      assert.deepEqual(await store.read.apiKeys(person.id, {}), []);
      assert.deepEqual(await store.read.appsOf(person.id, undefined, {}), []);
    }
  });

  it('needs no password for an account without one', async () => {
    const { token } = await service.user('Made by the operator');
    assert.equal((await service.call('POST', `${api}/me/deletion`, { token, json: {} })).statusCode, 204);
    assertProblem(await service.call('GET', `${api}/me`, { token }), 401, 'invalid_token');
  });
});

describe('logs', () => {
  it('contain no password, code, cookie, token or e-mail address', async () => {
    const person = await signUpPerson(service, { email: 'unloggable@example.org' });
    const { code } = await createPasswordLink(service.services.deps, 'operator', person.id);
    await person.jar.call('POST', '/session/link', { code });
    await openJar(service).call('POST', '/session', { email: person.email, password: 'unloggable password' });
    const token = await person.jar.token();
    const secrets = [...person.jar.cookies.values(), goodPassword, newPassword, 'unloggable', code, token];
    const log = service.logged.join('\n');
    assert.ok(log.includes('POST /session'));
    for (const secret of secrets) assert.ok(!log.includes(secret));
  });
});

describe('what a read token reveals about its owner', () => {
  it("does not include the e-mail address, sessions, or the account's audit trail", async () => {
    const own = await openService();
    try {
      const { owner, appId } = await makeWorld(own);
      const person = await signUpPerson(own);
      const emailBy = async (token: string) =>
        (await own.call('GET', '/api/v1/me', { token })).json<{ email: string | null }>().email;
      const reading = await own.token(person.id, { scopes: ['read'] });
      assert.equal(await emailBy(reading), null);
      assert.equal(await emailBy(await own.token(owner.id, { scopes: ['read', 'manage'], appId })), null);
      assert.equal(await emailBy(await own.token(person.id, { scopes: ['read', 'publish'] })), person.email);
      for (const scopes of [['read'], ['read', 'publish']] as const) {
        const token = await own.token(person.id, { scopes: [...scopes] });
        for (const path of ['/api/v1/sessions', '/api/v1/me/audit']) {
          assertProblem(await own.call('GET', path, { token }), 403, 'insufficient_scope');
        }
      }
    } finally {
      await own.close();
    }
  });
});
