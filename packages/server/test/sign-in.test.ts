import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createPasswordLink } from '../src/auth/manage-users.ts';
import type { PasswordHasher } from '../src/auth/passwords/password-hasher.ts';
import { goodPassword, type Jar, openJar, type Person, signIn, signUpPerson } from './helpers/jar.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';

const minute = 60_000;

describe('a wrong password and an unknown address', () => {
  let service: TestService;
  let person: Person;
  const calls: string[] = [];
  before(async () => {
    service = await openService({
      replace: ({ deps }) => ({ deps: { ...deps, passwords: counted(deps.passwords, calls) } }),
    });
    person = await signUpPerson(service);
  });
  after(() => service.close());

  it('get the same response, after the same work', async () => {
    const attempts = [
      { email: person.email, password: 'magnolia tugboat 18 linen' },
      { email: 'nobody@example.org', password: 'magnolia tugboat 18 linen' },
      { email: 'no address at all', password: 'magnolia tugboat 18 linen' },
      { email: `${'x'.repeat(240)}@example.org`, password: 'x' },
      { email: "' OR 1=1 --", password: "' OR 1=1 --" },
    ];
    const responses = [];
    for (const attempt of attempts) {
      calls.length = 0;
      const response = await openJar(service).call('POST', '/session', attempt);
      assertProblem(response, 401, 'invalid_credentials');
      assert.deepEqual(calls, ['verify'], attempt.email);
      const { 'x-request-id': _, date: __, ...headers } = response.headers;
      responses.push({ body: response.payload, headers });
    }
    for (const answer of responses) assert.deepEqual(answer, responses[0]);
  });

  it('get the same response if the account has no password yet', async () => {
    const { id } = await service.user('Made by the operator');
    await createPasswordLink(service.services.deps, 'operator', id, 'not-yet@example.org');
    calls.length = 0;
    for (const password of ['x', goodPassword]) {
      const response = await openJar(service).call('POST', '/session', { email: 'not-yet@example.org', password });
      assertProblem(response, 401, 'invalid_credentials');
    }
    assert.deepEqual(calls, ['verify', 'verify']);
  });

  it('leave nothing that was typed in the log', () => {
    for (const secret of ['magnolia', 'nobody@example.org', 'OR 1=1'])
      assert.ok(!service.logged.join().includes(secret));
  });
});

function counted(hasher: PasswordHasher, calls: string[]): PasswordHasher {
  return {
    ...hasher,
    hash: (password) => {
      calls.push('hash');
      return hasher.hash(password);
    },
    verify: (password, hash) => {
      calls.push('verify');
      return hasher.verify(password, hash);
    },
  };
}

describe('an old hash', () => {
  it('is replaced at the next successful sign-in', async () => {
    const calls: string[] = [];
    let isOutdated = false;
    const service = await openService({
      replace: ({ deps }) => ({
        deps: { ...deps, passwords: { ...counted(deps.passwords, calls), isOutdated: () => isOutdated } },
      }),
    });
    try {
      const person = await signUpPerson(service);
      const { read } = service.services.deps.store;
      const before = await read.password(person.id);
      isOutdated = true;
      calls.length = 0;
      assertProblem(
        await openJar(service).call('POST', '/session', { ...person, password: 'x' }),
        401,
        'invalid_credentials',
      );
      await signIn(service, person);
      assert.deepEqual(calls, ['verify', 'verify', 'hash']);
      const after = await read.password(person.id);
      assert.notEqual(after?.hash, before?.hash);
      isOutdated = false;
      await signIn(service, person);
      assert.equal((await read.password(person.id))?.hash, after?.hash);
    } finally {
      await service.close();
    }
  });
});

