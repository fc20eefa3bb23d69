import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Session, SessionState, TokenCreated, TokenInfo } from '@tenon/protocol';
import { accountExample } from '../src/http/examples.ts';
import { goodPassword, openJar, type Person, signIn, signUpPerson } from './helpers/jar.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { type List, ok } from './helpers/world.ts';

const api = '/api/v1';
const hour = 3_600_000;
const day = 24 * hour;

let service: TestService;
before(async () => {
  service = await openService({ config: { signInsPerMinute: 1000 } });
});
after(() => service.close());

async function sessionsOf(token: string): Promise<Session[]> {
  return (await ok<List<Session>>(service, 'GET', `${api}/sessions`, { token })).objects;
}

describe('signing in', () => {
  it("returns the signed-in user, and sets cookies that scripts and other sites can't use", async () => {
    const person = await signUpPerson(service, { name: 'Ada' });
    const jar = openJar(service);
    const settings = {
      signUp: 'invitation',
      createApps: 'all',
      maxModuleBytes: 67_108_864,
      sendsMail: false,
      passwordSignIn: true,
      providers: [],
    };
    const before = (await jar.call('GET', '/session')).json<SessionState>();
    assert.deepEqual(before, { ...settings, account: null });
    const response = await jar.call('POST', '/session', { email: person.email, password: person.password });
    const account = {
      id: person.id,
      name: 'Ada',
      email: person.email,
      isOperator: false,
      mayCreateApps: true,
      isEmailVerified: false,
      hasPassword: true,
      notices: accountExample.notices,
    };
    assert.deepEqual(response.json(), { ...settings, account });
    assert.equal(response.headers['cache-control'], 'no-store');
    const [session, browser] = [response.headers['set-cookie']].flat();
    assert.match(
      session ?? '',
      /^tenon-session-8366=[\w-]{43}; Path=\/; Max-Age=(2592000|25919\d\d); HttpOnly; SameSite=Lax$/,
    );
    assert.match(browser ?? '', /^tenon-browser-8366=[\w-]{43}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/);
    assert.deepEqual((await jar.call('GET', '/session')).json<SessionState>().account, account);
  });

  it('ignores the case of the address and the Unicode form of the password', async () => {
    const password = 'caf\u00e9 au lait, drei St\u00fcck';
    const person = await signUpPerson(service, { email: 'Grace.Hopper@Example.org', password });
    const other = {
      ...person,
      email: ' grace.hopper@EXAMPLE.org',
      password: password.normalize('NFD').replace(' ', '\u00a0'),
    };
    await signIn(service, other);
  });

  it("creates a session with a new secret, and ends the browser's previous one", async () => {
    const { jar, ...person } = await signUpPerson(service);
    const before = jar.cookies.get('tenon-session-8366');
    const token = await jar.token();
    await signIn(service, { jar, ...person }, jar);
    assert.notEqual(jar.cookies.get('tenon-session-8366'), before);
    const old = openJar(service);
    old.cookies.set('tenon-session-8366', before ?? '');
    assert.equal((await old.call('GET', '/session')).json<SessionState>().account, null);
    assertProblem(await service.call('GET', `${api}/me`, { token }), 401, 'invalid_token');
    assert.equal((await sessionsOf(await jar.token())).length, 1);
  });

  it('never adopts a secret that a browser sends', async () => {
    const person = await signUpPerson(service);
    const jar = openJar(service);
    jar.cookies.set('tenon-session-8366', 'A'.repeat(43)).set('tenon-browser-8366', 'B'.repeat(43));
    await signIn(service, person, jar);
    assert.notEqual(jar.cookies.get('tenon-session-8366'), 'A'.repeat(43));
    assert.notEqual(jar.cookies.get('tenon-browser-8366'), 'B'.repeat(43));
  });

  it('keeps up to a hundred sessions of an account, and then ends the oldest', async () => {
    const person = await signUpPerson(service);
    const first = person.jar;
    for (let round = 0; round < 100; round++) await signIn(service, person);
    assert.equal((await first.call('GET', '/session')).json<SessionState>().account, null);
    const jar = await signIn(service, person);
    assert.equal((await sessionsOf(await jar.token())).length, 100);
  });
});

