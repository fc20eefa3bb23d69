import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PasskeyList, SessionState } from '@tenon/protocol';
import { createPasswordLink } from '../src/auth/manage-users.ts';
import { startSession } from '../src/auth/sessions.ts';
import { openJar, type Person, signUpPerson } from './helpers/jar.ts';
import { addPasskey, confirmWith, enterPassword, optionsOf, signInWith } from './helpers/passkeys.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { createAuthenticator, type Deviation } from './helpers/software-authenticator.ts';

let service: TestService;
before(async () => {
  service = await openService({ config: { signInTriesPerMinute: 10_000 } });
});
after(() => service.close());

const accountOf = (response: { json<T>(): T }) => response.json<SessionState>().account?.id;

const list = async ({ jar }: Person) => (await jar.call('GET', '/session/passkeys')).json<PasskeyList>();

/** The reasons of the refusals in a person's audit trail. */
async function refusalsOf({ id }: Person): Promise<unknown[]> {
  const events = await service.services.deps.store.read.auditOfAccount(id, { action: 'sign_in.refuse' }, { limit: 20 });
  return events.map(({ details }) => details.reason);
}

describe('a passkey', () => {
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    it(`signs in without an e-mail address (${algorithm})`, async () => {
      const person = await signUpPerson(service);
      const { authenticator, passkey } = await addPasskey(person, { algorithm });
      assert.deepEqual((await list(person)).objects, [{ ...passkey, isCurrent: true }]);
      const { response, jar } = await signInWith(service, authenticator);
      assert.equal(accountOf(response), person.id);
      assert.equal((await jar.call('GET', '/session')).json<SessionState>().account?.id, person.id);
      assert.ok((await list(person)).objects[0]?.lastUsedAt);
    });
  }

  it('is one of several, and is renamed and removed', async () => {
    const person = await signUpPerson(service);
    const [one, other] = [await addPasskey(person), await addPasskey(person, { name: 'Key' })];
    assert.equal(one.recoveryCodes?.length, 10);
    assert.equal(other.recoveryCodes, undefined);
    const { jar } = await signInWith(service, one.authenticator);
    const path = `/session/passkeys/${one.passkey.id}`;
    assert.equal((await person.jar.call('PUT', path, { name: 'Old laptop' })).statusCode, 200);
    assert.deepEqual(
      (await list(person)).objects.map(({ name }) => name),
      ['Old laptop', 'Key'],
    );
    assert.equal((await person.jar.call('DELETE', path)).statusCode, 204);
    assert.equal((await jar.call('GET', '/session')).json<SessionState>().account, null, 'its session ends');
    assert.equal(
      (await person.jar.call('GET', '/session/passkeys')).statusCode,
      200,
      'the session that removes it stays',
    );
    assertProblem((await signInWith(service, one.authenticator)).response, 401, 'invalid_passkey');
    assert.equal((await person.jar.call('DELETE', `/session/passkeys/${other.passkey.id}`)).statusCode, 204);
    assert.deepEqual(await list(person), { objects: [], recoveryCodes: 0 });
  });

  it('is not removed if it is the last means to sign in', async () => {
    const { id } = await service.user();
    const jar = openJar(service);
    const browser = {
      userAgent: null,
      address: '::1',
      network: '::1',
      sessionSecret: undefined,
      browserSecret: undefined,
    };
    const { deps } = service.services;
    const started = await deps.store.write((tx) => startSession(deps, tx, id, browser, { means: 'oidc' }));
    jar.cookies.set('tenon-session-8366', started.sessionSecret);
    const { passkey } = await addPasskey({ jar });
    assertProblem(await jar.call('DELETE', `/session/passkeys/${passkey.id}`), 409, 'conflict');
  });

  it('belongs to one account, whose user alone can change it', async () => {
    const [person, other] = [await signUpPerson(service), await signUpPerson(service)];
    const { passkey, authenticator } = await addPasskey(person);
    const path = `/session/passkeys/${passkey.id}`;
    assertProblem(await other.jar.call('PUT', path, { name: 'mine' }), 404, 'not_found');
    assertProblem(await other.jar.call('DELETE', path), 404, 'not_found');
    const options = await optionsOf(other.jar, '/session/passkeys/options');
    const again = await other.jar.call('POST', '/session/passkeys', {
      name: 'x',
      response: authenticator.create(options),
    });
    assertProblem(again, 409, 'conflict');
  });
});

