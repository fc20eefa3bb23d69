import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Account, newId } from '@tenon/protocol';
import { createPasswordLink, suspendUser } from '../src/auth/manage-users.ts';
import { openJar, type Person, signIn, signUpPerson } from './helpers/jar.ts';
import { openMailServer, sendMails, type TestMailServer } from './helpers/mail-server.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';

/* The change of an account's e-mail address, with a mail server and without. */

let server: TestMailServer;
let service: TestService;

before(async () => {
  server = await openMailServer();
  service = await openService({ config: { smtp: server.at } });
});

after(async () => {
  await service.close();
  await server.close();
});

beforeEach(async () => {
  await sendMails(service, server);
  server.mails.length = 0;
});

const someAddress = () => `${newId('user')}@example.org`;

async function request({ jar }: Person, email: string, of = service) {
  return of.call('PUT', '/api/v1/me/email', { token: await jar.token(), json: { email } });
}

/** Presses the button of the page of a mailed link. */
function press(path: string) {
  return service.call('POST', path, {
    body: '',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
  });
}

/** Sends what is queued. Returns the paths of the links that change an address. */
async function links(): Promise<string[]> {
  await sendMails(service, server);
  return server.mails.flatMap(({ text }) => /http:\/\/localhost:8366(\/change-email\S+)/.exec(text ?? '')?.[1] ?? []);
}

async function accountOf({ jar }: Person, of = service): Promise<Account> {
  return (await of.call('GET', '/api/v1/me', { token: await jar.token() })).json<Account>();
}

/** A person without waiting mails. */
async function newcomer(): Promise<Person> {
  const person = await signUpPerson(service);
  await sendMails(service, server);
  server.mails.length = 0;
  return person;
}

