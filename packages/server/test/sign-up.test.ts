import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type InvitationPreview, type Me, newId, type SessionState } from '@tenon/protocol';
import { createPasswordLink } from '../src/auth/manage-users.ts';
import { createSetUpLink } from '../src/auth/one-time-links.ts';
import { createUser } from '../src/auth/users.ts';
import type { Config } from '../src/config/config.ts';
import { goodPassword, openJar, signUpPerson } from './helpers/jar.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { invite, makeWorld, ok, type World } from './helpers/world.ts';

const api = '/api/v1';
const day = 24 * 3_600_000;

let service: TestService;
let world: World;
before(async () => {
  service = await openService({ config: { codeTriesPerMinute: 1000 } });
  world = await makeWorld(service);
});
after(() => service.close());

/** What a new person fills in. */
function form(fields: object = {}) {
  return { name: 'Grace', email: `${newId('user')}@example.org`, password: goodPassword, ...fields };
}

function signUp(fields: object, jar = openJar(service)) {
  return jar.call('POST', '/session/sign-up', form(fields));
}

function preview(code: string) {
  return service.call('POST', `${api}/invitations/preview`, { json: { code } });
}

const freshCode = () => invite(service, world.owner, world.appId, newId('guest'));

describe('signing up through an invitation', () => {
  it("creates an account and signs in, but doesn't accept the invitation", async () => {
    const code = await freshCode();
    assert.deepEqual((await preview(code)).json<InvitationPreview>().allowsSignUp, true);
    const jar = openJar(service);
    const response = await signUp({ name: 'Grace', invitationCode: code }, jar);
    assert.equal(response.statusCode, 201, response.payload);
    const { account } = response.json<SessionState>();
    assert.equal(account?.name, 'Grace');
    assert.deepEqual((await jar.call('GET', '/session')).json<SessionState>().account, account);

    const token = await jar.token();
    assert.deepEqual(await ok(service, 'GET', `${api}/apps`, { token }), { objects: [], total: 0 });
    assert.equal((await preview(code)).json<InvitationPreview>().allowsSignUp, false);
    const accepted = await ok<{ status: string }>(service, 'POST', `${api}/invitations/accept`, {
      token,
      json: { code },
    });
    assert.equal(accepted.status, 'accepted');
    assertProblem(await preview(code), 410, 'invitation_used');
  });

  it('never shows the guest key', async () => {
    const code = await invite(service, world.owner, world.appId, 'a-very-private-key');
    const jar = openJar(service);
    const responses = [await preview(code), await signUp({ invitationCode: code }, jar)];
    const token = await jar.token();
    responses.push(await service.call('POST', `${api}/invitations/accept`, { token, json: { code } }));
    for (const path of ['me', 'apps', 'sessions'])
      responses.push(await service.call('GET', `${api}/${path}`, { token }));
    for (const { payload, headers } of responses) {
      assert.ok(!(payload + JSON.stringify(headers)).includes('a-very-private-key'));
    }
    assert.ok(!service.logged.join().includes('a-very-private-key'));
  });

  it('creates at most one account from simultaneous requests', async () => {
    const code = await freshCode();
    const responses = await Promise.all(Array.from({ length: 6 }, () => signUp({ invitationCode: code })));
    const statuses = responses.map(({ statusCode }) => statusCode).sort();
    assert.deepEqual(statuses, [201, 410, 410, 410, 410, 410]);
    for (const answer of responses) if (answer.statusCode !== 201) assertProblem(answer, 410, 'invitation_used');
  });

  it('keeps the invitation usable when the request is otherwise invalid', async () => {
    const code = await freshCode();
    const { email } = await signUpPerson(service);
    assertProblem(await signUp({ invitationCode: code, email }), 409, 'email_taken');
    assertProblem(await signUp({ invitationCode: code, password: 'password123' }), 422, 'weak_password');
    assertProblem(await signUp({ invitationCode: code, email: 'nobody' }), 422, 'invalid_field');
    assertProblem(await signUp({ invitationCode: code, name: ' ' }), 422, 'invalid_field');
    assert.equal((await signUp({ invitationCode: code })).statusCode, 201);
  });

  it("reports why a code doesn't work", async () => {
    const own = await openService();
    try {
      const { owner, appId } = await makeWorld(own);
      const attempt = (invitationCode: string) =>
        openJar(own).call('POST', '/session/sign-up', form({ invitationCode }));
      const [old, revoked, declined] = await Promise.all([1, 2, 3].map((key) => invite(own, owner, appId, `k${key}`)));
      assert.ok(old && revoked && declined);
      const path = `${api}/apps/${appId}/invitations`;
      const listed = await ok<{ objects: { id: string; guestKey: string }[] }>(own, 'GET', path, {
        token: owner.token,
      });
      const { id } = listed.objects.find(({ guestKey }) => guestKey === 'k2') ?? { id: '' };
      await ok(own, 'DELETE', `${path}/${id}`, { token: owner.token });
      await ok(own, 'POST', `${api}/invitations/decline`, { token: owner.token, json: { code: declined } });
      own.advance(8 * day);
      for (const [code, status, problem] of [
        [old, 410, 'invitation_expired'],
        [revoked, 410, 'invitation_revoked'],
        [declined, 410, 'invitation_used'],
        ['A'.repeat(43), 404, 'not_found'],
        ['\u0000', 422, 'invalid_field'],
      ] as const) {
        assertProblem(await attempt(code), status, problem);
        assertProblem(await own.call('POST', `${api}/invitations/preview`, { json: { code } }), status, problem);
      }
    } finally {
      await own.close();
    }
  });

  it('limits the unknown codes from one address', async () => {
    const own = await openService({ config: { codeTriesPerMinute: 4 } });
    try {
      const { owner, appId } = await makeWorld(own);
      const code = await invite(own, owner, appId, 'k');
      const paths: readonly [string, object][] = [
        ['/session/sign-up', form({ invitationCode: 'nobodys' })],
        ['/session/sign-up', form({ linkCode: 'nobodys' })],
        ['/session/link', { code: 'nobodys' }],
        ['/session/reset-password', { code: 'nobodys', password: goodPassword }],
      ];
      const jar = openJar(own);
      for (const [path, json] of paths) assertProblem(await jar.call('POST', path, json), 404, 'not_found');
      for (const [path, json] of paths) {
        const refused = await jar.call('POST', path, json);
        assertProblem(refused, 429, 'rate_limited');
        assert.equal(refused.headers['retry-after'], '15');
      }
      const refused = await own.call('POST', `${api}/invitations/preview`, { json: { code } });
      assertProblem(refused, 429, 'rate_limited');
      own.advance(15_000);
      assert.equal((await own.call('POST', `${api}/invitations/preview`, { json: { code } })).statusCode, 200);
    } finally {
      await own.close();
    }
  });
});