describe('guessing passwords', () => {
  let service: TestService;
  let owner: Person;
  before(async () => {
    const config = { signInTriesPerMinute: 20, accountTriesPerHour: 30, trustedProxies: ['127.0.0.1'] };
    service = await openService({ config });
    owner = await signUpPerson(service);
  });
  after(() => service.close());

  const from = (address: string) => ({ 'x-forwarded-for': address });

  function attempt(email: string, password: string, address: string, jar: Jar = openJar(service)) {
    return jar.call('POST', '/session', { email, password }, from(address));
  }

  it('is limited for one account, wherever the guesses come from', async () => {
    for (let at = 0; at < 10; at++) {
      assertProblem(await attempt(owner.email, `guess ${at}`, `198.51.100.${at}`), 401, 'invalid_credentials');
    }
    const refused = await attempt(owner.email.toUpperCase(), goodPassword, '198.51.100.99');
    assertProblem(refused, 429, 'rate_limited');
    assert.equal(Number(refused.headers['retry-after']), 120, 'thirty an hour are one in two minutes');
  });

  it('does not lock out the browsers in which the owner has signed in before', async () => {
    const known = openJar(service); // signed out, and known
    known.cookies.set('tenon-browser-8366', owner.jar.cookies.get('tenon-browser-8366') ?? '');
    assert.equal((await attempt(owner.email, goodPassword, '198.51.100.99', known)).statusCode, 200);
  });

  it('is not easier in a browser in which another account has signed in', async () => {
    const attacker = await signUpPerson(service);
    const refused = await attempt(owner.email, goodPassword, '203.0.113.1', attacker.jar);
    assertProblem(refused, 429, 'rate_limited');
  });

  it('gets the same responses for unknown and known addresses', async () => {
    for (let at = 0; at < 10; at++) {
      assertProblem(await attempt('nobody@example.org', 'x', `192.0.2.${at}`), 401, 'invalid_credentials');
    }
    const refused = await attempt('nobody@example.org', 'x', '192.0.2.99');
    assertProblem(refused, 429, 'rate_limited');
    assert.equal(Number(refused.headers['retry-after']), 120);
  });

  it('is possible again after a while', async () => {
    service.advance(2 * minute);
    assert.equal((await attempt(owner.email, goodPassword, '198.51.100.99')).statusCode, 200);
  });

  it('is limited for one client behind a proxy, whatever address another header claims', async () => {
    const own = await openService({ config: { signInTriesPerMinute: 20, trustedProxies: ['127.0.0.1'] } });
    try {
      const claim = (at: number) => ({ ...from('198.51.100.66'), forwarded: `for=203.0.113.${at}` });
      const statuses = [];
      for (let at = 0; at < 21; at++) {
        const json = { email: `user${at}@example.org`, password: 'Summer2026!!' };
        statuses.push((await openJar(own).call('POST', '/session', json, claim(at))).statusCode);
      }
      assert.deepEqual(statuses, [...Array(20).fill(401), 429]);
    } finally {
      await own.close();
    }
  });

  it('is limited for one client over all accounts, and not for other clients', async () => {
    for (let at = 0; at < 20; at++) {
      assertProblem(await attempt(`a${at}@example.org`, 'x', '203.0.113.7'), 401, 'invalid_credentials');
    }
    const other = await signUpPerson(service);
    assertProblem(await attempt(other.email, goodPassword, '203.0.113.7'), 429, 'rate_limited');
    assert.equal((await attempt(other.email, goodPassword, '203.0.113.8')).statusCode, 200);
    const again = await attempt(other.email, goodPassword, '203.0.113.7', other.jar);
    assert.equal(again.statusCode, 200, 'the owner shares an address with an attacker');
  });

  it('counts an IPv6 network as one client', async () => {
    for (let at = 0; at < 20; at++) {
      assertProblem(await attempt(`b${at}@example.org`, 'x', `2001:db8::${at + 1}`), 401, 'invalid_credentials');
    }
    assertProblem(await attempt('b@example.org', 'x', '2001:db8::ffff'), 429, 'rate_limited');
    assertProblem(await attempt('b@example.org', 'x', '2001:db8:0:1::1'), 401, 'invalid_credentials');
  });

  it('is limited for simultaneous requests too', async () => {
    const target = await signUpPerson(service);
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, at) => attempt(target.email, `guess ${at}`, `192.0.2.${100 + at}`)),
    );
    assert.equal(responses.filter(({ statusCode }) => statusCode === 401).length, 10);
    assert.equal(responses.filter(({ statusCode }) => statusCode === 429).length, 20);
  });

  it('is limited in a known browser too, for its own account', async () => {
    const person = await signUpPerson(service);
    for (let at = 0; at < 10; at++) {
      assertProblem(await attempt(person.email, `guess ${at}`, '192.0.2.50', person.jar), 401, 'invalid_credentials');
    }
    assertProblem(await attempt(person.email, goodPassword, '192.0.2.50', person.jar), 429, 'rate_limited');
    assert.equal(
      (await attempt(person.email, goodPassword, '192.0.2.51')).statusCode,
      200,
      'strangers are counted apart',
    );
  });

  it('does not count correct passwords', async () => {
    const person = await signUpPerson(service);
    for (let at = 0; at < 15; at++) await attempt(person.email, goodPassword, '192.0.2.60');
    assert.equal((await attempt(person.email, goodPassword, '192.0.2.60')).statusCode, 200);
  });

  it('does not delay other users because one enters a correct password again and again', async () => {
    const service = await openService({ config: { signInsPerMinute: 3 } });
    try {
      const [person, other] = [await signUpPerson(service), await signUpPerson(service)];
      const { email } = person;
      const enter = (jar: Jar) => jar.call('POST', '/session', { email, password: goodPassword });
      const statuses = await Promise.all([1, 2, 3, 4, 5].map(async () => (await enter(openJar(service))).statusCode));
      assert.deepEqual(statuses.sort(), [200, 200, 200, 429, 429]);
      const refused = await enter(person.jar); // nor from a browser that the account knows
      assertProblem(refused, 429, 'rate_limited');
      assert.equal(Number(refused.headers['retry-after']), 20);
      assertProblem(await person.jar.call('POST', '/session/confirm', { password: goodPassword }), 429, 'rate_limited');
      await signIn(service, other);
    } finally {
      await service.close();
    }
  });

  it('is limited when a signed-in user enters the password again, for each session', async () => {
    const person = await signUpPerson(service);
    const other = await signIn(service, person);
    const confirm = (jar: Jar, password: string) => jar.call('POST', '/session/confirm', { password });
    for (let at = 0; at < 10; at++) {
      assertProblem(await confirm(person.jar, `guess ${at}`), 401, 'invalid_credentials');
    }
    assertProblem(await confirm(person.jar, goodPassword), 429, 'rate_limited');
    const token = await person.jar.token();
    for (const [method, path, json] of [
      ['PUT', '/api/v1/me/password', { currentPassword: goodPassword, newPassword: 'four candles and handles' }],
      ['POST', '/api/v1/me/deletion', { password: goodPassword }],
    ] as const) {
      assertProblem(await service.call(method, path, { token, json }), 429, 'rate_limited');
    }
    assert.equal((await confirm(other, goodPassword)).statusCode, 204);
  });

  it('is limited for all tokens of an account together, since a program can create more of them', async () => {
    const person = await signUpPerson(service);
    const enter = async (currentPassword: string) => {
      const json = { currentPassword, newPassword: 'four candles and handles' };
      return service.call('PUT', '/api/v1/me/password', { token: await service.token(person.id), json });
    };
    for (let at = 0; at < 10; at++) assertProblem(await enter(`guess ${at}`), 401, 'invalid_credentials');
    assertProblem(await enter(goodPassword), 429, 'rate_limited');
    assert.equal((await person.jar.call('POST', '/session/confirm', { password: goodPassword })).statusCode, 204);
  });
});
