import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { SessionState } from '@tenon/protocol';
import type { JWTPayload } from 'jose';
import { type Jar, openJar, signUpPerson } from './helpers/jar.ts';
import { type Grant, makeKey, openIssuer, providerOf, type TestIssuer } from './helpers/oidc-issuer.ts';
import { endTrip, startTrip, travel } from './helpers/provider-sign-in.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';

let issuer: TestIssuer;
let service: TestService;
before(async () => {
  issuer = await openIssuer();
  const providers = [
    providerOf(issuer.url),
    providerOf(issuer.url, { id: 'other', clientId: 'other' }),
    providerOf('http://127.0.0.1:9', { id: 'down', label: 'Down' }),
  ];
  service = await openService({ config: { signIn: { passwordSignIn: true, providers, warnings: [] } } });
});
after(async () => {
  await service.close();
  await issuer.close();
});

const signIn = (jar: Jar, grant: Grant = {}) => travel(issuer, jar, { grant });

async function accountOf(jar: Jar): Promise<SessionState['account']> {
  return (await jar.call('GET', '/session')).json<SessionState>().account;
}

/** The reasons of the refusals in the audit trail, oldest first. */
async function refusals(): Promise<unknown[]> {
  const events = await service.store.read.auditOfAll({ action: 'sign_in.refuse' }, { limit: 1000 });
  return events.map(({ details }) => details.reason).reverse();
}

async function newRefusals(work: () => Promise<unknown>): Promise<unknown[]> {
  const before = (await refusals()).length;
  await work();
  return (await refusals()).slice(before);
}

describe('sign-in with a provider', () => {
  it('creates an account, and opens it again', async () => {
    const jar = openJar(service);
    const claims = { sub: 'grace', name: 'Grace', email: 'Grace@Example.org' };
    assert.equal(await signIn(jar, { claims }), null);
    const account = await accountOf(jar);
    assert.deepEqual(
      { name: account?.name, email: account?.email, isEmailVerified: account?.isEmailVerified },
      { name: 'Grace', email: 'grace@example.org', isEmailVerified: true },
    );
    const again = openJar(service);
    assert.equal(await signIn(again, { claims: { ...claims, email: 'changed@example.org' } }), null);
    assert.equal((await accountOf(again))?.id, account?.id);
  });

  it('lists the providers in the state of the browser', async () => {
    const { providers, passwordSignIn } = (await openJar(service).call('GET', '/session')).json<SessionState>();
    assert.equal(passwordSignIn, true);
    assert.deepEqual(providers[0], { id: 'corp', label: 'Corp' });
  });

  it('sends code, PKCE, state, and nonce, and stores none of the secrets', async () => {
    const jar = openJar(service);
    const parameters = new URL(await startTrip(jar)).searchParams;
    assert.equal(parameters.get('response_type'), 'code');
    assert.equal(parameters.get('code_challenge_method'), 'S256');
    assert.equal(parameters.get('redirect_uri'), 'http://localhost:8366/session/oidc/corp/callback');
    for (const name of ['state', 'nonce', 'code_challenge']) assert.match(parameters.get(name) ?? '', /^[\w-]{43}$/);
  });

  it('does not open an account with the same address', async () => {
    const person = await signUpPerson(service, { email: 'taken@example.org' });
    const jar = openJar(service);
    const claims = { sub: 'someone', email: person.email };
    assert.deepEqual(await newRefusals(async () => assert.equal(await signIn(jar, { claims }), 'email_taken')), [
      'not_allowed',
    ]);
    assert.equal(await accountOf(jar), null);
  });

  it('answers 503 while a provider is down, and 404 for an unknown one', async () => {
    const jar = openJar(service);
    assertProblem(await jar.call('POST', '/session/oidc/down', {}), 503, 'unavailable');
    assertProblem(await jar.call('POST', '/session/oidc/none', {}), 404, 'not_found');
  });
});

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Forged and faulty tokens, with the reason in the audit trail. */
const forgeries: Readonly<Record<string, readonly [reason: string, grant: () => Promise<Grant> | Grant]>> = {
  'another issuer': ['issuer', () => ({ claims: { iss: 'https://evil.example' } })],
  'another audience': ['audience', () => ({ claims: { aud: 'another-client' } })],
  'another nonce': ['nonce', () => ({ claims: { nonce: 'another' } })],
  'no nonce': ['nonce', () => ({ claims: { nonce: undefined } })],
  'an expired token': ['expired', () => ({ claims: { exp: Math.floor(Date.now() / 1000) - 120 } })],
  'a token of the future': ['not_yet_valid', () => ({ claims: { nbf: Math.floor(Date.now() / 1000) + 600 } })],
  'a subject that is too long': ['subject', () => ({ claims: { sub: 'x'.repeat(300) } })],
  'alg none': ['algorithm', () => ({ sign: (claims) => `${base64url({ alg: 'none' })}.${base64url(claims)}.` })],
  'HS256 with the public key': [
    'algorithm',
    () => ({
      sign(claims: JWTPayload) {
        const [key] = issuer.keys;
        const signed = `${base64url({ alg: 'HS256', kid: key?.kid })}.${base64url(claims)}`;
        return `${signed}.${createHmac('sha256', JSON.stringify(key?.publicJwk)).update(signed).digest('base64url')}`;
      },
    }),
  ],
  'a key that the issuer does not publish': [
    'unknown_key',
    async () => {
      const key = await makeKey();
      return { sign: (claims) => issuer.token(claims, { key }) };
    },
  ],
  'another key with the same id': [
    'signature',
    async () => {
      const key = await makeKey(issuer.keys[0]?.kid);
      return { sign: (claims) => issuer.token(claims, { key }) };
    },
  ],
  'no token': ['malformed', () => ({ sign: () => 'nonsense' })],
  'an address that is not verified': ['claims', () => ({ claims: { sub: 'new', email_verified: false } })],
};