describe('the response of a passkey', () => {
  let person: Person;
  let authenticator: Awaited<ReturnType<typeof addPasskey>>['authenticator'];
  before(async () => {
    person = await signUpPerson(service);
    ({ authenticator } = await addPasskey(person));
  });

  const deviations: Readonly<Record<string, readonly [reason: string, deviation: Deviation]>> = {
    'another origin': ['origin', { origin: 'http://evil.example' }],
    'another port': ['origin', { origin: 'http://localhost:9999' }],
    'a frame of another site': ['origin', { crossOrigin: true }],
    'another RP ID': ['rp_id', { rpId: 'evil.example' }],
    'a registration': ['malformed', { type: 'webauthn.create' }],
    'no user verification': ['user_verification', { flags: 0b001 }],
    'no user presence': ['user_verification', { flags: 0b100 }],
    "another user's handle": ['other_account', { userHandle: Buffer.from('usr_other').toString('base64url') }],
    'data after the flags that is missing': ['malformed', { flags: 0b1000101 }],
  };
  for (const [what, [reason, deviation]] of Object.entries(deviations)) {
    it(`is refused with ${what}`, async () => {
      const { response } = await signInWith(service, authenticator, { deviation });
      assertProblem(response, 401, 'invalid_passkey');
      assert.equal((await refusalsOf(person))[0], reason);
    });
  }

  it('is refused with another challenge, in another browser, after 5 minutes, and when it is replayed', async () => {
    const unknown = await signInWith(service, authenticator, { deviation: { challenge: 'A'.repeat(43) } });
    assertProblem(unknown.response, 401, 'invalid_passkey');
    const jar = openJar(service);
    const response = authenticator.get(await optionsOf(jar));
    const elsewhere = openJar(service);
    await optionsOf(elsewhere);
    assertProblem(await elsewhere.call('POST', '/session/passkey', { response }), 401, 'invalid_passkey');
    assert.equal((await jar.call('POST', '/session/passkey', { response })).statusCode, 200);
    assertProblem(await jar.call('POST', '/session/passkey', { response }), 401, 'invalid_passkey');
    const late = authenticator.get(await optionsOf(jar));
    service.advance(5 * 60_000);
    assertProblem(await jar.call('POST', '/session/passkey', { response: late }), 401, 'invalid_passkey');
  });

  it('answers a challenge once, also in concurrent requests, and after a refusal', async () => {
    const jar = openJar(service);
    const options = await optionsOf(jar);
    const responses = [authenticator.get(options), authenticator.get(options), authenticator.get(options)];
    const results = await Promise.all(responses.map((response) => jar.call('POST', '/session/passkey', { response })));
    assert.equal(results.filter(({ statusCode }) => statusCode === 200).length, 1);
    const other = await optionsOf(jar);
    const wrong = authenticator.get(other, { origin: 'http://evil.example' });
    assertProblem(await jar.call('POST', '/session/passkey', { response: wrong }), 401, 'invalid_passkey');
    const right = authenticator.get(other);
    assertProblem(await jar.call('POST', '/session/passkey', { response: right }), 401, 'invalid_passkey');
  });

  it('is refused with a changed signature, and of an unknown passkey', async () => {
    const jar = openJar(service);
    const good = authenticator.get(await optionsOf(jar));
    const forged = createAuthenticator().get(await optionsOf(jar));
    const response = { ...good, response: { ...good.response, signature: forged.response.signature } };
    assertProblem(await jar.call('POST', '/session/passkey', { response }), 401, 'invalid_passkey');
    assert.equal((await refusalsOf(person))[0], 'signature');
    const unknown = createAuthenticator().get(await optionsOf(jar));
    assertProblem(await jar.call('POST', '/session/passkey', { response: unknown }), 401, 'invalid_passkey');
  });

  it('is refused when the counter does not go up, because the authenticator was copied', async () => {
    assert.equal((await signInWith(service, authenticator, { deviation: { counter: 1000 } })).response.statusCode, 200);
    for (const counter of [1000, 999, 0]) {
      const { response } = await signInWith(service, authenticator, { deviation: { counter } });
      assertProblem(response, 401, 'invalid_passkey');
      assert.equal((await refusalsOf(person))[0], 'counter');
    }
  });

  it('is refused if it is truncated or huge', async () => {
    const jar = openJar(service);
    for (const change of [
      (text: string) => text.slice(0, 20),
      () => 'AA',
      () => Buffer.alloc(3000, 0x81).toString('base64url'),
    ]) {
      const good = authenticator.get(await optionsOf(jar));
      const { authenticatorData, ...rest } = good.response;
      const response = { ...good, response: { ...rest, authenticatorData: change(authenticatorData) } };
      assertProblem(await jar.call('POST', '/session/passkey', { response }), 401, 'invalid_passkey');
    }
    const good = authenticator.get(await optionsOf(jar));
    const response = { ...good, response: { ...good.response, signature: 'A'.repeat(5000) } };
    assertProblem(await jar.call('POST', '/session/passkey', { response }), 422, 'invalid_field');
  });
});