describe('signing up', () => {
  it('is closed without a code, and says what is required', async () => {
    const { detail } = assertProblem(await signUp({}), 403, 'sign_up_closed');
    assert.match(detail ?? '', /invitation/);
  });

  it('requires a link of the operator if it is off', async () => {
    const own = await openService({ config: { signUp: 'off' } });
    try {
      const { owner, appId } = await makeWorld(own);
      const code = await invite(own, owner, appId, 'k');
      const jar = openJar(own);
      assertProblem(await jar.call('POST', '/session/sign-up', form({ invitationCode: code })), 403, 'sign_up_closed');
      const seen = (await own.call('POST', `${api}/invitations/preview`, { json: { code } })).json<InvitationPreview>();
      assert.equal(seen.allowsSignUp, false);
      await signUpPerson(own);
    } finally {
      await own.close();
    }
  });

  it('is possible for everyone if it is open, with a limit per address', async () => {
    const own = await openService({ config: { signUp: 'open', signUpsPerHour: 2 } });
    try {
      const attempt = () => openJar(own).call('POST', '/session/sign-up', form());
      assert.equal((await attempt()).statusCode, 201);
      assert.equal((await attempt()).statusCode, 201);
      assertProblem(await attempt(), 429, 'rate_limited');
      await signUpPerson(own); // with a link of the operator's
      own.advance(30 * 60_000);
      assert.equal((await attempt()).statusCode, 201);
    } finally {
      await own.close();
    }
  });

  it('creates one account per e-mail address, ignoring case, even from simultaneous requests', async () => {
    const links = await Promise.all([1, 2, 3, 4].map(() => createSetUpLink(service.services.deps, false)));
    const emails = ['ida@example.org', 'IDA@example.org', ' ida@EXAMPLE.org ', 'Ida@Example.Org'];
    const responses = await Promise.all(links.map(({ code }, at) => signUp({ email: emails[at], linkCode: code })));
    assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [201, 409, 409, 409]);
    for (const answer of responses) if (answer.statusCode !== 201) assertProblem(answer, 409, 'email_taken');
  });

  it('rejects the address of a user that the operator created, and the reverse', async () => {
    const { deps } = service.services;
    await createUser(deps, { name: 'Created by the operator', email: ' Joint@example.org' });
    const { code } = await createSetUpLink(deps, false);
    assertProblem(await signUp({ email: 'joint@example.org', linkCode: code }), 409, 'email_taken');
    const person = await signUpPerson(service);
    await assert.rejects(createUser(deps, { name: 'Created by the operator', email: person.email }), {
      code: 'email_taken',
    });
  });

  it('stores names unchanged', async () => {
    const names = [
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      "Robert'); DROP TABLE users;--",
      '{{7*7}}',
      'مي\u200cخواهم',
      '名前 🦊',
    ];
    for (const name of names) {
      const { jar } = await signUpPerson(service, { name });
      const state = await jar.call('GET', '/session');
      assert.equal(state.json<SessionState>().account?.name, name);
      assert.match(String(state.headers['content-type']), /^application\/json/);
      assert.equal(state.headers['x-content-type-options'], 'nosniff');
      assert.equal((await ok<Me>(service, 'GET', `${api}/me`, { token: await jar.token() })).name, name);
    }
  });

  it('rejects names without a visible character, and names that reverse the surrounding text', async () => {
    for (const name of ['\u200b', '\u2060 \ufeff', '\u202eadA', 'a\u2066b']) {
      const { code } = await createSetUpLink(service.services.deps, false);
      const problem = assertProblem(await signUp({ name, linkCode: code }), 422, 'invalid_field');
      assert.match(problem.detail, /visible character/);
    }
  });

  it('rejects weak passwords with the reason and the field', async () => {
    const { code } = await createSetUpLink(service.services.deps, false);
    const reasons: readonly [string, RegExp][] = [
      ['short', /at least 10/],
      ['Password123!', /is common or was leaked/],
      ['grace-weak@example.org', /e-mail address/],
      ['x'.repeat(300), /at most 256/],
    ];
    for (const [password, reason] of reasons) {
      const answer = await signUp({ email: 'grace-weak@example.org', password, linkCode: code });
      const { errors } = assertProblem(answer, 422, 'weak_password');
      assert.equal(errors?.[0]?.pointer, '/password');
      assert.match(errors?.[0]?.detail ?? '', reason);
    }
  });
});

