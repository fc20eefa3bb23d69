import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId, type PasswordLink, type User, type UserDetails, type UserId } from '@tenon/protocol';
import { setOperator, suspendUser } from '../src/auth/manage-users.ts';
import { goodPassword, openJar, type Person, signIn, signUpPerson } from './helpers/jar.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { formOf, type List, makeApp, makeGuest, makeMember, ok, tinyModule } from './helpers/world.ts';

const api = '/api/v1';
const hourMs = 3_600_000;

let service: TestService;
let operator: TestUser;

async function openOperator(name = 'Olga Operator'): Promise<TestUser> {
  const user = await service.user(name);
  await setOperator(service.services.deps, 'operator', user.id, true);
  return user;
}

const call = (method: string, path: string, json?: unknown, token = operator.token) =>
  service.call(method, `${api}/users${path}`, { token, json });
const read = (id: string) => ok<UserDetails>(service, 'GET', `${api}/users/${id}`, { token: operator.token });
const done = async (method: string, path: string) => assert.equal((await call(method, path)).statusCode, 204);

before(async () => {
  service = await openService();
  operator = await openOperator();
});
after(() => service.close());

describe('the list of users', () => {
  let ada: Person;
  let grace: TestUser;
  before(async () => {
    ada = await signUpPerson(service, { name: 'Ada 100%', email: 'lovelace@engines.example' });
    grace = await service.user('grace');
    const owner = await service.user('Olivia');
    const appId = await makeApp(service, owner);
    await makeMember(service, owner, appId, 'viewer', grace);
    await makeGuest(service, owner, appId, 'a', grace);
    await makeGuest(service, owner, appId, 'b', grace);
    await makeGuest(service, owner, await makeApp(service, owner), 'c', grace);
  });
  const found = async (query: Record<string, string>) =>
    (await ok<List<User>>(service, 'GET', `${api}/users?${new URLSearchParams(query)}`, { token: operator.token }))
      .objects;
  const names = async (query: Record<string, string>) => (await found(query)).map(({ name }) => name);

  it('finds users by a part of the name or the address, and by the whole id', async () => {
    assert.deepEqual(await names({ q: 'ADA' }), ['Ada 100%']);
    assert.deepEqual(await names({ q: '@engines' }), ['Ada 100%']);
    assert.deepEqual(await names({ q: '%' }), ['Ada 100%']);
    assert.deepEqual(await names({ q: '_' }), []);
    assert.deepEqual(await names({ q: grace.id }), ['grace']);
    assert.deepEqual(await names({ q: grace.id.slice(0, -1) }), []);
    assert.deepEqual(await names({ q: "' or 1=1 --" }), []);
  });

  it('says what operators need to know, and counts each application once', async () => {
    const [listed] = await found({ q: grace.id });
    assert.equal(listed?.appCount, 2);
    assert.deepEqual(
      [listed.email, listed.isOperator, listed.suspendedAt, listed.lastSeenAt !== undefined],
      [null, false, null, true],
    );
    const { apps, ...rest } = await read(grace.id);
    assert.deepEqual(
      apps.map(({ role }) => role),
      ['viewer', 'guest'],
    );
    assert.deepEqual(
      [rest.appCount, rest.sessionCount, rest.tokenCount, rest.apiKeyCount, rest.pluginCount],
      [2, 0, 1, 0, 0],
    );
    assert.equal((await read(ada.id)).sessionCount, 1);
    assert.ok(!JSON.stringify(await read(grace.id)).includes('guestKey'));
  });

  it('filters by state', async () => {
    assert.deepEqual(await names({ state: 'operator' }), ['Olga Operator']);
    assert.deepEqual(await names({ state: 'suspended' }), []);
    await done('PUT', `/${grace.id}/suspension`);
    assert.deepEqual(await names({ state: 'suspended' }), ['grace']);
    assert.ok(!(await names({ state: 'active' })).includes('grace'));
    await done('DELETE', `/${grace.id}/suspension`);
  });

  it('has the same users in each order, by pages that lead forth and back', async () => {
    await service.services.lastUsed.flush();
    const whole = (await found({})).map(({ id }) => id).toSorted();
    for (const sort of ['createdAt', 'name', 'lastSeenAt']) {
      const up = (await found({ sort })).map(({ id }) => id);
      assert.deepEqual(up.toSorted(), whole);
      assert.deepEqual((await found({ sort: `-${sort}` })).map(({ id }) => id).toReversed(), up);
      const paged: string[] = [];
      let cursor: string | undefined;
      let previous: string | undefined;
      do {
        const query = new URLSearchParams({ sort, limit: '2', ...(cursor && { cursor }) });
        const page = await ok<List<User>>(service, 'GET', `${api}/users?${query}`, { token: operator.token });
        assert.equal(page.total, whole.length);
        paged.push(...page.objects.map(({ id }) => id));
        cursor = page.nextCursor;
        previous = page.previousCursor ?? previous;
      } while (cursor !== undefined);
      assert.deepEqual(paged, up);
      assert.ok(previous);
      const back = await found({ sort, limit: '2', cursor: previous });
      assert.equal(back.length, 2);
    }
    assert.equal((await names({ sort: 'name' }))[0], 'Ada 100%');
  });

  it('takes a cursor that it never returned as the end of the list, or refuses it', async () => {
    for (const cursor of ['lastSeenAt:["x","y"]', 'lastSeenAt:x', 'lastSeenAt:["1"]', 'lastSeenAt:[1,2]']) {
      const query = new URLSearchParams({ sort: 'lastSeenAt', cursor });
      assert.deepEqual((await call('GET', `?${query}`)).json<List<User>>().objects, [], cursor);
    }
    assertProblem(await call('GET', '?sort=name&cursor=createdAt:x'), 400, 'invalid_request');
    assertProblem(await call('GET', '?state=deleted'), 400, 'invalid_request');
  });

  it('has no deleted users', async () => {
    const gone = await service.user('Gone');
    await done('DELETE', `/${gone.id}`);
    assert.deepEqual(await found({ q: gone.id }), []);
    for (const [method, rest] of [
      ['GET', ''],
      ['DELETE', ''],
      ['PUT', '/suspension'],
      ['PUT', '/operator'],
    ] as const) {
      for (const id of [gone.id, newId('user'), 'usr_', '%2e%2e', newId('app')]) {
        assertProblem(await call(method, `/${id}${rest}`), 404, 'not_found');
      }
    }
  });
});