describe('a registration', () => {
  const refused: Readonly<Record<string, Deviation>> = {
    'another origin': { origin: 'http://evil.example' },
    'another RP ID': { rpId: 'evil.example' },
    'another challenge': { challenge: 'A'.repeat(43) },
    'no user verification': { flags: 0b001 },
    'an attestation with certificates': { fmt: 'apple' },
    'a response to a sign-in': { type: 'webauthn.get' },
  };
  for (const [what, deviation] of Object.entries(refused)) {
    it(`is refused with ${what}`, async () => {
      const { jar } = await signUpPerson(service);
      const response = createAuthenticator().create(await optionsOf(jar, '/session/passkeys/options'), deviation);
      assertProblem(await jar.call('POST', '/session/passkeys', { name: 'x', response }), 401, 'invalid_passkey');
    });
  }

  it('is refused if it is truncated, nested deeply, or answers the challenge of another session', async () => {
    const [one, other] = [await signUpPerson(service), await signUpPerson(service)];
    for (const change of [(bytes: Buffer) => bytes.subarray(0, 60), () => Buffer.alloc(12_000, 0x81)]) {
      const good = createAuthenticator().create(await optionsOf(one.jar, '/session/passkeys/options'));
      const changed = change(Buffer.from(good.response.attestationObject, 'base64url')).toString('base64url');
      const response = { ...good, response: { ...good.response, attestationObject: changed } };
      assertProblem(await one.jar.call('POST', '/session/passkeys', { name: 'x', response }), 401, 'invalid_passkey');
    }
    const response = createAuthenticator().create(await optionsOf(one.jar, '/session/passkeys/options'));
    assertProblem(await other.jar.call('POST', '/session/passkeys', { name: 'x', response }), 401, 'invalid_passkey');
  });
});

