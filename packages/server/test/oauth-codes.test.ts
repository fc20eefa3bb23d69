import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  type AuthorizationOutcome,
  type AuthorizationView,
  comparisonCode,
  type OauthToken,
  oauthPaths,
} from '@tenon/protocol';
import { decideAuthorization } from '../src/auth/oauth/authorization-codes.ts';
import { parseAuthorizationRequest } from '../src/auth/oauth/authorization-request.ts';
import {
  approve,
  authorizationQuery,
  encode,
  exchangeOf,
  openBrowser,
  pkce,
  postForm,
  redirectUri,
  rightPassword,
  type TestBrowser,
} from './helpers/browser.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';

describe('login with a loopback redirect', () => {
  let service: TestService;
  let ada: TestBrowser;
  before(async () => {
    service = await openService({
      config: { codeTriesPerMinute: 1000, accountTriesPerHour: 1000, signInsPerMinute: 1000 },
    });
  });
  beforeEach(async () => {
    ada = await openBrowser(service);
  });
  after(() => service.close());

  const view = (request: string, browser = ada) => browser.post('/session/authorization/view', { request });
  const exchange = (fields: ReturnType<typeof exchangeOf>) => postForm(service, oauthPaths.token, fields);
  const opens = async ({ access_token: token }: OauthToken) =>
    (await service.call('GET', '/api/v1/me', { token })).statusCode === 200;
  const redeem = async (redirectedTo: URL): Promise<OauthToken> => {
    const response = await exchange(exchangeOf(redirectedTo));
    assert.equal(response.statusCode, 200, response.payload);
    return response.json<OauthToken>();
  };
  const assertRefused = async (fields: ReturnType<typeof exchangeOf>, error = 'invalid_grant') => {
    const response = await exchange(fields);
    assert.equal(response.statusCode, 400, response.payload);
    assert.equal(response.json().error, error);
  };

  it('shows the program, its address, the scopes, and the code to compare', async () => {
    const response = await view(authorizationQuery({ scope: 'manage read', device_name: "Ada's laptop" }));
    assert.equal(response.statusCode, 200);
    const { requestedAt, ...rest } = response.json<AuthorizationView>();
    assert.ok(Math.abs(Date.parse(requestedAt) - service.services.deps.clock()) < 10_000);
    assert.deepEqual(rest, {
      flow: 'loopback',
      client: { id: 'tenon-cli', name: 'Tenon command line' },
      deviceName: "Ada's laptop",
      address: '127.0.0.1',
      scopes: ['read', 'manage'],
      userCode: comparisonCode(pkce.challenge),
      tokenLifetimeDays: 30,
    });
  });

  it('returns a token of the approving user with the granted scopes', async () => {
    const returned = await approve(ada, { device_name: 'build-7' });
    assert.equal(returned.origin + returned.pathname, redirectUri);
    assert.equal(returned.searchParams.get('state'), 'a state/of+its own');
    assert.equal(returned.searchParams.get('iss'), service.services.addresses.base());
    const response = await exchange(exchangeOf(returned));
    assert.equal(response.statusCode, 200, response.payload);
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.equal(response.headers.pragma, 'no-cache');
    const { access_token: token, ...rest } = response.json<OauthToken>();
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 30 * 24 * 60 * 60, scope: 'read publish' });
    const me = (await service.call('GET', '/api/v1/me', { token })).json();
    assert.equal(me.id, ada.userId);
    assert.equal(me.token.name, 'tenon login (build-7)');
    assert.deepEqual(me.token.scopes, ['read', 'publish']);
    assert.equal(me.token.appId, null);
    assert.equal(Date.parse(me.token.expiresAt) - Date.parse(me.token.createdAt), rest.expires_in * 1000);
  });

  it('grants fewer scopes than requested if the user chooses so, and never more', async () => {
    const { scope } = await redeem(await approve(ada, { scope: 'read publish' }, { scopes: ['publish'] }));
    assert.equal(scope, 'publish');
    const request = authorizationQuery({ scope: 'read' });
    const more = await ada.post('/session/authorization', {
      request,
      decision: 'approve',
      scopes: ['read', 'publish'],
    });
    assert.deepEqual(
      assertProblem(more, 422, 'invalid_field').errors?.map(({ pointer }) => pointer),
      ['/scopes'],
    );
  });

  it('requires step-up to grant any scope, and none to deny', async () => {
    const decide = (decision: object) =>
      ada.post('/session/authorization', {
        request: authorizationQuery({ scope: 'manage' }),
        decision: 'approve',
        ...decision,
      });
    service.advance(5 * 60_000);
    assertProblem(await decide({}), 403, 'step_up_required');
    assert.equal((await ada.post('/session/confirm', { password: rightPassword })).statusCode, 204);
    const granted = await decide({});
    assert.equal(granted.statusCode, 200);
    assert.equal((await redeem(new URL(granted.json<AuthorizationOutcome>().redirectTo))).scope, 'manage');
    service.advance(5 * 60_000);
    const denied = await decide({ decision: 'deny' });
    assert.match(denied.json<AuthorizationOutcome>().redirectTo, /error=access_denied/);
  });

  it("limits guesses of a session's password", async () => {
    const limited = await openService();
    try {
      const browser = await openBrowser(limited);
      const decide = (password: string) => browser.post('/session/confirm', { password });
      let last = await decide('a wrong one');
      for (let count = 0; count < 40 && last.statusCode === 401; count++) last = await decide('a wrong one');
      assertProblem(last, 429, 'rate_limited');
      assert.match(String(last.headers['retry-after']), /^[1-9]\d*$/);
      assertProblem(await decide(rightPassword), 429, 'rate_limited');
    } finally {
      await limited.close();
    }
  });

  it('redirects to the client with an error after a denial', async () => {
    const response = await ada.post('/session/authorization', { request: authorizationQuery(), decision: 'deny' });
    const { searchParams } = new URL(response.json<AuthorizationOutcome>().redirectTo);
    assert.equal(searchParams.get('error'), 'access_denied');
    assert.equal(searchParams.get('state'), 'a state/of+its own');
    assert.equal(searchParams.get('iss'), service.services.addresses.base());
    assert.equal(searchParams.has('code'), false);
  });

  it('does not redirect for an unknown client or redirect URI', async () => {
    const twice = (name: string, value: string) => `${authorizationQuery()}&${encode({ [name]: value })}`;
    for (const request of [
      authorizationQuery({ client_id: undefined }),
      authorizationQuery({ client_id: 'another' }),
      twice('client_id', 'tenon-cli'),
      twice('redirect_uri', redirectUri),
      ...[
        undefined,
        '',
        'https://evil.example/callback',
        'http://127.0.0.1/callback',
        'http://127.0.0.1:0/callback',
        'http://127.0.0.1:65536/callback',
        'http://127.0.0.1:08366/callback',
        'http://127.0.0.1:8366/callback/',
        'http://127.0.0.1:8366/callback?x=1',
        'http://127.0.0.1:8366/callback#x',
        'http://127.0.0.1:8366/callback@evil.example',
        'http://127.0.0.1:8366@evil.example/callback',
        'http://localhost:8366/callback',
        'http://127.0.0.1.evil.example:8366/callback',
        'https://127.0.0.1:8366/callback',
        'http://127.0.0.1:8366/other',
        'http://[::1]:8366\n/callback',
        'javascript:alert(1)',
      ].map((uri) => authorizationQuery({ redirect_uri: uri })),
    ]) {
      assertProblem(await view(request), 400, 'invalid_request');
      const decided = await ada.post('/session/authorization', { request, decision: 'approve' });
      assertProblem(decided, 400, 'invalid_request');
    }
  });

  it('redirects to the client with every other fault, without asking the user', async () => {
    const errorOf = async (request: string) => {
      const views = [await view(request), await ada.post('/session/authorization', { request, decision: 'approve' })];
      const [first = '', second] = views.map((response) => response.json<AuthorizationOutcome>().redirectTo);
      assert.equal(first, second);
      assert.ok(first.startsWith(`${redirectUri}?`), first);
      return new URL(first).searchParams;
    };
    for (const [changes, error] of [
      [{ response_type: undefined }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ code_challenge: undefined }, 'invalid_request'],
      [{ code_challenge: 'too-short' }, 'invalid_request'],
      [{ code_challenge_method: undefined }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ scope: 'read everything' }, 'invalid_scope'],
    ] as const) {
      const found = await errorOf(authorizationQuery(changes));
      assert.equal(found.get('error'), error);
      assert.equal(found.get('state'), 'a state/of+its own');
      assert.equal(found.get('iss'), service.services.addresses.base());
    }
    for (const name of ['response_type', 'scope', 'code_challenge', 'code_challenge_method', 'device_name', 'state']) {
      const found = await errorOf(`${authorizationQuery({ scope: 'read', device_name: 'x' })}&${name}=read`);
      assert.equal(found.get('error'), 'invalid_request', name);
      assert.equal(found.has('state'), name !== 'state');
    }
    const long = await errorOf(authorizationQuery({ state: 'x'.repeat(1001) }));
    assert.equal(long.get('error'), 'invalid_request');
    assert.equal(long.has('state'), false);
  });

  it('redirects to the loopback address of IPv6 too', async () => {
    const returned = await approve(ada, { redirect_uri: 'http://[::1]:9/callback' });
    assert.equal(returned.host, '[::1]:9');
    await assertRefused(exchangeOf(returned));
    const right = await exchange(exchangeOf(returned, { redirect_uri: 'http://[::1]:9/callback' }));
    assert.equal(right.statusCode, 200);
  });

  it('exchanges a code only for its own client, redirect URI and verifier', async () => {
    const returned = await approve(ada);
    await assertRefused(exchangeOf(returned, { client_id: 'another' }), 'invalid_client');
    await assertRefused(exchangeOf(returned, { redirect_uri: 'http://127.0.0.1:51005/callback' }));
    await assertRefused(exchangeOf(returned, { code_verifier: `${pkce.verifier.slice(0, -1)}x` }));
    await assertRefused(exchangeOf(returned, { code_verifier: pkce.challenge }));
    await assertRefused(exchangeOf(returned, { code_verifier: 'short' }), 'invalid_request');
    await assertRefused(exchangeOf(returned, { code_verifier: 'x'.repeat(129) }), 'invalid_request');
    await assertRefused(exchangeOf(returned, { code_verifier: `${pkce.verifier}+` }), 'invalid_request');
    await assertRefused(exchangeOf(returned, { code: `${returned.searchParams.get('code')}x` }));
    for (const missing of ['code', 'client_id', 'redirect_uri', 'code_verifier', 'grant_type']) {
      await assertRefused(exchangeOf(returned, { [missing]: undefined }), 'invalid_request');
    }
    assert.ok(await opens(await redeem(returned)), 'what was refused has not used it up');
  });

  it('revokes the token when its code is used a second time', async () => {
    const returned = await approve(ada);
    const token = await redeem(returned);
    assert.ok(await opens(token));
    await assertRefused(exchangeOf(returned, { code_verifier: 'x'.repeat(43) }));
    assert.equal(await opens(token), false);
    await assertRefused(exchangeOf(returned));
  });

  it('accepts one of two simultaneous exchanges, and revokes its token', async () => {
    const returned = await approve(ada);
    const both = await Promise.all([exchange(exchangeOf(returned)), exchange(exchangeOf(returned))]);
    assert.deepEqual(both.map(({ statusCode }) => statusCode).sort(), [200, 400]);
    const won = both.find(({ statusCode }) => statusCode === 200);
    assert.ok(won);
    assert.equal(await opens(won.json<OauthToken>()), false);
  });

  it('accepts a code for one minute', async () => {
    const [inTime, late] = [await approve(ada), await approve(ada)];
    service.advance(59_000);
    assert.ok(await opens(await redeem(inTime)));
    service.advance(2_000);
    await assertRefused(exchangeOf(late));
    await assertRefused(exchangeOf(inTime));
  });

  it('returns no token for an account that was deleted after the approval', async () => {
    const returned = await approve(ada);
    const { store, services } = service;
    await store.write((tx) => tx.eraseUser(ada.userId, { name: 'Gone', deletedAtMs: services.deps.clock() }));
    await assertRefused(exchangeOf(returned));
  });

  it('rejects requests without a session and from other sites', async () => {
    const request = authorizationQuery();
    const paths = [
      ['/session/authorization/view', { request }],
      ['/session/authorization', { request, decision: 'approve' }],
      ['/session/device/view', { userCode: 'BCDF-GHJK' }],
      ['/session/device', { userCode: 'BCDF-GHJK', decision: 'approve' }],
    ] as const;
    const { token } = await service.user();
    for (const [path, json] of paths) {
      assertProblem(await service.call('POST', path, { json }), 401, 'not_signed_in');
      assertProblem(await service.call('POST', path, { json, token }), 401, 'not_signed_in');
      const foreign = await ada.post(path, json, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' });
      assertProblem(foreign, 403, 'cross_site_request');
      assert.equal(foreign.headers['access-control-allow-origin'], undefined);
      const form = await service.call('POST', path, {
        body: encode({ request }),
        headers: { cookie: ada.cookie, 'content-type': 'application/x-www-form-urlencoded' },
      });
      assertProblem(form, 415, 'unsupported_media_type');
    }
    await ada.end();
    for (const [path, json] of paths) assertProblem(await ada.post(path, json), 401, 'not_signed_in');
  });

  it('approves nothing if the session ends during the request', async () => {
    const { deps, addresses } = service.services;
    const parsed = parseAuthorizationRequest(authorizationQuery({ scope: 'manage' }), addresses.base());
    assert.ok('returnTo' in parsed);
    const session = await deps.store.read.sessions(ada.userId, {});
    assert.ok(session[0]);
    const approver = { userId: ada.userId, sessionId: session[0].id };
    const write: typeof deps.store.write = (work) => ada.end().then(() => deps.store.write(work));
    const deciding = decideAuthorization({ ...deps, store: { ...deps.store, write } }, approver, parsed, {
      decision: 'approve',
    });
    await assert.rejects(deciding, { code: 'not_signed_in' });
  });

  it('issues the token to the approving user, who must be the one that the page showed', async () => {
    const bob = await openBrowser(service);
    const request = authorizationQuery();
    assert.equal((await view(request)).statusCode, 200);
    const decide = (decision: object) => bob.post('/session/authorization', { request, ...decision });
    assertProblem(await decide({ decision: 'approve', userId: ada.userId }), 409, 'conflict');
    assertProblem(await decide({ decision: 'deny', userId: ada.userId }), 409, 'conflict');
    const { access_token: token } = await redeem(await approve(bob, {}, { userId: bob.userId }));
    assert.equal((await service.call('GET', '/api/v1/me', { token })).json().id, bob.userId);
  });

  it('logs no code, token, state or verifier', async () => {
    const returned = await approve(ada, { state: 'the-very-state' });
    const token = await redeem(returned);
    await exchange(exchangeOf(returned));
    await view(authorizationQuery({ client_id: undefined, state: 'the-very-state' }));
    const log = service.logged.join('');
    const code = returned.searchParams.get('code') ?? '';
    assert.ok(code.length === 43 && log.includes('POST /oauth/token') && log.includes('"code":"invalid_grant"'));
    for (const secret of [code, token.access_token, 'the-very-state', pkce.verifier, pkce.challenge]) {
      assert.ok(!log.includes(secret), secret);
    }
  });
});
