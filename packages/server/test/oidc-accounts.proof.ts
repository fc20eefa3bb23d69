import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AppId, newId, type SessionState, type UserId } from '@tenon/protocol';
import { createPasswordLink } from '../src/auth/manage-users.ts';
import { createSignInProviders } from '../src/auth/oidc/providers.ts';
import { signInLifetimeMs } from '../src/auth/oidc/start-sign-in.ts';
import { type GroupRule, type ProviderSettings, passwordsOnly } from '../src/config/sign-in-providers.ts';
import { postForm } from './helpers/browser.ts';
import { type Jar, openJar, signUpPerson } from './helpers/jar.ts';
import { logoutClaims, makeKey, openIssuer, providerOf, type TestIssuer, testClientId } from './helpers/oidc-issuer.ts';
import { addPasskey } from './helpers/passkeys.ts';
import { startTrip, travel } from './helpers/provider-sign-in.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { makeWorld, type World } from './helpers/world.ts';

let issuer: TestIssuer;
before(async () => {
  issuer = await openIssuer();
});
after(() => issuer.close());

async function withService(
  changes: Partial<ProviderSettings>,
  work: (service: TestService) => Promise<void>,
  { passwordSignIn = true, ...config }: { passwordSignIn?: boolean; signUp?: 'open' | 'invitation' | 'off' } = {},
): Promise<void> {
  const signIn = { passwordSignIn, providers: [providerOf(issuer.url, changes)], warnings: [] };
  const service = await openService({ config: { signIn, ...config } });
  try {
    await work(service);
  } finally {
    await service.close();
  }
}

async function accountOf(jar: Jar): Promise<SessionState['account']> {
  return (await jar.call('GET', '/session')).json<SessionState>().account;
}

async function idOf(jar: Jar): Promise<UserId> {
  const account = await accountOf(jar);
  assert.ok(account);
  return account.id as UserId;
}

const claimsFor = (name: string, more: object = {}) => ({ sub: name, email: `${name}@example.org`, ...more });

describe('accounts of a provider', () => {
  it('are created for the domains of the settings only', () =>
    withService({ createsAccounts: ['example.com'] }, async (service) => {
      const jar = openJar(service);
      assert.equal(await travel(issuer, jar, { grant: { claims: claimsFor('ada') } }), 'no_account');
      const claims = claimsFor('ada', { email: 'ada@example.com' });
      assert.equal(await travel(issuer, jar, { grant: { claims } }), null);
      const lookalike = claimsFor('eve', { email: 'eve@example.com.evil.example' });
      assert.equal(await travel(issuer, openJar(service), { grant: { claims: lookalike } }), 'no_account');
    }));

  it('need a permit if the provider creates none', () =>
    withService({ createsAccounts: false }, async (service) => {
      assert.equal(await travel(issuer, openJar(service), { grant: { claims: claimsFor('ada') } }), 'no_account');
      const world: World = await makeWorld(service);
      const invited = await service.call('POST', `/api/v1/apps/${world.appId}/guests/invite`, {
        token: world.owner.token,
        json: { guestKey: 'grace', deliveryMethod: 'link' },
      });
      const link = invited.json<{ link: string }>().link;
      const invitationCode = new URL(link).searchParams.get('code') ?? '';
      const jar = openJar(service);
      const trip = { body: { invitationCode }, grant: { claims: claimsFor('grace') } };
      assert.equal(await travel(issuer, jar, trip), null);
      assert.equal((await accountOf(jar))?.email, 'grace@example.org');
      const second = { body: { invitationCode }, grant: { claims: claimsFor('second') } };
      const refused = await openJar(service).call('POST', '/session/oidc/corp', second.body);
      assertProblem(refused, 410, 'invitation_used');
    }));

  it('open the account with the same verified address, if the settings allow it', () =>
    withService({ linksByEmail: true }, async (service) => {
      const person = await signUpPerson(service, { email: 'ada@example.org' });
      const jar = openJar(service);
      assert.equal(
        await travel(issuer, jar, { grant: { claims: claimsFor('ada') } }),
        'email_taken',
        'not verified here',
      );
      const preferences = { userId: person.id, verifiedEmail: person.email, muted: [] };
      await service.store.write((tx) => tx.putMailPreferences(preferences));
      const unverified = claimsFor('ada', { email_verified: false });
      assert.equal(await travel(issuer, jar, { grant: { claims: unverified } }), 'email', 'not verified there');
      assert.equal(await travel(issuer, jar, { grant: { claims: claimsFor('ada') } }), null);
      assert.equal(await idOf(jar), person.id);
    }));

  it('are not opened by an address of another claim, which "email_verified" is not about', () =>
    withService({ emailClaim: 'upn' }, async (service) => {
      const claims = claimsFor('eve', { upn: 'ada@example.org' });
      assert.equal(await travel(issuer, openJar(service), { grant: { claims } }), 'email');
    }));

  it('are not opened by their address if they have a passkey', () =>
    withService({ linksByEmail: true }, async (service) => {
      const person = await signUpPerson(service, { email: 'ada@example.org' });
      const preferences = { userId: person.id, verifiedEmail: person.email, muted: [] };
      await service.store.write((tx) => tx.putMailPreferences(preferences));
      await addPasskey(person);
      assert.equal(await travel(issuer, openJar(service), { grant: { claims: claimsFor('ada') } }), 'email_taken');
    }));

  it('are not opened for a suspended user', () =>
    withService({}, async (service) => {
      const jar = openJar(service);
      await travel(issuer, jar, { grant: { claims: claimsFor('ada') } });
      const id = await idOf(jar);
      await service.store.write((tx) => tx.setSuspended(id, 1));
      assert.equal(await travel(issuer, openJar(service), { grant: { claims: claimsFor('ada') } }), 'suspended');
    }));

  it('are created once if two responses arrive at once', () =>
    withService({}, async (service) => {
      const jars = [openJar(service), openJar(service), openJar(service)];
      const trip = { grant: { claims: claimsFor('ada') } };
      const found = await Promise.all(jars.map((jar) => travel(issuer, jar, trip)));
      assert.ok(found.includes(null), String(found));
      const ids = new Set((await Promise.all(jars.map(accountOf))).flatMap((account) => account?.id ?? []));
      assert.equal(ids.size, 1);
    }));
});