describe('signing out', () => {
  it('ends the session, its cookie and the tokens of its pages', async () => {
    const { jar } = await signUpPerson(service);
    const cookie = jar.cookies.get('tenon-session-8366') ?? '';
    const token = await jar.token();
    const response = await jar.call('DELETE', '/session');
    assert.equal(response.statusCode, 204);
    assert.match(String(response.headers['set-cookie']), /^tenon-session-8366=; Path=\/; Max-Age=0;/);
    assert.ok(!jar.cookies.has('tenon-session-8366') && jar.cookies.has('tenon-browser-8366'));
    jar.cookies.set('tenon-session-8366', cookie);
    assertProblem(await jar.call('DELETE', '/session'), 401, 'not_signed_in');
    assertProblem(await service.call('GET', `${api}/me`, { token }), 401, 'invalid_token');
  });
});

describe('sessions', () => {
  it('are listed with their browser and address, and can be ended one by one', async () => {
    const person = await signUpPerson(service);
    const other = openJar(service);
    const headers = { 'user-agent': `Other/1.0 ${'x'.repeat(1000)}` };
    await other.call('POST', '/session', { email: person.email, password: person.password }, headers);
    const [here, there] = [await person.jar.token(), await other.token()];
    const listed = await sessionsOf(here);
    assert.deepEqual(
      listed.map(({ isCurrent }) => isCurrent),
      [true, false],
    );
    const [, elsewhere] = listed;
    assert.ok(elsewhere);
    assert.match(elsewhere.userAgent ?? '', /^Other\/1\.0 x{290}$/);
    assert.equal(elsewhere.address, '127.0.0.1');
    const stranger = await signUpPerson(service);
    const path = `${api}/sessions/${elsewhere.id}`;
    assertProblem(await service.call('DELETE', path, { token: await stranger.jar.token() }), 404, 'not_found');
    await ok(service, 'DELETE', path, { token: here });
    assertProblem(await service.call('DELETE', path, { token: here }), 404, 'not_found');
    assertProblem(await service.call('GET', `${api}/me`, { token: there }), 401, 'invalid_token');
    assert.equal((await other.call('GET', '/session')).json<SessionState>().account, null);
    assert.equal((await sessionsOf(here)).length, 1);
  });

  it('come in pages', async () => {
    const person = await signUpPerson(service);
    for (let round = 0; round < 4; round++) await signIn(service, person);
    const token = await person.jar.token();
    const all = (await sessionsOf(token)).map(({ id }) => id);
    const first = await ok<List<Session>>(service, 'GET', `${api}/sessions?limit=3`, { token });
    const rest = await ok<List<Session>>(service, 'GET', `${api}/sessions?limit=3&cursor=${first.nextCursor}`, {
      token,
    });
    assert.deepEqual(
      [...first.objects, ...rest.objects].map(({ id }) => id),
      all,
    );
    assert.equal(rest.nextCursor, undefined);
  });

  it('store their last use to the minute, by the page and by its token', async () => {
    const { jar } = await signUpPerson(service);
    const token = await jar.token();
    const [before] = await sessionsOf(token);
    service.advance(5 * 60_000);
    await jar.call('GET', '/session');
    await service.services.lastUsed.flush();
    const [between] = await sessionsOf(token);
    assert.ok(Date.parse(between?.lastUsedAt ?? '') - Date.parse(before?.lastUsedAt ?? '') > 4 * 60_000);
    service.advance(5 * 60_000);
    await ok(service, 'GET', `${api}/me`, { token });
    await service.services.lastUsed.flush();
    const [after] = await sessionsOf(token);
    assert.ok(Date.parse(after?.lastUsedAt ?? '') - Date.parse(between?.lastUsedAt ?? '') > 4 * 60_000);
  });

  it('expire, and are then not listed', async () => {
    const own = await openService({ config: { sessionLifetimeMs: 2 * hour } });
    try {
      const person = await signUpPerson(own);
      own.advance(1.5 * hour);
      const jar = await signIn(own, person);
      const { expiresAt } = (await person.jar.call('POST', '/session/token', {})).json<{ expiresAt: string }>();
      assert.ok(Date.parse(expiresAt) - own.services.deps.clock() <= 0.5 * hour, 'a token ends with its session');
      own.advance(0.6 * hour);
      assertProblem(await person.jar.call('POST', '/session/token', {}), 401, 'not_signed_in');
      const { objects } = await ok<List<Session>>(own, 'GET', `${api}/sessions`, { token: await jar.token() });
      assert.deepEqual(
        objects.map(({ isCurrent }) => isCurrent),
        [true],
      );
    } finally {
      await own.close();
    }
  });

  it('are deleted with the tokens of their pages after they have ended', async () => {
    const own = await openService();
    try {
      const { jar, id } = await signUpPerson(own);
      await jar.token();
      const { store, clock } = own.services.deps;
      await store.write((tx) => tx.deleteExpired(clock() + 31 * day));
      assert.deepEqual(await store.read.sessions(id, {}), []);
    } finally {
      await own.close();
    }
  });
});