describe('a suspended user', () => {
  const instrument = (key: string) =>
    service.call('POST', '/instrument', { token: key, ...formOf([{ name: 'wasm', content: tinyModule(1) }]) });

  it('can not sign in until the suspension ends, and loses sessions, tokens, and API keys for good', async () => {
    const person = await signUpPerson(service);
    const [token, key, ofPage] = [
      await service.token(person.id),
      await service.apiKey(person.id),
      await person.jar.token(),
    ];
    const me = (with_: string) => service.call('GET', `${api}/me`, { token: with_ });
    for (const each of [token, ofPage]) assert.equal((await me(each)).statusCode, 200);
    assert.equal((await instrument(key)).statusCode, 200);

    await done('PUT', `/${person.id}/suspension`);
    await done('PUT', `/${person.id}/suspension`); // which is so already
    const { suspendedAt } = await read(person.id);
    assert.ok(suspendedAt);
    assertProblem(await me(token), 401, 'invalid_token');
    assertProblem(await instrument(key), 401, 'invalid_token');
    assertProblem(await me(ofPage), 401, 'invalid_token');
    assert.equal((await person.jar.call('GET', '/session')).json().account, null);
    assertProblem(await person.jar.call('POST', '/session/token', {}), 401, 'not_signed_in');
    const { email, password } = person;
    assertProblem(await openJar(service).call('POST', '/session', { email, password }), 403, 'account_suspended');
    const wrong = await openJar(service).call('POST', '/session', { email, password: 'wrong' });
    assertProblem(wrong, 401, 'invalid_credentials');

    await done('DELETE', `/${person.id}/suspension`);
    assertProblem(await me(token), 401, 'invalid_token');
    assertProblem(await instrument(key), 401, 'invalid_token');
    assertProblem(await me(ofPage), 401, 'invalid_token');
    assertProblem(await person.jar.call('POST', '/session/token', {}), 401, 'not_signed_in');
    await signIn(service, person);
  });

  it("can't use a password link, and gets no new one", async () => {
    const person = await signUpPerson(service);
    const make = async () => {
      const { link } = (await call('POST', `/${person.id}/password-link`, {})).json<PasswordLink>();
      return link.slice(link.indexOf('#code=') + '#code='.length);
    };
    const use = async (code: string) =>
      openJar(service).call('POST', '/session/reset-password', { code, password: goodPassword });
    const before = await make();
    await done('PUT', `/${person.id}/suspension`);
    assertProblem(await call('POST', `/${person.id}/password-link`, {}), 409, 'conflict');
    assertProblem(await use(before), 410, 'link_expired');
    await done('DELETE', `/${person.id}/suspension`);
    assert.equal((await use(await make())).statusCode, 200);
  });

  it('loses no plugin, membership, or guest', async () => {
    const owner = await service.user();
    const appId = await makeApp(service, owner);
    await done('PUT', `/${owner.id}/suspension`);
    assert.equal((await read(owner.id)).apps[0]?.id, appId);
    const made = await service.token(owner.id); // by the operator
    assertProblem(await service.call('GET', `${api}/apps/${appId}`, { token: made }), 403, 'account_suspended');
    assertProblem(await service.call('GET', `${api}/apps/none`, { token: made }), 403, 'account_suspended');
  });
});