describe('linked sign-ins', () => {
  it('need a confirmed session, and open the account', () =>
    withService({ createsAccounts: false }, async (service) => {
      const { id, jar } = await signUpPerson(service);
      service.advance(6 * 60_000);
      assertProblem(await jar.call('POST', '/session/oidc/corp/link', {}), 403, 'step_up_required');
      service.advance(-6 * 60_000);
      const grant = { claims: claimsFor('ada') };
      assert.equal(await travel(issuer, jar, { path: '/link', grant }), null);
      const other = openJar(service);
      assert.equal(await travel(issuer, other, { grant }), null);
      assert.equal(await idOf(other), id);
      const thief = await signUpPerson(service);
      assert.equal(await travel(issuer, thief.jar, { path: '/link', grant }), 'identity_taken');
    }));

  it('are not completed by another session of the same browser', () =>
    withService({ createsAccounts: false }, async (service) => {
      const { jar, email, password } = await signUpPerson(service);
      const url = await startTrip(jar, { path: '/link' });
      await jar.call('POST', '/session', { email, password });
      const query = issuer.authorize(url, { claims: claimsFor('ada') });
      const response = await jar.call('GET', `/session/oidc/corp/callback?${query}`);
      assert.match(String(response.headers.location), /refused=not_signed_in/);
      assert.equal(await service.store.read.identityBySubject(issuer.url, 'ada'), undefined);
    }));

  it('can be removed, except the last means of sign-in', () =>
    withService({}, async (service) => {
      const jar = openJar(service);
      await travel(issuer, jar, { grant: { claims: claimsFor('ada') } });
      const token = await jar.token();
      const list = await service.call('GET', '/api/v1/me/identities', { token });
      const [identity] = list.json<{ objects: { id: string }[] }>().objects;
      const path = `/api/v1/me/identities/${identity?.id}`;
      assertProblem(await service.call('DELETE', path, { token }), 409, 'conflict');
      await travel(issuer, jar, { path: '/link', grant: { claims: claimsFor('ada-2') } });
      assert.equal((await service.call('DELETE', path, { token })).statusCode, 204);
      assert.equal(await travel(issuer, openJar(service), { grant: { claims: claimsFor('ada') } }), 'email_taken');
    }));
});

describe('a passkey besides a provider', () => {
  it('can be removed if the provider still signs in, with or without a password', () =>
    withService({}, async (service) => {
      const jar = openJar(service);
      await travel(issuer, jar, { grant: { claims: claimsFor('ada') } });
      const { passkey } = await addPasskey({ jar });
      assert.equal((await jar.call('DELETE', `/session/passkeys/${passkey.id}`)).statusCode, 204);
    }));

  it('is the last means of sign-in if the password can’t be used', () =>
    withService({}, async (service) => {
      const person = await signUpPerson(service);
      const { passkey } = await addPasskey(person);
      Object.assign(service.services.deps.settings.signIn, { passwordSignIn: false });
      assertProblem(await person.jar.call('DELETE', `/session/passkeys/${passkey.id}`), 409, 'conflict');
    }));
});