describe('a refused sign-in', () => {
  for (const [what, [reason, grant]] of Object.entries(forgeries)) {
    it(`leaves an audit event: ${what}`, async () => {
      service.advance(60_000); // the limit of events for each network
      const jar = openJar(service);
      const found = await grant();
      assert.deepEqual(await newRefusals(async () => assert.notEqual(await signIn(jar, found), null)), [reason]);
      assert.equal(await accountOf(jar), null);
    });
  }

  it('leaves an audit event: another issuer in the response (RFC 9207)', async () => {
    const jar = openJar(service);
    const query = issuer.authorize(await startTrip(jar));
    query.set('iss', 'https://evil.example');
    assert.deepEqual(await newRefusals(() => endTrip(jar, query)), ['issuer']);
  });

  it('leaves an audit event: a state of another browser, or of none', async () => {
    service.advance(60_000);
    const victim = openJar(service);
    await startTrip(victim); // it has a cookie too
    const query = issuer.authorize(await startTrip(openJar(service)));
    const expected = ['state', 'state', 'state'];
    const found = await newRefusals(async () => {
      assert.equal((await endTrip(victim, query)).get('refused'), 'expired');
      assert.equal((await endTrip(openJar(service), query)).get('refused'), 'expired');
      await endTrip(victim, new URLSearchParams({ code: 'x' }));
    });
    assert.deepEqual(found, expected);
    assert.equal(await accountOf(victim), null);
  });

  it('leaves an audit event: a state of another provider', async () => {
    const jar = openJar(service);
    const query = issuer.authorize(await startTrip(jar));
    assert.deepEqual(await newRefusals(() => endTrip(jar, query, 'other')), ['state']);
  });

  it('leaves an audit event: a replayed state, also with a new code', async () => {
    service.advance(60_000);
    const jar = openJar(service);
    const url = await startTrip(jar);
    const grant = { claims: { sub: 'replay', email: 'replay@example.org' } };
    assert.equal((await endTrip(jar, issuer.authorize(url, grant))).get('refused'), null);
    const found = await newRefusals(async () =>
      assert.equal((await endTrip(jar, issuer.authorize(url, grant))).get('refused'), 'expired'),
    );
    assert.deepEqual(found, ['replayed']);
  });

  it('leaves an audit event: a code that was used with another state', async () => {
    const jar = openJar(service);
    const first = issuer.authorize(await startTrip(jar), { claims: { sub: 'replay', email: 'replay@example.org' } });
    await endTrip(jar, first);
    const second = issuer.authorize(await startTrip(jar));
    second.set('code', first.get('code') ?? '');
    assert.deepEqual(await newRefusals(() => endTrip(jar, second)), ['replayed']);
  });

  it('leaves an audit event: a response that came too late', async () => {
    const jar = openJar(service);
    const query = issuer.authorize(await startTrip(jar));
    service.advance(16 * 60_000);
    try {
      assert.deepEqual(await newRefusals(() => endTrip(jar, query)), ['expired']);
    } finally {
      service.advance(-16 * 60_000);
    }
  });

  it('leaves no audit event if the user cancels', async () => {
    const jar = openJar(service);
    const query = issuer.authorize(await startTrip(jar));
    query.delete('code');
    query.set('error', 'access_denied');
    const found = await newRefusals(async () => assert.equal((await endTrip(jar, query)).get('refused'), 'canceled'));
    assert.deepEqual(found, []);
  });
});