describe("a session's token", () => {
  let person: Person;
  before(async () => {
    person = await signUpPerson(service);
  });

  it('has all scopes for an hour, and is not among the tokens', async () => {
    const response = await person.jar.call('POST', '/session/token', {});
    const {
      accessToken: token,
      scopes,
      expiresAt,
    } = response.json<{ accessToken: string; scopes: string[]; expiresAt: string }>();
    assert.deepEqual(scopes, ['read', 'publish', 'manage']);
    assert.ok(Math.abs(Date.parse(expiresAt) - service.services.deps.clock() - hour) < 5_000);
    assert.deepEqual(await ok(service, 'GET', `${api}/tokens`, { token }), { objects: [] });
    service.advance(hour);
    assertProblem(await service.call('GET', `${api}/me`, { token }), 401, 'invalid_token');
  });

  it("can create tokens that outlive it, which a program's token can't", async () => {
    const token = await person.jar.token();
    const json = { name: 'CI', scopes: ['read', 'publish'], expiresInDays: 90 };
    await person.jar.call('POST', '/session/confirm', { password: goodPassword });
    const made = await ok<TokenCreated>(service, 'POST', `${api}/tokens`, { token, json });
    assert.ok(Date.parse(made.expiresAt) > service.services.deps.clock() + 89 * day);
    await person.jar.call('DELETE', '/session');
    const me = await ok<{ token: TokenInfo }>(service, 'GET', `${api}/me`, { token: made.token });
    assert.equal(me.token.name, 'CI', 'it does not end with the session');
    await signIn(service, person, person.jar);
  });

  it('requires a recently entered password for far-reaching changes', async () => {
    const token = async () => person.jar.token();
    const farReaching: readonly [string, object][] = [
      ['/tokens', { name: 'a', scopes: ['manage'] }],
      ['/tokens', { name: 'all of them, as the token that asks' }],
      ['/tokens', { name: 'a', scopes: ['read'] }],
      ['/api-keys', { name: 'a' }],
    ];
    const post = async (path: string, json: object) => service.call('POST', api + path, { token: await token(), json });
    for (const [path, json] of farReaching) assert.equal((await post(path, json)).statusCode, 201, 'just signed in');
    service.advance(5 * 60_000);
    for (const [path, json] of farReaching) assertProblem(await post(path, json), 403, 'step_up_required');
    assertProblem(await person.jar.call('POST', '/session/confirm', { password: 'wrong' }), 401, 'invalid_credentials');
    for (const [path, json] of farReaching) assertProblem(await post(path, json), 403, 'step_up_required');
    assert.equal((await person.jar.call('POST', '/session/confirm', { password: goodPassword })).statusCode, 204);
    for (const [path, json] of farReaching) assert.equal((await post(path, json)).statusCode, 201);
  });
});