describe('sign-ins in progress', () => {
  it('are limited in number, and expire', () =>
    withService({}, async (service) => {
      const { read } = service.store;
      await openJar(service).call('POST', '/session/oidc/corp', {});
      await openJar(service).call('POST', '/session/oidc/corp', {});
      const nowMs = service.services.deps.clock();
      assert.deepEqual(
        [await read.hasManyProviderSignIns(1, nowMs), await read.hasManyProviderSignIns(2, nowMs)],
        [true, false],
      );
      assert.equal(await read.hasManyProviderSignIns(0, nowMs + signInLifetimeMs), false);
    }));
});

describe('confirmation with a provider', () => {
  it('confirms the session, only for the same user and a new authentication', () =>
    withService({}, async (service) => {
      const jar = openJar(service);
      const old = { auth_time: Math.floor(Date.now() / 1000) - 3600 };
      await travel(issuer, jar, { grant: { claims: claimsFor('ada', old) } });
      assertProblem(await jar.call('POST', '/session/oidc/corp/link', {}), 403, 'step_up_required');
      const confirm = (claims: object) => travel(issuer, jar, { path: '/confirm', grant: { claims: { ...claims } } });
      assert.equal(await confirm(claimsFor('ada', old)), 'not_confirmed');
      assert.equal(await confirm(claimsFor('ada', { auth_time: undefined })), 'not_confirmed');
      assert.equal(await confirm(claimsFor('eve')), 'other_identity');
      assertProblem(await jar.call('POST', '/session/oidc/corp/link', {}), 403, 'step_up_required');
      assert.equal(await confirm(claimsFor('ada')), null);
      assert.equal((await jar.call('POST', '/session/oidc/corp/link', {})).statusCode, 200);
      const parameters = new URL(await startTrip(jar, { path: '/confirm' })).searchParams;
      assert.deepEqual([parameters.get('prompt'), parameters.get('max_age')], ['login', '0']);
    }));
});

describe('an account without a password', () => {
  it('needs a confirmation to be deleted in a browser', () =>
    withService({}, async (service) => {
      const jar = openJar(service);
      const old = { auth_time: Math.floor(Date.now() / 1000) - 3600 };
      await travel(issuer, jar, { grant: { claims: claimsFor('ada', old) } });
      assert.equal((await accountOf(jar))?.hasPassword, false);
      const remove = async () => service.call('POST', '/api/v1/me/deletion', { token: await jar.token(), json: {} });
      assertProblem(await remove(), 403, 'step_up_required');
      await travel(issuer, jar, { path: '/confirm', grant: { claims: claimsFor('ada') } });
      assert.equal((await remove()).statusCode, 204);
    }));
});

describe('groups', () => {
  it('give and take roles, and leave alone what people gave', async () => {
    const rules: GroupRule[] = [];
    await withService({ rules }, async (service) => {
      const world = await makeWorld(service);
      const appId = world.appId as AppId;
      rules.push(
        { group: 'ops', role: 'operator' },
        { group: 'devs', role: 'viewer', app: appId },
        { group: 'leads', role: 'admin', app: appId },
        { group: 'leads', role: 'owner', app: newId('app') },
      );
      const jar = openJar(service);
      const enter = async (groups: unknown) => {
        assert.equal(await travel(issuer, jar, { grant: { claims: claimsFor('ada', { groups }) } }), null);
        const id = await idOf(jar);
        const { read } = service.store;
        return [(await read.member(appId, id))?.role, await read.isOperator(id)];
      };
      await service.store.write((tx) => tx.putOperator({ userId: world.owner.id, createdAtMs: 1 }));
      assert.deepEqual(await enter(['devs', 'leads', 'ops']), ['admin', true]);
      assert.deepEqual(await enter('devs'), ['viewer', false]);
      assert.deepEqual(await enter(undefined), [undefined, false]);
      assert.deepEqual(await enter(['leads']), ['admin', false]);
      const id = await idOf(jar);
      const byHand = { appId, userId: id, role: 'owner', createdAtMs: 1 } as const;
      await service.store.write((tx) => tx.putMember(byHand));
      assert.deepEqual(await enter([]), ['owner', false], 'a person made the user an owner');
      const events = await service.store.read.auditOfApp(appId, {}, { limit: 100 });
      const ofRules = events.filter(({ details }) => details.provider === 'corp').map(({ action }) => action);
      assert.deepEqual(ofRules.toReversed(), ['member.put', 'member.put', 'member.remove', 'member.put']);
    });
  });

  it('never take the last owner or the last operator', async () => {
    const rules: GroupRule[] = [];
    await withService({ rules }, async (service) => {
      const world = await makeWorld(service);
      const appId = world.appId as AppId;
      rules.push({ group: 'all', role: 'operator' }, { group: 'all', role: 'owner', app: appId });
      const jar = openJar(service);
      await travel(issuer, jar, { grant: { claims: claimsFor('ada', { groups: ['all'] }) } });
      const id = await idOf(jar);
      await service.store.write((tx) => tx.deleteMember(appId, world.owner.id));
      await travel(issuer, jar, { grant: { claims: claimsFor('ada') } });
      assert.equal((await service.store.read.member(appId, id))?.role, 'owner');
      assert.equal(await service.store.read.isOperator(id), true);
    });
  });
});