describe('an e-mail address', () => {
  it('changes with the link that the new address gets, once, and both addresses hear of it', async () => {
    const person = await newcomer();
    const email = someAddress();
    const answer = await request(person, ` ${email.toUpperCase()} `);
    assert.equal(answer.json<Account>().email, person.email, answer.payload);
    const [path = ''] = await links();
    assert.deepEqual(
      server.mails.map(({ recipient, subject }) => [recipient, subject]).sort(),
      [
        [email, 'Confirm your new e-mail address'],
        [person.email, 'Another e-mail address was requested for your account'],
      ].sort(),
    );
    const page = await service.call('GET', path);
    assert.match(page.payload, /<button>Use the address<\/button>/);
    assert.equal((await accountOf(person)).email, person.email, 'opening the link changes nothing');
    server.mails.length = 0;

    assert.match((await press(path)).payload, new RegExp(`Your account uses ${email}`));
    const { email: present, isEmailVerified } = await accountOf(person);
    assert.deepEqual([present, isEmailVerified], [email, true]);
    await sendMails(service, server);
    const [notice] = server.mails;
    assert.deepEqual(
      [notice?.recipient, notice?.subject],
      [person.email, 'The e-mail address of your account was changed'],
    );
    assert.equal(notice?.raw.includes(email), false);
    assert.equal((await press(path)).statusCode, 404, 'once');

    const { password } = person;
    assertProblem(
      await openJar(service).call('POST', '/session', { email: person.email, password }),
      401,
      'invalid_credentials',
    );
    await signIn(service, { ...person, email });
    const events = await service.store.read.auditOfAccount(person.id, {}, { limit: 5 });
    const changes = events.filter(({ action }) => action.startsWith('account.email'));
    assert.deepEqual(
      changes.map(({ action }) => action),
      ['account.email_change', 'account.email_request'],
    );
  });

  it('keeps password links that the old address got from working', async () => {
    const person = await newcomer();
    const { code } = await createPasswordLink(service.services.deps, 'operator', person.id);
    await openJar(service).call('POST', '/session/password-link', { email: person.email });
    await request(person, someAddress());
    const [path = ''] = await links();
    assert.equal((await press(path)).statusCode, 200);
    const mailed = server.mails.find(({ subject }) => subject === 'Reset your password');
    const codes = [code, /#code=(\S+)/.exec(mailed?.text ?? '')?.[1] ?? ''];
    for (const used of codes) {
      const reset = { code: used, password: 'four candles and handles' };
      assertProblem(await openJar(service).call('POST', '/session/reset-password', reset), 410, 'link_expired');
    }
  });

  it('needs step-up in a session, and a form that mail can go to', async () => {
    const person = await newcomer();
    assertProblem(await request(person, 'no address'), 422, 'invalid_field');
    assertProblem(await request(person, 'ada@[127.0.0.1]'), 422, 'invalid_field');
    service.advance(5 * 60_000);
    assertProblem(await request(person, someAddress()), 403, 'step_up_required');
    assertProblem(await request(person, 'no address'), 403, 'step_up_required');
    assert.deepEqual(await links(), []);
    service.advance(-5 * 60_000);
  });

  it('of another account looks free, and can’t be taken with a link either', async () => {
    const [person, other] = [await newcomer(), await newcomer()];
    assert.equal((await request(person, other.email)).statusCode, 200);
    assert.deepEqual(await links(), []);
    const email = someAddress();
    await request(person, email);
    const [path = ''] = await links();
    await service.store.write((tx) => tx.setEmail(other.id, email));
    assert.equal((await press(path)).statusCode, 404);
    assert.equal((await accountOf(person)).email, person.email);
  });

  it('has one requested change, which the present address cancels', async () => {
    const person = await newcomer();
    await request(person, someAddress());
    const [first = ''] = await links();
    server.mails.length = 0;
    const email = someAddress();
    await request(person, email);
    const [second = ''] = await links();
    assert.equal((await press(first)).statusCode, 404);
    await request(person, person.email);
    assert.equal((await press(second)).statusCode, 404);
    server.mails.length = 0;
    await request(person, email);
    await request(person, person.email);
    assert.deepEqual(await links(), [], 'also a mail that still waits');
    assertProblem(await request(person, someAddress()), 429, 'rate_limited');
  });

  it('is not changed by a link that is old, or after the old credentials ended', async () => {
    const expired = await newcomer();
    await request(expired, someAddress());
    const [late = ''] = await links();
    service.advance(24 * 60 * 60_000 + 1);
    assert.equal((await press(late)).statusCode, 404);
    service.advance(-24 * 60 * 60_000 - 1);

    const ends: Readonly<Record<string, (person: Person) => Promise<unknown>>> = {
      'a password change': async ({ jar, password }) =>
        service.call('PUT', '/api/v1/me/password', {
          token: await jar.token(),
          json: { currentPassword: password, newPassword: 'four candles and handles' },
        }),
      'a password reset': async ({ id }) => {
        const { code } = await createPasswordLink(service.services.deps, 'operator', id);
        const reset = { code, password: 'four candles and handles' };
        return openJar(service).call('POST', '/session/reset-password', reset);
      },
      'ending everything': async ({ jar }) =>
        service.call('POST', '/api/v1/credentials/revoke-all', { token: await jar.token(), json: {} }),
      suspension: ({ id }) => suspendUser(service.services.deps, 'operator', id),
    };
    for (const [what, end] of Object.entries(ends)) {
      const person = await newcomer();
      await request(person, someAddress());
      const [path = ''] = await links();
      await end(person);
      assert.equal((await press(path)).statusCode, 404, what);
      assert.equal((await service.store.read.user(person.id))?.email, person.email);
    }
  });

  it('goes to one of several accounts that confirm it at once', async () => {
    const email = someAddress();
    const paths: string[] = [];
    for (const person of [await newcomer(), await newcomer(), await newcomer()]) {
      await request(person, email);
      paths.push(...(await links()));
      server.mails.length = 0;
    }
    const statuses = await Promise.all(paths.map(async (path) => (await press(path)).statusCode));
    assert.deepEqual(statuses.sort(), [200, 404, 404]);
  });
});

describe('an e-mail address on a server without mail', () => {
  it('changes at once, and is not verified', async () => {
    const own = await openService();
    try {
      const [person, other] = [await signUpPerson(own), await signUpPerson(own)];
      const preferences = { userId: person.id, verifiedEmail: person.email, muted: [] };
      await own.store.write((tx) => tx.putMailPreferences(preferences));
      assertProblem(await request(person, other.email.toUpperCase(), own), 409, 'email_taken');
      const email = someAddress();
      assert.equal((await request(person, email, own)).json<Account>().email, email);
      const { isEmailVerified } = await accountOf(person, own);
      assert.equal(isEmailVerified, false);
      await signIn(own, { ...person, email });
      const [both, third] = [someAddress(), await signUpPerson(own)];
      const statuses = await Promise.all([request(person, both, own), request(third, both, own)]);
      assert.deepEqual(statuses.map(({ statusCode }) => statusCode).sort(), [200, 409]);
    } finally {
      await own.close();
    }
  });
});
