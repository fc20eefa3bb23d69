import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId, type SessionState } from '@tenon/protocol';
import { createPasswordLink } from '../src/auth/manage-users.ts';
import { hashSecret, makeCode } from '../src/auth/secrets.ts';
import { postForm } from './helpers/browser.ts';
import { type Jar, openJar, signUpPerson } from './helpers/jar.ts';
import { logoutClaims, openIssuer, providerOf, type TestIssuer, testClientId } from './helpers/oidc-issuer.ts';
import { addPasskey, enterPassword, optionsOf, signInWith } from './helpers/passkeys.ts';
import { noPostgres, sharedPostgres } from './helpers/postgres.ts';
import { endTrip, startTrip, travel } from './helpers/provider-sign-in.ts';
import { openService, type TestService } from './helpers/service.ts';

/* Sign-in on two processes of one store: what one starts, the other completes, and what works once works once on both together. */

const count = 12;

for (const database of ['SQLite', 'PostgreSQL']) {
  describe(`sign-in on two processes with ${database}`, { skip: database === 'PostgreSQL' && noPostgres }, () => {
    let issuer: TestIssuer;
    let here: TestService;
    let there: TestService;
    before(async () => {
      issuer = await openIssuer();
      const signIn = { passwordSignIn: true, providers: [providerOf(issuer.url)], warnings: [] };
      const limits = { signInTriesPerMinute: 10_000, signInsPerMinute: 10_000, codeTriesPerMinute: 10_000 };
      const shared = { signIn, ...limits, databaseConnections: 4 };
      if (database === 'SQLite') {
        here = await openService({ config: shared });
        there = await openService({ config: { ...shared, dataDir: here.dataDir } });
      } else {
        const databaseUrl = (await (await sharedPostgres()).createDatabase()).url;
        here = await openService({ config: { ...shared, databaseUrl } });
        there = await openService({ config: { ...shared, databaseUrl } });
      }
    });
    after(async () => {
      await there?.close();
      await here?.close();
      await issuer?.close();
    });

    /** The same browser, whose requests reach one process or the other. */
    const copyOf = ({ cookies }: Jar, at: number): Jar => {
      const jar = openJar(at % 2 === 0 ? here : there);
      for (const [name, value] of cookies) jar.cookies.set(name, value);
      return jar;
    };

    const copies = (jar: Jar): Jar[] => Array.from({ length: count }, (_, at) => copyOf(jar, at));

    const accountOf = async (jar: Jar) => (await jar.call('GET', '/session')).json<SessionState>().account;

    /** The statuses of concurrent requests: one succeeds, the others fail with a status. */
    function assertOnce(statuses: readonly number[], failed: number, right = 200): void {
      assert.deepEqual([...statuses].sort(), [right, ...Array(statuses.length - 1).fill(failed)].sort());
    }

    it('registers a passkey on one, and signs in with it on the other', async () => {
      const person = await signUpPerson(here);
      const { authenticator } = await addPasskey(person);
      const { response, jar } = await signInWith(there, authenticator);
      assert.equal(response.statusCode, 200, response.payload);
      assert.equal((await accountOf(copyOf(jar, 0)))?.id, person.id);
    });

    it('accepts one response to a challenge', async () => {
      const person = await signUpPerson(here);
      const { authenticator } = await addPasskey(person);
      const jar = openJar(here);
      const response = authenticator.get(await optionsOf(jar));
      const answers = copies(jar).map((copy) => copy.call('POST', '/session/passkey', { response }));
      assertOnce(
        (await Promise.all(answers)).map(({ statusCode }) => statusCode),
        401,
      );
      const passkey = authenticator.get(await optionsOf(person.jar, '/session/confirm/options'));
      const confirmations = copies(person.jar).map((copy) => copy.call('POST', '/session/confirm', { passkey }));
      assertOnce(
        (await Promise.all(confirmations)).map(({ statusCode }) => statusCode),
        401,
        204,
      );
    });

    it('accepts a recovery code once, from one browser and from several', async () => {
      const person = await signUpPerson(here);
      const { recoveryCodes = [] } = await addPasskey(person);
      const [first = '', second = ''] = recoveryCodes;
      const jar = await enterPassword(here, person);
      const tries = copies(jar).map((copy) => copy.call('POST', '/session/recovery-code', { code: first }));
      const statuses = (await Promise.all(tries)).map(({ statusCode }) => statusCode);
      assertOnce(statuses, 401);
      const browsers = await Promise.all(
        Array.from({ length: 4 }, (_, at) => enterPassword(at % 2 === 0 ? here : there, person)),
      );
      const others = browsers.map((browser) => browser.call('POST', '/session/recovery-code', { code: second }));
      assertOnce(
        (await Promise.all(others)).map(({ statusCode }) => statusCode),
        401,
      );
      assert.equal(await there.store.read.countRecoveryCodes(person.id), recoveryCodes.length - 2);
    });

    it('completes a sign-in at a provider on the other, once', async () => {
      const jar = openJar(here);
      const sub = newId('user');
      const query = issuer.authorize(await startTrip(jar), { claims: { sub, email: `${sub}@example.org` } });
      const jars = copies(jar);
      const refusals = await Promise.all(jars.map(async (copy) => (await endTrip(copy, query)).get('refused')));
      assert.deepEqual(refusals.filter((refused) => refused === null).length, 1, String(refusals));
      assert.ok(
        refusals.every((refused) => refused === null || refused === 'expired'),
        String(refusals),
      );
      const accounts = await Promise.all(jars.map(accountOf));
      assert.equal(accounts.filter((account) => account !== null).length, 1);
    });

    it('creates one account for concurrent first sign-ins', async () => {
      const sub = newId('user');
      const grant = { claims: { sub, email: `${sub}@example.org` } };
      const jars = Array.from({ length: 4 }, (_, at) => openJar(at % 2 === 0 ? here : there));
      const refusals = await Promise.all(jars.map((jar) => travel(issuer, jar, { grant })));
      assert.ok(refusals.includes(null), String(refusals));
      const accounts = await Promise.all(jars.map(accountOf));
      assert.equal(new Set(accounts.flatMap((account) => account?.id ?? [])).size, 1);
    });

    it('accepts a logout token once, which ends the session on both', async () => {
      const sub = newId('user');
      const jar = openJar(here);
      const claims = { sub, email: `${sub}@example.org` };
      assert.equal(await travel(issuer, jar, { grant: { claims } }), null);
      assert.ok((await accountOf(copyOf(jar, 0))) && (await accountOf(copyOf(jar, 1))));
      const facts = { iss: issuer.url, aud: testClientId, jti: newId('user'), sub, ...logoutClaims() };
      const form = { logout_token: await issuer.token(facts, { typ: 'logout+jwt' }) };
      const path = '/session/oidc/corp/backchannel-logout';
      const sent = Array.from({ length: count }, (_, at) => postForm(at % 2 === 0 ? here : there, path, form));
      const statuses = (await Promise.all(sent)).map(({ statusCode }) => statusCode);
      assertOnce(statuses, 400);
      await Promise.all([0, 1].map(async (at) => assert.equal(await accountOf(copyOf(jar, at)), null)));
    });

    it('uses a password link, and a link that changes the address, once', async () => {
      const person = await signUpPerson(here);
      const { code } = await createPasswordLink(here.services.deps, 'operator', person.id);
      const reset = { code, password: 'four candles and handles' };
      const resets = copies(openJar(here)).map((copy) => copy.call('POST', '/session/reset-password', reset));
      assertOnce(
        (await Promise.all(resets)).map(({ statusCode }) => statusCode),
        410,
      );
      const mailed = makeCode(here.services.deps.random);
      const recipient = `${newId('user')}@example.org`;
      await here.store.write((tx) =>
        tx.insertMailedCode({
          codeHash: hashSecret(mailed),
          purpose: 'change_email',
          recipient,
          userId: person.id,
          invitationId: null,
          notice: null,
          expiresAtMs: Date.now() + 60_000,
        }),
      );
      const presses = Array.from({ length: count }, (_, at) =>
        postForm(at % 2 === 0 ? here : there, `/change-email?code=${mailed}`, {}),
      );
      assertOnce(
        (await Promise.all(presses)).map(({ statusCode }) => statusCode),
        404,
      );
      assert.equal((await there.store.read.user(person.id))?.email, recipient);
    });
  });
}