describe('removing a linked sign-in', () => {
  it('takes back the roles that its groups gave, also of a provider that is not configured any more', async () => {
    const rules: GroupRule[] = [];
    await withService({ rules, createsAccounts: false }, async (service) => {
      const world = await makeWorld(service);
      const appId = world.appId as AppId;
      rules.push({ group: 'devs', role: 'viewer', app: appId });
      const { id, jar } = await signUpPerson(service);
      await travel(issuer, jar, { path: '/link', grant: { claims: claimsFor('ada') } });
      await travel(issuer, jar, { grant: { claims: claimsFor('ada', { groups: ['devs'] }) } });
      assert.equal((await service.store.read.member(appId, id))?.role, 'viewer');
      const { deps } = service.services;
      Object.assign(deps, { signInProviders: createSignInProviders({ ...passwordsOnly }, deps.clock) });
      const [identity] = await service.store.read.identities(id);
      const token = await jar.token();
      assert.equal((await service.call('DELETE', `/api/v1/me/identities/${identity?.id}`, { token })).statusCode, 204);
      assert.equal(await service.store.read.member(appId, id), undefined);
    });
  });

  it('takes back the roles that another client of the same issuer gave', async () => {
    const rules: GroupRule[] = [];
    const providers = [providerOf(issuer.url), providerOf(issuer.url, { id: 'second', rules })];
    const service = await openService({ config: { signIn: { passwordSignIn: true, providers, warnings: [] } } });
    try {
      const appId = (await makeWorld(service)).appId as AppId;
      rules.push({ group: 'devs', role: 'viewer', app: appId });
      const { id, jar } = await signUpPerson(service);
      await travel(issuer, jar, { path: '/link', grant: { claims: claimsFor('ada') } });
      const grant = { claims: claimsFor('ada', { groups: ['devs'] }) };
      assert.equal(await travel(issuer, jar, { provider: 'second', grant }), null);
      assert.equal((await service.store.read.member(appId, id))?.role, 'viewer');
      const [identity] = await service.store.read.identities(id);
      const token = await jar.token();
      assert.equal((await service.call('DELETE', `/api/v1/me/identities/${identity?.id}`, { token })).statusCode, 204);
      assert.equal(await service.store.read.member(appId, id), undefined);
    } finally {
      await service.close();
    }
  });
});