describe('what a sign-up costs', () => {
  const countHashes = async (config: Partial<Config> = {}) => {
    const hashed: string[] = [];
    const own = await openService({
      config: { codeTriesPerMinute: 1000, trustedProxies: ['127.0.0.1'], ...config },
      replace: ({ deps }) => {
        const hash = (password: string) => {
          hashed.push(password);
          return deps.passwords.hash(password);
        };
        return { deps: { ...deps, passwords: { ...deps.passwords, hash } } };
      },
    });
    const { owner, appId } = await makeWorld(own);
    const attempt = (fields: object, address = '192.0.2.1') =>
      openJar(own).call('POST', '/session/sign-up', form(fields), { 'x-forwarded-for': address });
    const invitationOf = (user = owner, app = appId) => invite(own, user, app, newId('guest'));
    return { own, owner, appId, hashed, attempt, invitationOf };
  };

  it('is one hash for an invitation, even for simultaneous requests', async () => {
    const { own, hashed, attempt, invitationOf } = await countHashes();
    try {
      const invitationCode = await invitationOf();
      const responses = await Promise.all(Array.from({ length: 20 }, () => attempt({ invitationCode })));
      assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [201, ...Array(19).fill(410)]);
      assert.equal(hashed.length, 1);
    } finally {
      await own.close();
    }
  });

  it('is one hash for a password link, even for simultaneous requests', async () => {
    const { own, hashed } = await countHashes();
    try {
      const { id } = await signUpPerson(own);
      const { code } = await createPasswordLink(own.services.deps, 'operator', id);
      hashed.length = 0;
      const responses = await Promise.all(
        Array.from({ length: 6 }, () =>
          openJar(own).call('POST', '/session/reset-password', { code, password: goodPassword }),
        ),
      );
      assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [200, ...Array(5).fill(410)]);
      assert.equal(hashed.length, 1);
    } finally {
      await own.close();
    }
  });

  it('is limited by address if an invitation is required too', async () => {
    const { own, hashed, attempt, invitationOf } = await countHashes({ signUpsPerHour: 2 });
    try {
      for (const status of [201, 201, 429, 429]) {
        assert.equal((await attempt({ invitationCode: await invitationOf() })).statusCode, status);
      }
      assert.equal(hashed.length, 2);
      assert.equal((await attempt({ invitationCode: await invitationOf() }, '192.0.2.2')).statusCode, 201);
    } finally {
      await own.close();
    }
  });

  it('is limited by inviter, over all network addresses', async () => {
    const { own, attempt, invitationOf } = await countHashes({ inviterSignUpsPerDay: 3 });
    try {
      for (let at = 0; at < 3; at++) {
        assert.equal((await attempt({ invitationCode: await invitationOf() }, `192.0.2.${at}`)).statusCode, 201);
      }
      const invitationCode = await invitationOf();
      const refused = assertProblem(await attempt({ invitationCode }, '192.0.2.9'), 429, 'rate_limited');
      assert.match(refused.detail ?? '', /the person who invited you/);
      const other = await makeWorld(own);
      const elsewhere = await invitationOf(other.owner, other.appId);
      assert.equal((await attempt({ invitationCode: elsewhere }, '192.0.2.9')).statusCode, 201);
      own.advance(day / 3);
      assert.equal((await attempt({ invitationCode }, '192.0.2.9')).statusCode, 201);
    } finally {
      await own.close();
    }
  });

  it('reveals which addresses have accounts only after a hash, and at most five times per invitation', async () => {
    const { own, hashed, attempt, invitationOf } = await countHashes();
    try {
      const { email } = await signUpPerson(own);
      hashed.length = 0;
      const invitationCode = await invitationOf();
      for (let at = 0; at < 20; at++) {
        assertProblem(await attempt({ invitationCode, email, password: 'weak' }), 422, 'weak_password');
      }
      assert.equal(hashed.length, 0);
      for (let at = 0; at < 5; at++) {
        assertProblem(await attempt({ invitationCode, email }, `192.0.2.${at}`), 409, 'email_taken');
      }
      assert.equal(hashed.length, 5);
      assertProblem(await attempt({ invitationCode, email }, '192.0.2.9'), 429, 'rate_limited');
      assert.equal(hashed.length, 5);
    } finally {
      await own.close();
    }
  });
});

