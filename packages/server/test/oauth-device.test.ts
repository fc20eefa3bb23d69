import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type AuthorizationView,
  cliClientId,
  type DeviceAuthorization,
  deviceCodeGrantType,
  type OauthToken,
  oauthPaths,
  parseUserCode,
} from '@tenon/protocol';
import { startDeviceGrant } from '../src/auth/oauth/device-grants.ts';
import { openBrowser, postForm, rightPassword, type TestBrowser } from './helpers/browser.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';

describe('login with a code that is typed', () => {
  let service: TestService;
  let ada: TestBrowser;
  before(async () => {
    service = await openService({
      config: { codeTriesPerMinute: 1000, deviceLoginsPerMinute: 1000, accountTriesPerHour: 1000 },
    });
    ada = await openBrowser(service);
  });
  after(() => service.close());

  const begin = async (fields: Record<string, string> = {}): Promise<DeviceAuthorization> => {
    const response = await postForm(service, oauthPaths.deviceAuthorization, { client_id: cliClientId, ...fields });
    assert.equal(response.statusCode, 200, response.payload);
    return response.json();
  };
  const ask = (device_code: string, client_id: string = cliClientId) =>
    postForm(service, oauthPaths.token, { grant_type: deviceCodeGrantType, client_id, device_code });
  const answer = async ({ device_code }: DeviceAuthorization): Promise<string> => {
    const response = await ask(device_code);
    return response.statusCode === 200 ? 'token' : response.json().error;
  };
  const view = (userCode: string, browser = ada) => browser.post('/session/device/view', { userCode });
  const decide = (userCode: string, decision: object = {}, browser = ada) =>
    browser.post('/session/device', { userCode, decision: 'approve', ...decision });

  it("starts with two codes, the page's URL and the lifetime", async () => {
    const started = await begin();
    const { device_code, user_code, ...rest } = started;
    assert.match(device_code, /^[\w-]{43}$/);
    assert.match(user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    const page = `${service.services.addresses.base()}/device`;
    assert.deepEqual(rest, {
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${user_code}`,
      expires_in: 600,
      interval: 5,
    });
    const { store } = service.services.deps;
    assert.equal(await store.read.deviceGrantByDeviceCode(device_code), undefined, 'stored as a hash');
    assert.equal(await store.read.deviceGrantByUserCode(user_code), undefined, 'stored as a hash');
  });

  it('uses every letter of user codes equally often', async () => {
    const { deps } = service.services;
    const counts = new Map<string, number>();
    const client = { id: cliClientId, name: 'x' };
    const asked = { client, scope: undefined, deviceName: undefined, address: '192.0.2.1' };
    const store = { ...deps.store, write: async () => undefined as never };
    for (let count = 0; count < 2000; count++) {
      const { userCode } = await startDeviceGrant({ ...deps, store }, asked);
      for (const letter of userCode.replace('-', '')) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    assert.equal(counts.size, 20);
    // 16,000 letters, 800 of each: seven standard deviations to either side.
    for (const [letter, count] of counts) assert.ok(Math.abs(count - 800) < 193, `${letter}: ${count}`);
  });

  it('creates another user code if the first is in use', async () => {
    const { deps } = service.services;
    const client = { id: cliClientId, name: 'x' };
    const asked = { client, scope: undefined, deviceName: undefined, address: '192.0.2.1' };
    const first = (length: number) => new Uint8Array(length).fill(7);
    let draws = 0;
    const random = (length: number) => {
      if (length !== 8) return deps.random(length);
      return draws++ < 2 ? first(length) : deps.random(length);
    };
    const one = await startDeviceGrant({ ...deps, random }, asked);
    const other = await startDeviceGrant({ ...deps, random }, asked);
    assert.notEqual(one.userCode, other.userCode);
    assert.ok(draws >= 3);
    await assert.rejects(
      startDeviceGrant({ ...deps, random: (length) => (length === 8 ? first(8) : deps.random(length)) }, asked),
      { name: 'ConflictError' },
    );
  });

  it('shows the program, its address and the scopes, however the user types the code', async () => {
    const { user_code } = await begin({ scope: 'publish', device_name: ' build\u202e-7\n' });
    for (const typed of [
      user_code,
      user_code.toLowerCase(),
      user_code.replace('-', ''),
      ` ${user_code.replace('-', ' – ')}`,
    ]) {
      const response = await view(typed);
      assert.equal(response.statusCode, 200, typed);
      const { requestedAt, ...rest } = response.json<AuthorizationView>();
      assert.ok(Math.abs(Date.parse(requestedAt) - service.services.deps.clock()) < 10_000);
      assert.deepEqual(rest, {
        flow: 'device',
        client: { id: 'tenon-cli', name: 'Tenon command line' },
        deviceName: 'build -7',
        address: '127.0.0.1',
        scopes: ['publish'],
        userCode: user_code,
        tokenLifetimeDays: 30,
      });
    }
  });

  it('returns a token once, after the approval', async () => {
    const started = await begin({ device_name: 'build-7' });
    assert.equal(await answer(started), 'authorization_pending');
    assert.equal((await decide(started.user_code)).statusCode, 204);
    service.advance(5000);
    const response = await ask(started.device_code);
    assert.equal(response.statusCode, 200, response.payload);
    const { access_token: token, ...rest } = response.json<OauthToken>();
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 2_592_000, scope: 'read publish' });
    const me = (await service.call('GET', '/api/v1/me', { token })).json();
    assert.equal(me.id, ada.userId);
    assert.equal(me.token.name, 'tenon login (build-7)');
    assert.equal(await answer(started), 'invalid_grant');
    assert.equal((await service.call('GET', '/api/v1/me', { token })).statusCode, 200);
  });

  it('returns one token to two simultaneous polls', async () => {
    const started = await begin();
    await decide(started.user_code);
    assert.deepEqual((await Promise.all([answer(started), answer(started)])).sort(), ['invalid_grant', 'token']);
  });

  it('increases the interval by five seconds for each poll that is too early', async () => {
    const started = await begin();
    const after = async (seconds: number) => {
      service.advance(seconds * 1000);
      return answer(started);
    };
    assert.equal(await after(0), 'authorization_pending');
    assert.equal(await after(5), 'authorization_pending');
    assert.equal(await after(2), 'slow_down');
    assert.equal(await after(5), 'slow_down');
    assert.equal(await after(10), 'slow_down');
    assert.equal(await after(20), 'authorization_pending');
    assert.equal(await after(20), 'authorization_pending');
    assert.equal(await after(10), 'slow_down');
    await decide(started.user_code);
    assert.equal(await after(0), 'slow_down', 'an approval is no reason to ask sooner');
    assert.equal(await after(30), 'token');
  });

  it('ends after a denial, an approval, or ten minutes', async () => {
    const [denied, approved, late, lateApproved] = await Promise.all([begin(), begin(), begin(), begin()]);
    assert.equal((await decide(denied.user_code, { decision: 'deny' })).statusCode, 204);
    await decide(approved.user_code);
    await decide(lateApproved.user_code);
    for (const { user_code } of [denied, approved]) {
      for (const decision of ['approve', 'deny']) {
        assertProblem(await decide(user_code, { decision }), 404, 'not_found');
      }
      assertProblem(await view(user_code), 404, 'not_found');
    }
    assert.equal(await answer(denied), 'access_denied');
    service.advance(599_000);
    assert.equal(await answer(approved), 'token');
    assert.equal(await answer(late), 'authorization_pending');
    service.advance(2_000);
    assert.equal(await answer(late), 'expired_token');
    assert.equal(await answer(lateApproved), 'expired_token');
    assertProblem(await view(late.user_code), 404, 'not_found');
    assertProblem(await decide(late.user_code), 404, 'not_found');
  });

  it('grants fewer scopes if the user chooses so, and never more, with step-up', async () => {
    const started = await begin({ scope: 'read publish manage' });
    const code = started.user_code;
    assert.equal((await ada.post('/session/confirm', { password: rightPassword })).statusCode, 204);
    const readOnly = await begin({ scope: 'read' });
    assertProblem(await decide(readOnly.user_code, { scopes: ['manage'] }), 422, 'invalid_field');
    assert.equal(await answer(started), 'authorization_pending');
    assert.equal((await decide(code, { scopes: ['read'] })).statusCode, 204);
    service.advance(5000);
    assert.equal((await ask(started.device_code)).json<OauthToken>().scope, 'read');
    const whole = await begin({ scope: 'manage' });
    assert.equal((await decide(whole.user_code)).statusCode, 204);
    assert.equal((await ask(whole.device_code)).json<OauthToken>().scope, 'manage');
  });

  it('follows the first of two simultaneous decisions', async () => {
    const bob = await openBrowser(service);
    const started = await begin();
    const both = await Promise.all([decide(started.user_code), decide(started.user_code, {}, bob)]);
    assert.deepEqual(both.map(({ statusCode }) => statusCode).sort(), [204, 404]);
    const winner = both[0]?.statusCode === 204 ? ada : bob;
    const { access_token: token } = (await ask(started.device_code)).json<OauthToken>();
    assert.equal((await service.call('GET', '/api/v1/me', { token })).json().id, winner.userId);
  });

  it('issues the token to the approving user, who must be the one that the page showed', async () => {
    const bob = await openBrowser(service);
    const started = await begin();
    assert.equal((await view(started.user_code)).statusCode, 200);
    assertProblem(await decide(started.user_code, { userId: ada.userId }, bob), 409, 'conflict');
    assert.equal((await decide(started.user_code, { userId: bob.userId }, bob)).statusCode, 204);
    const { access_token: token } = (await ask(started.device_code)).json<OauthToken>();
    assert.equal((await service.call('GET', '/api/v1/me', { token })).json().id, bob.userId);
  });

  it('returns no token for an account that was deleted after the approval', async () => {
    const bob = await openBrowser(service);
    const started = await begin();
    await decide(started.user_code, {}, bob);
    const { store, services } = service;
    await store.write((tx) => tx.eraseUser(bob.userId, { name: 'Gone', deletedAtMs: services.deps.clock() }));
    assert.equal(await answer(started), 'invalid_grant');
  });

  it('accepts only device codes of the same client', async () => {
    const { device_code } = await begin();
    assert.equal((await ask(`${device_code}x`)).json().error, 'invalid_grant');
    assert.equal((await ask(device_code, 'another')).json().error, 'invalid_client');
  });

  it('limits guesses of user codes by address and by session', async () => {
    const limited = await openService({ config: { codeTriesPerMinute: 5, trustedProxies: ['127.0.0.1'] } });
    try {
      const [one, other] = [await openBrowser(limited), await openBrowser(limited)];
      const started = await postForm(limited, oauthPaths.deviceAuthorization, { client_id: cliClientId });
      const { user_code } = started.json<DeviceAuthorization>();
      const tryFrom = (browser: TestBrowser, address: string, userCode: string) =>
        browser.post('/session/device/view', { userCode }, { 'x-forwarded-for': address });
      for (let count = 0; count < 5; count++) {
        assert.equal((await tryFrom(one, '2001:db8::1', user_code)).statusCode, 200, 'right ones are not counted');
        assertProblem(await tryFrom(one, '2001:db8::1', 'BCDF-GHJK'), 404, 'not_found');
      }
      const stopped = await tryFrom(one, '192.0.2.9', user_code);
      assertProblem(stopped, 429, 'rate_limited');
      assert.match(String(stopped.headers['retry-after']), /^[1-9]\d*$/);
      assertProblem(await tryFrom(other, '2001:db8::ffff', user_code), 429, 'rate_limited');
      const decision = { userCode: user_code, decision: 'approve' };
      assertProblem(
        await one.post('/session/device', decision, { 'x-forwarded-for': '192.0.2.9' }),
        429,
        'rate_limited',
      );
      assert.equal((await tryFrom(other, '2001:db8:0:1::1', user_code)).statusCode, 200);
      const atOnce = await Promise.all(
        Array.from({ length: 12 }, () => tryFrom(other, '2001:db8:0:2::1', 'BCDF-GHJK')),
      );
      const refused = atOnce.filter(({ statusCode }) => statusCode === 404);
      assert.equal(refused.length, 5, 'many at once are counted too');
      limited.advance(61_000);
      assert.equal((await tryFrom(one, '2001:db8::1', user_code)).statusCode, 200);
    } finally {
      await limited.close();
    }
  });

  it('does not log the codes or the token', async () => {
    const started = await begin();
    await answer(started);
    await view(started.user_code);
    await decide(started.user_code);
    const { access_token: token } = (await ask(started.device_code)).json<OauthToken>();
    await decide(started.user_code);
    const log = service.logged.join('');
    assert.ok(log.includes('POST /session/device'));
    for (const secret of [started.device_code, started.user_code, started.user_code.replace('-', ''), token]) {
      assert.ok(!log.includes(secret), secret);
    }
    assert.equal(parseUserCode(started.user_code), started.user_code);
    const routine = service.logged
      .map((line) => JSON.parse(line))
      .filter(({ code }) => code === 'authorization_pending');
    assert.ok(routine.length > 0 && routine.every(({ level }) => level === 20), 'waiting is nothing to tell');
  });
});