describe('logout', () => {
  it('ends the sessions that a logout token names, once', () =>
    withService({}, async (service) => {
      const path = '/session/oidc/corp/backchannel-logout';
      const enter = async (sid: string, sub = 'ada') => {
        const jar = openJar(service);
        assert.equal(await travel(issuer, jar, { grant: { claims: claimsFor(sub, { sid }) } }), null);
        return jar;
      };
      const [first, second, other] = [await enter('s1'), await enter('s2'), await enter('s3', 'grace')];
      const claims = { iss: issuer.url, aud: testClientId, ...logoutClaims() };
      const sendToken = async (more: object, key?: Awaited<ReturnType<typeof makeKey>>) => {
        const token = await issuer.token({ ...claims, ...more }, { typ: 'logout+jwt', ...(key && { key }) });
        return (await postForm(service, path, { logout_token: token })).statusCode;
      };
      const seconds = Math.floor(Date.now() / 1000);
      const refused: Readonly<Record<string, object>> = {
        'no subject and no session': { jti: '1' },
        'another issuer': { jti: '2', sub: 'ada', iss: 'https://evil.example' },
        'another audience': { jti: '3', sub: 'ada', aud: 'other' },
        'no event': { jti: '4', sub: 'ada', events: {} },
        'a nonce, as an ID token has': { jti: '5', sub: 'ada', nonce: 'x' },
        'no jti': { sub: 'ada' },
        expired: { jti: '6', sub: 'ada', iat: seconds - 4000, exp: seconds - 3600 },
        old: { jti: '7', sub: 'ada', iat: seconds - 4000 },
      };
      for (const [what, more] of Object.entries(refused)) assert.equal(await sendToken(more), 400, what);
      assert.equal(await sendToken({ jti: '8', sub: 'ada' }, await makeKey()), 400, 'another key');
      assert.ok((await accountOf(first)) && (await accountOf(second)));
      assert.equal(await sendToken({ jti: '9', sid: 's1', sub: 'ada' }), 200);
      assert.equal(await accountOf(first), null);
      assert.ok(await accountOf(second));
      const third = await enter('s1');
      assert.equal(await sendToken({ jti: '9', sid: 's1', sub: 'ada' }), 400, 'replayed');
      assert.ok(await accountOf(third));
      assert.equal(await sendToken({ jti: '10', sub: 'ada' }), 200);
      assert.deepEqual([await accountOf(second), await accountOf(third)], [null, null]);
      assert.ok(await accountOf(other));
    }));

  it('limits tokens that are not valid', () =>
    withService({}, async (service) => {
      let status = 0;
      for (let n = 0; n < 30 && status !== 429; n++) {
        const form = { logout_token: `x${n}` };
        status = (await postForm(service, '/session/oidc/corp/backchannel-logout', form)).statusCode;
      }
      assert.equal(status, 429);
    }));

  it('leads to the provider with the ID token', () =>
    withService({ id: 'rp' }, async (service) => {
      issuer.metadata = { end_session_endpoint: `${issuer.url}/logout` };
      const jar = openJar(service);
      await travel(issuer, jar, { provider: 'rp', grant: { claims: claimsFor('ada') } });
      const { redirectTo } = (await jar.call('POST', '/session/sign-out', {})).json<{ redirectTo: string }>();
      issuer.metadata = {};
      const { origin, searchParams } = new URL(redirectTo);
      assert.equal(origin, issuer.url);
      assert.equal(searchParams.get('post_logout_redirect_uri'), 'http://localhost:8366/sign-in');
      assert.equal(searchParams.get('id_token_hint')?.split('.').length, 3);
      assert.equal(await accountOf(jar), null);
    }));
});

describe('a provider', () => {
  it('may rotate its keys', () =>
    withService({}, async (service) => {
      const before = issuer.keys;
      assert.equal(await travel(issuer, openJar(service), { grant: { claims: claimsFor('ada') } }), null);
      issuer.keys = [await makeKey()];
      service.advance(60_000);
      await new Promise((resolve) => setTimeout(resolve, 3100)); // keys are fetched again after this time at the earliest
      assert.equal(await travel(issuer, openJar(service), { grant: { claims: claimsFor('ada') } }), null);
      issuer.keys = before;
    }));

  it('gets no request to plain http elsewhere, and no redirect is followed', () =>
    withService({}, async (service) => {
      issuer.metadata = { token_endpoint: 'http://192.0.2.1/token' };
      assert.equal(await travel(issuer, openJar(service), { grant: { claims: claimsFor('ada') } }), 'unavailable');
      issuer.metadata = {};
    }));

  it('is not read without end', () =>
    withService({}, async (service) => {
      const path = '/.well-known/openid-configuration';
      issuer.answers.set(path, (response) => response.end(' '.repeat(2_000_000)));
      assertProblem(await openJar(service).call('POST', '/session/oidc/corp', {}), 503, 'unavailable');
      issuer.answers.delete(path);
    }));
});

describe('without passwords', () => {
  it('refuses every way in with a password, except the operator’s link', () =>
    withService(
      {},
      async (service) => {
        const jar = openJar(service);
        const post = async (path: string, json: object) =>
          assertProblem(await jar.call('POST', path, json), 403, 'password_sign_in_off');
        await post('/session', { email: 'ada@example.org', password: 'x' });
        await post('/session/sign-up', { name: 'x', email: 'ada@example.org', password: 'magnolia tugboat 17' });
        await post('/session/password-link', { email: 'ada@example.org' });
        const { id } = await service.user('Ada');
        const link = await createPasswordLink(service.services.deps, 'operator', id, 'ada@example.org');
        const reset = { code: link.code, password: 'magnolia tugboat 17 linen' };
        assert.equal((await jar.call('POST', '/session/reset-password', reset)).statusCode, 200);
        assert.equal((await accountOf(jar))?.id, id);
      },
      { passwordSignIn: false },
    ));
});