describe('a set-up link', () => {
  it('creates one account, and distinguishes used, expired and unknown links', async () => {
    const { code } = await createSetUpLink(service.services.deps, false);
    const jar = openJar(service);
    const info = await jar.call('POST', '/session/link', { code });
    assert.equal(info.json().purpose, 'set_up');
    assert.equal(info.json().email, null);
    const responses = await Promise.all([1, 2, 3].map(() => signUp({ linkCode: code })));
    assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [201, 410, 410]);
    assertProblem(await jar.call('POST', '/session/link', { code }), 410, 'link_used');
    assertProblem(await jar.call('POST', '/session/link', { code: 'A'.repeat(43) }), 404, 'not_found');

    const own = await openService();
    try {
      const { code: old } = await createSetUpLink(own.services.deps, false);
      own.advance(day);
      assertProblem(await openJar(own).call('POST', '/session/link', { code: old }), 410, 'link_expired');
      const late = await openJar(own).call('POST', '/session/sign-up', form({ linkCode: old }));
      assertProblem(late, 410, 'link_expired');
    } finally {
      await own.close();
    }
  });

  it('does not reset a password', async () => {
    const { code } = await createSetUpLink(service.services.deps, false);
    const answer = await openJar(service).call('POST', '/session/reset-password', { code, password: goodPassword });
    assertProblem(answer, 404, 'not_found');
  });
});

describe('unexpected bodies', () => {
  const bodies: readonly [string, string, number, string][] = [
    ['no JSON', '{"email":', 400, 'malformed_json'],
    ['nothing', '', 400, 'malformed_json'],
    ['null', 'null', 422, 'invalid_field'],
    ['a list', '[]', 422, 'invalid_field'],
    [
      'other types',
      '{"email":{"$ne":null},"password":{"$gt":""},"name":[],"code":7,"request":1,"userCode":{}}',
      422,
      'invalid_field',
    ],
    [
      'a long text',
      JSON.stringify({ email: 'a'.repeat(10_000), password: 'b'.repeat(10_000), name: 'c', code: 'd'.repeat(10_000) }),
      422,
      'invalid_field',
    ],
    ['too much', `{"email":"${'a'.repeat(300_000)}"}`, 413, 'payload_too_large'],
  ];
  for (const [what, body, status, code] of bodies) {
    it(`are refused: ${what}`, async () => {
      const { jar } = await signUpPerson(service);
      for (const path of ['', '/sign-up', '/link', '/reset-password', '/confirm']) {
        const cookie = `tenon-session-8366=${jar.cookies.get('tenon-session-8366')}`;
        const headers = { cookie, 'content-type': 'application/json' };
        const answer = await service.call('POST', `/session${path}`, { body, headers });
        const { detail } = assertProblem(answer, status, code);
        assert.ok(!(detail ?? '').includes('aaaa'), 'nothing of the body comes back');
      }
    });
  }
});
