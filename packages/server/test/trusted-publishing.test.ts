import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { MassYank, OauthToken, TokenInfo, TrustRule } from '@tenon/protocol';
import { UnsecuredJWT } from 'jose';
import { OAuth2Server } from 'oauth2-mock-server';
import { type CiIssuer, jobClaims, openCiIssuer } from '../../../test/helpers/ci-issuer.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { exchangeToken } from './helpers/token-exchange.ts';
import { freshModule, makeApp, makeGuest, makeWorld, ok, type World } from './helpers/world.ts';

const api = '/api/v1';
const base = 'http://localhost:8366';

let issuer: CiIssuer;
let mock: OAuth2Server;
let service: TestService;
let world: World;
before(async () => {
  issuer = await openCiIssuer(() => base);
  mock = new OAuth2Server();
  await mock.issuer.keys.generate('RS256');
  await mock.start(0, '127.0.0.1');
  const trustedIssuers = [issuer.url, mock.issuer.url ?? ''];
  service = await openService({ config: { trustedIssuers, trustedProxies: ['127.0.0.1'] } });
  world = await makeWorld(service);
});
after(async () => {
  await service.close();
  await issuer.close();
  await mock.stop();
});
// The limit counts by network.
let network = 0;
let from: string;
beforeEach(() => {
  from = `192.0.2.${++network}`;
});

const median = () => ({ extensionPointId: world.extensionPointId, name: 'median' });
const claims = { repository: 'octo/median', environment: 'release' };

function addRule(json: object, token = world.guest.token) {
  return service.call('POST', `${api}/trust-rules`, {
    token,
    json: { plugin: median(), provider: 'github', issuer: issuer.url, claims, ...json },
  });
}

async function withRule<T>(json: object, work: (rule: TrustRule) => Promise<T>): Promise<T> {
  const response = await addRule(json);
  assert.equal(response.statusCode, 201, response.payload);
  const rule = response.json<TrustRule>();
  try {
    return await work(rule);
  } finally {
    await service.call('DELETE', `${api}/trust-rules/${rule.id}`, { token: world.guest.token });
  }
}

async function granted(token: string, fields: Record<string, string> = {}): Promise<OauthToken> {
  const response = await exchangeToken(service, token, fields, from);
  assert.equal(response.statusCode, 200, response.payload);
  return response.json<OauthToken>();
}

async function assertRefused(token: string, error: string, reason: string | undefined, fields = {}): Promise<void> {
  const response = await exchangeToken(service, token, fields, from);
  assert.equal(response.statusCode, 400, response.payload);
  assert.equal(response.json<{ error: string }>().error, error);
  assert.ok(!response.payload.includes('octo'), 'says nothing of the token');
  if (reason !== undefined) assert.equal((await lastRefusal())?.details?.reason, reason, response.payload);
}

/** The newest refusal in the trails. */
async function lastRefusal() {
  const events = await service.store.read.auditOfAll({ action: 'token_exchange.refuse' }, { limit: 1 });
  return events[0];
}

const publish = (token: string, name: string) =>
  service.call('PUT', `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/${name}`, {
    token,
    body: freshModule(),
    headers: { 'content-type': 'application/wasm' },
  });