describe('the second factor', () => {
  it('is required after the password, and the state in between opens nothing', async () => {
    const person = await signUpPerson(service);
    const { authenticator } = await addPasskey(person);
    const jar = await enterPassword(service, person);
    assert.equal((await jar.call('GET', '/session')).json<SessionState>().account, null);
    assertProblem(await jar.call('POST', '/session/token', {}), 401, 'not_signed_in');
    assertProblem(await jar.call('GET', '/session/passkeys'), 401, 'not_signed_in');
    const { response } = await signInWith(service, authenticator, { jar });
    assert.equal(accountOf(response), person.id);
    assert.equal(jar.cookies.has('tenon-sign-in-8366'), false);
  });

  it("refuses another account's passkey", async () => {
    const [person, other] = [await signUpPerson(service), await signUpPerson(service)];
    await addPasskey(person);
    const { authenticator } = await addPasskey(other);
    const jar = await enterPassword(service, person);
    assertProblem((await signInWith(service, authenticator, { jar })).response, 401, 'invalid_passkey');
  });

  it('is a recovery code, which works once, in this browser, for 5 minutes', async () => {
    const person = await signUpPerson(service);
    const { recoveryCodes: [code = '', late = ''] = [] } = await addPasskey(person);
    assertProblem(await openJar(service).call('POST', '/session/recovery-code', { code }), 401, 'not_signed_in');
    const jar = await enterPassword(service, person);
    const typed = ` ${code.toUpperCase().replaceAll('-', ' ')}`;
    const [one, same] = await Promise.all([
      jar.call('POST', '/session/recovery-code', { code: typed }),
      jar.call('POST', '/session/recovery-code', { code }),
    ]);
    assert.deepEqual([one.statusCode, same.statusCode].sort(), [200, 401]);
    assert.equal((await list(person)).recoveryCodes, 9);
    const again = await enterPassword(service, person);
    assertProblem(await again.call('POST', '/session/recovery-code', { code }), 401, 'invalid_credentials');
    assert.equal((await refusalsOf(person))[0], 'wrong_code');
    service.advance(5 * 60_000);
    assertProblem(await again.call('POST', '/session/recovery-code', { code: late }), 401, 'not_signed_in');
  });

  it('allows few wrong recovery codes, and none of another account', async () => {
    const [person, other] = [await signUpPerson(service), await signUpPerson(service)];
    const { recoveryCodes: [code = ''] = [] } = await addPasskey(person);
    const { recoveryCodes: [foreign = ''] = [] } = await addPasskey(other);
    const jar = await enterPassword(service, person);
    for (const wrong of [foreign, 'a', 'b', 'c', 'd']) {
      assertProblem(await jar.call('POST', '/session/recovery-code', { code: wrong }), 401, 'invalid_credentials');
    }
    assertProblem(await jar.call('POST', '/session/recovery-code', { code }), 401, 'not_signed_in');
    const statuses = new Set<number>();
    for (let round = 0; round < 2; round++) {
      const next = await enterPassword(service, person);
      for (let at = 0; at < 5; at++)
        statuses.add((await next.call('POST', '/session/recovery-code', { code: 'x' })).statusCode);
    }
    assert.ok(statuses.has(429));
  });

  it('is required after a password link too', async () => {
    const person = await signUpPerson(service);
    const { authenticator } = await addPasskey(person);
    const { code } = await createPasswordLink(service.services.deps, 'operator', person.id);
    const jar = openJar(service);
    const reset = await jar.call('POST', '/session/reset-password', { code, password: 'four candles and handles' });
    assert.equal(reset.statusCode, 200, reset.payload);
    assert.equal(accountOf(reset), undefined);
    assertProblem(await jar.call('POST', '/session/token', {}), 401, 'not_signed_in');
    assert.equal(accountOf((await signInWith(service, authenticator, { jar })).response), person.id);
  });

  it('has new codes on request, after step-up', async () => {
    const person = await signUpPerson(service);
    assertProblem(await person.jar.call('POST', '/session/recovery-codes', {}), 409, 'conflict');
    const { recoveryCodes: [old = ''] = [], authenticator } = await addPasskey(person);
    service.advance(5 * 60_000);
    assertProblem(await person.jar.call('POST', '/session/recovery-codes', {}), 403, 'step_up_required');
    await confirmWith(person, authenticator);
    const made = await person.jar.call('POST', '/session/recovery-codes', {});
    assert.equal(new Set(made.json<{ codes: string[] }>().codes).size, 10);
    const jar = await enterPassword(service, person);
    assertProblem(await jar.call('POST', '/session/recovery-code', { code: old }), 401, 'invalid_credentials');
  });

  it('does not sign a suspended account in', async () => {
    const person = await signUpPerson(service);
    const { authenticator } = await addPasskey(person);
    await service.store.write((tx) => tx.setSuspended(person.id, 1));
    assertProblem((await signInWith(service, authenticator)).response, 403, 'account_suspended');
    const { email, password } = person;
    assertProblem(await openJar(service).call('POST', '/session', { email, password }), 403, 'account_suspended');
  });
});

describe('step-up', () => {
  it('needs the passkey of an account that has one', async () => {
    const person = await signUpPerson(service);
    const { authenticator } = await addPasskey(person);
    const { password } = person;
    assertProblem(await person.jar.call('POST', '/session/confirm', { password }), 409, 'conflict');
    assertProblem(await person.jar.call('POST', '/session/confirm', {}), 422, 'invalid_field');
    const other = await signUpPerson(service);
    const options = await optionsOf(other.jar, '/session/confirm/options');
    const foreign = { passkey: authenticator.get(options) };
    assertProblem(await other.jar.call('POST', '/session/confirm', foreign), 401, 'invalid_passkey');
    assertProblem(await person.jar.call('POST', '/session/confirm', foreign), 401, 'invalid_passkey');
    await confirmWith(person, authenticator);
  });
});

describe('started sign-ins', () => {
  it('are limited by network', async () => {
    const limited = await openService({ config: { signInTriesPerMinute: 1 } });
    try {
      const statuses = await Promise.all(
        Array.from({ length: 10 }, () => openJar(limited).call('POST', '/session/passkey/options', {})),
      );
      assert.equal(statuses.filter(({ statusCode }) => statusCode === 200).length, 6);
      assertProblem(await openJar(limited).call('POST', '/session/passkey/options', {}), 429, 'rate_limited');
    } finally {
      await limited.close();
    }
  });
});