describe('operators', () => {
  it("can't suspend, delete, or demote themselves", async () => {
    assertProblem(await call('PUT', `/${operator.id}/suspension`), 409, 'conflict');
    assertProblem(await call('DELETE', `/${operator.id}`), 409, 'conflict');
    assertProblem(await call('DELETE', `/${operator.id}/operator`), 409, 'conflict');
    assert.equal((await read(operator.id)).suspendedAt, null);
  });

  it('who suspend each other at the same time leave one operator', async () => {
    const other = await openOperator('Oscar');
    const statuses = await Promise.all([
      call('PUT', `/${other.id}/suspension`),
      call('PUT', `/${operator.id}/suspension`, undefined, other.token),
    ]);
    assert.deepEqual(statuses.map(({ statusCode }) => statusCode).sort(), [204, 401]);
    const [lost, won] = statuses[0]?.statusCode === 204 ? [other, operator] : [operator, other];
    operator = won;
    await done('DELETE', `/${lost.id}/suspension`);
    await done('DELETE', `/${lost.id}/operator`);
    assertProblem(await call('GET', '', undefined, lost.token), 401, 'invalid_token');
  });

  it('on the store can suspend an operator, but not the last one', async () => {
    const { deps } = service.services;
    await assert.rejects(suspendUser(deps, 'operator', operator.id), { code: 'conflict' });
    const other = await openOperator('Oscar');
    assert.equal(await suspendUser(deps, 'operator', other.id), true);
    await assert.rejects(suspendUser(deps, 'operator', operator.id), { code: 'conflict' });
    await setOperator(deps, 'operator', other.id, false);
  });

  it('make others operators, who act at once', async () => {
    const user = await service.user();
    assertProblem(await call('GET', '', undefined, user.token), 403, 'forbidden');
    await done('PUT', `/${user.id}/operator`);
    assert.equal((await call('GET', '', undefined, user.token)).statusCode, 200);
    await done('DELETE', `/${user.id}/operator`);
    assertProblem(await call('GET', `/${user.id}`, undefined, user.token), 403, 'forbidden');
  });

  it('need a token with `manage` that is not restricted to an application', async () => {
    const appId = await makeApp(service, operator);
    const within = await service.token(operator.id, { appId });
    assertProblem(await call('GET', '', undefined, within), 403, 'forbidden');
    const reading = await service.token(operator.id, { scopes: ['read', 'publish'] });
    assertProblem(await call('GET', '', undefined, reading), 403, 'insufficient_scope');
    assertProblem(await call('GET', '', undefined, await service.apiKey(operator.id)), 401, 'invalid_token');
  });

  it('delete users with their plugins, but not the only owner of an application', async () => {
    const owner = await service.user('Owner');
    const appId = await makeApp(service, owner);
    const guest = await service.user('Guest');
    await makeGuest(service, owner, appId, 'a', guest);
    const refused = assertProblem(await call('DELETE', `/${owner.id}`), 409, 'conflict');
    assert.match(refused.detail, /only owner/);
    await done('DELETE', `/${guest.id}`);
    assertProblem(await service.call('GET', `${api}/me`, { token: guest.token }), 401, 'invalid_token');
    const trail = await ok<List<{ action: string; by: string; user: unknown }>>(
      service,
      'GET',
      `${api}/apps/${appId}/audit?action=account.delete`,
      { token: owner.token },
    );
    assert.deepEqual(
      trail.objects.map(({ by, user }) => [by, user]),
      [['operator', null]],
      'the team does not learn which operator',
    );
  });

  it('set the address of a user who has none with a password link', async () => {
    const { id } = await service.user();
    assertProblem(await call('POST', `/${id}/password-link`, {}), 422, 'invalid_field');
    const email = `${newId('user')}@example.org`;
    const made = await call('POST', `/${id}/password-link`, { email });
    assert.equal(made.statusCode, 201);
    assert.equal((await read(id)).email, email);
    const other = await service.user();
    assertProblem(await call('POST', `/${other.id}/password-link`, { email }), 409, 'email_taken');
    assertProblem(await call('POST', `/${id}/password-link`, { email: 'b@example.org' }), 422, 'invalid_field');
  });
});

describe('the time a user was last seen', () => {
  it('is stored to the hour, once an hour, whatever credential is used', async () => {
    const user = await service.user();
    const stored = async () => (await service.store.read.user(user.id as UserId))?.lastSeenAtMs;
    assert.equal(await stored(), 0);
    assert.equal((await read(user.id)).lastSeenAt, null);
    const use = (token: string) => service.call('GET', `${api}/me`, { token });
    await use(user.token);
    await service.services.lastUsed.flush();
    const nowMs = service.services.deps.clock();
    assert.equal(await stored(), nowMs - (nowMs % hourMs));
    const seen = await read(user.id);
    assert.ok((seen.lastSeenAt ?? '') >= seen.createdAt, 'not before the account was created');
    const other = await service.token(user.id);
    await use(other);
    await service.services.lastUsed.flush();
    assert.equal(await stored(), nowMs - (nowMs % hourMs));
    service.advance(hourMs);
    await use(await service.token(user.id));
    await service.services.lastUsed.flush();
    assert.ok(((await stored()) ?? 0) > nowMs - (nowMs % hourMs));
  });
});