describe('POST /oauth/token with an identity token', () => {
  it('issues a token for the plugin of the rule, for 15 minutes, once', () =>
    withRule({}, async (rule) => {
      const idToken = await issuer.sign();
      const { access_token: token, ...rest } = await granted(idToken);
      assert.deepEqual(rest, {
        token_type: 'Bearer',
        expires_in: 900,
        scope: 'publish',
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      });
      assert.equal((await publish(token, 'median')).statusCode, 200);
      assertProblem(await publish(token, 'other'), 403, 'forbidden');
      assertProblem(await service.call('GET', `${api}/apps`, { token }), 403, 'insufficient_scope');
      const { token: info } = await ok<{ token: TokenInfo }>(service, 'GET', `${api}/me`, { token });
      assert.equal(info.trustRuleId, rule.id);
      assert.deepEqual(info.claims, {
        issuer: issuer.url,
        subject: jobClaims.sub,
        repository: 'octo/median',
        repositoryId: '4711',
        environment: 'release',
        ref: 'refs/heads/main',
        sha: jobClaims.sha,
        runId: '99',
      });
      await assertRefused(idToken, 'invalid_request', 'replayed');
      service.advance(900_000);
      assertProblem(await publish(token, 'median'), 401, 'invalid_token');
      service.advance(-900_000);
    }));

  it('accepts tokens of a real OAuth server', () =>
    withRule(
      { issuer: mock.issuer.url, provider: 'generic', claims: { sub: 'repo:octo/*:environment:*' } },
      async () => {
        // The first wildcard is in the second part: it pins no repository.
      },
    ).then(
      () => assert.fail(),
      () =>
        withRule({ issuer: mock.issuer.url, provider: 'generic', claims: { sub: 'job:median:*' } }, async () => {
          const transform = (_header: unknown, payload: Record<string, unknown>) => {
            Object.assign(payload, { sub: 'job:median:7', aud: base });
          };
          const idToken = await mock.issuer.buildToken({ scopesOrTransform: transform as never, expiresIn: 300 });
          const { access_token: token, scope } = await granted(idToken, { scope: 'read publish' });
          assert.equal(scope, 'read publish');
          assert.equal((await publish(token, 'median')).statusCode, 200);
        }),
    ));

  it('refuses other issuers, audiences, claims, times, algorithms and keys, each with an audit event', () =>
    withRule({}, async () => {
      const refused = (reason: string, token: string) => assertRefused(token, 'invalid_request', reason);
      const seconds = Math.floor(Date.now() / 1000);
      await refused('issuer', await issuer.sign({ iss: 'https://evil.example' }));
      await refused('issuer', await issuer.sign({ iss: `${issuer.url}/` }));
      await refused('audience', await issuer.sign({ aud: 'https://other.example' }));
      await refused('audience', await issuer.sign({ aud: [base, 'https://other.example'] }));
      await refused('claims', await issuer.sign({ repository: 'evil/median' }));
      await refused('claims', await issuer.sign({ environment: undefined }));
      await refused('claims', await issuer.sign({ environment: ['release'] }));
      await refused('expired', await issuer.sign({ exp: seconds - 60 }));
      await refused('expired', await issuer.sign({ iat: seconds - 7200 }));
      await refused('not_yet_valid', await issuer.sign({ nbf: seconds + 600 }));
      await refused('not_yet_valid', await issuer.sign({ iat: seconds + 600 }));
      await refused('unknown_key', await issuer.sign({}, { kid: 'other' }));
      const token = await issuer.sign();
      await refused('signature', `${token.slice(0, -8)}AAAAAAAA`);
      const unsigned = new UnsecuredJWT({ iss: issuer.url, aud: base, ...jobClaims }).encode();
      await refused('algorithm', unsigned);
      await refused('malformed', 'x.y.z');
      await refused('malformed', 'x');
      assert.equal((await granted(await issuer.sign({ aud: [base] }))).scope, 'publish');
    }));

  it('issues none for another plugin, to a removed guest, and after the rule was deleted', async () => {
    const rule = await withRule({}, async (made) => {
      await assertRefused(await issuer.sign(), 'invalid_request', 'claims', {
        audience: `${world.extensionPointId}/other`,
      });
      await assertRefused(await issuer.sign(), 'invalid_target', undefined, { audience: 'x' });
      await assertRefused(await issuer.sign(), 'invalid_scope', undefined, { scope: 'manage' });
      const audience = `${world.extensionPointId}/plugin/${world.guest.id}/median`;
      const { access_token: token } = await granted(await issuer.sign(), { audience });
      return { ...made, token };
    });
    assertProblem(await publish(rule.token, 'median'), 401, 'invalid_token');
    await assertRefused(await issuer.sign(), 'invalid_request', 'issuer');
  });

  it('publishes under one guest with a rule for a guest, and ends with the guest', async () => {
    const guestId = await makeGuest(service, world.owner, world.appId, 'customers/umbrella', world.guest);
    await withRule({ plugin: undefined, guestId }, async () => {
      const { access_token: token } = await granted(await issuer.sign());
      const published = await publish(token, 'fresh');
      assert.deepEqual(published.json<{ guestIds: string[] }>().guestIds, [guestId]);
      const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/fresh`;
      const elsewhere = await service.call('PUT', `${path}?guest=${world.guestId}`, {
        token,
        body: freshModule(),
        headers: { 'content-type': 'application/wasm' },
      });
      assertProblem(elsewhere, 403, 'forbidden');
      const { owner, appId } = world;
      await ok(service, 'DELETE', `${api}/apps/${appId}/guests/${guestId}`, { token: owner.token });
      assert.ok((await publish(token, 'fresh')).statusCode >= 400);
      await assertRefused(await issuer.sign(), 'invalid_request', 'issuer');
    });
  });

  it('refuses if rules of two accounts match', async () => {
    await makeGuest(service, world.owner, world.appId, 'customers/shared', world.otherGuest);
    const other = (await addRule({}, world.otherGuest.token)).json<TrustRule>();
    await withRule({}, async () => {
      await assertRefused(await issuer.sign(), 'invalid_target', undefined);
      const audience = `${world.extensionPointId}/plugin/${world.guest.id}/median`;
      await granted(await issuer.sign(), { audience });
    });
    await ok(service, 'DELETE', `${api}/trust-rules/${other.id}`, { token: world.otherGuest.token });
  });

  it("refuses if another account's rule for the plugin would come before a rule for a guest", async () => {
    await makeGuest(service, world.owner, world.appId, 'customers/taken', world.otherGuest);
    const other = (await addRule({}, world.otherGuest.token)).json<TrustRule>();
    await withRule({ plugin: undefined, guestId: world.guestId }, async () => {
      await assertRefused(await issuer.sign(), 'invalid_target', undefined);
      const ofName = { audience: `${world.extensionPointId}/median` };
      await assertRefused(await issuer.sign(), 'invalid_target', undefined, ofName);
      const audience = `${world.extensionPointId}/plugin/${world.guest.id}/median`;
      const { access_token: token } = await granted(await issuer.sign(), { audience });
      assert.equal((await publish(token, 'median')).statusCode, 200);
    });
    await ok(service, 'DELETE', `${api}/trust-rules/${other.id}`, { token: world.otherGuest.token });
  });

  it('accepts times with fractions of a second', () =>
    withRule({}, async () => {
      const nowSeconds = Math.floor(Date.now() / 1000);
      await granted(await issuer.sign({ iat: nowSeconds - 1.123_456_7, exp: nowSeconds + 60.765_432_1 }));
    }));

  it('limits the requests of a network', () =>
    withRule({}, async () => {
      let response = await exchangeToken(service, 'x', {}, from);
      for (let sent = 0; sent < 100 && response.statusCode !== 429; sent++)
        response = await exchangeToken(service, 'x', {}, from);
      assert.equal(response.statusCode, 429);
    }));
});

describe('the routes of trust rules', () => {
  it('refuse rules that are too broad, or for what the user may not publish', async () => {
    const invalid: object[] = [
      { claims: {} },
      { claims: { environment: 'release' } },
      { claims: { sub: 'repo:*' } },
      { claims: { sub: 'repo:octo/*:ref:refs/heads/main' } },
      { claims: { sub: 'environment:release' } },
      { claims: { ...claims, aud: 'x' } },
      { provider: 'generic', claims: { repository: 'octo/median' } },
      { provider: 'forgejo', issuer: undefined },
      { issuer: 'http://192.0.2.1' },
      { issuer: 'http://127.0.0.1:1' },
      { issuer: 'https://user@ci.example' },
      { issuer: 'https://ci.example?x' },
      { issuer: 'x' },
      { issuer: 'https://token.actions.githubusercontent.com', provider: 'generic', claims: { sub: 'a' } },
      { guestId: world.guestId },
      { plugin: undefined },
      { plugin: { ...median(), name: '../x' } },
    ];
    for (const json of invalid) assertProblem(await addRule(json), 422, 'invalid_field');
    for (const user of [world.stranger, world.owner])
      assertProblem(await addRule({}, user.token), 422, 'invalid_field');
  });

  it('show rules to their user and to the team, without guest keys', () =>
    withRule({ plugin: undefined, guestId: world.guestId }, async (rule) => {
      const own = await service.call('GET', `${api}/trust-rules`, { token: world.guest.token });
      assert.deepEqual(own.json(), { objects: [rule] });
      const ofApp = `${api}/apps/${world.appId}/trust-rules`;
      const seen = await service.call('GET', ofApp, { token: world.viewer.token });
      assert.deepEqual(seen.json(), { objects: [rule] });
      assert.ok(!seen.payload.includes(world.guestKey));
      assertProblem(await service.call('GET', ofApp, { token: world.otherGuest.token }), 403, 'forbidden');
      const remove = (token: string) => service.call('DELETE', `${api}/trust-rules/${rule.id}`, { token });
      assertProblem(await remove(world.owner.token), 404, 'not_found');
    }));

  it('let managers of the application delete rules, which ends their tokens', () =>
    withRule({}, async (rule) => {
      const { access_token: token } = await granted(await issuer.sign());
      const remove = (appId: string) =>
        service.call('DELETE', `${api}/apps/${appId}/trust-rules/${rule.id}`, { token: world.owner.token });
      const elsewhere = await makeApp(service, world.owner);
      assertProblem(await remove(elsewhere), 404, 'not_found');
      assert.equal((await publish(token, 'median')).statusCode, 200);
      assert.equal((await remove(world.appId)).statusCode, 204);
      assertProblem(await publish(token, 'median'), 401, 'invalid_token');
      await assertRefused(await issuer.sign(), 'invalid_request', 'issuer');
      const [event] = await service.store.read.auditOfAccount(world.guest.id, {}, { limit: 1 });
      assert.deepEqual([event?.action, event?.by, event?.userId], ['trust_rule.delete', 'system', null]);
      assertProblem(await remove(world.appId), 404, 'not_found');
    }));

  it("let a team revoke a rule's tokens that have published nothing yet, and no others", () =>
    withRule({}, async (rule) => {
      const { access_token: token } = await granted(await issuer.sign());
      const json = { trustRuleId: rule.id, reason: 'The repository was taken over.' };
      const yank = (user: TestUser, appId: string) =>
        ok<MassYank>(service, 'POST', `${api}/apps/${appId}/published-versions/yank`, { token: user.token, json });
      const elsewhere = await makeApp(service, world.owner);
      assert.deepEqual((await yank(world.owner, elsewhere)).revoked, []);
      assert.equal((await yank(world.owner, world.appId)).revoked.length, 1);
      assertProblem(await publish(token, 'median'), 401, 'invalid_token');
    }));
});
