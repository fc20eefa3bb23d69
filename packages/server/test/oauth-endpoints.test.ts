import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  cliClientId,
  type DeviceAuthorization,
  makeSecret,
  type OauthMetadata,
  type OauthToken,
  oauthPaths,
  secretRandomBytes,
} from '@tenon/protocol';
import { UnavailableError } from '../src/db/store.ts';
import { allRoutes } from '../src/routes.ts';
import { approve, encode, exchangeOf, openBrowser, postForm } from './helpers/browser.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { exchange, requestOf } from './helpers/wire.ts';

const formPaths = [oauthPaths.token, oauthPaths.deviceAuthorization, oauthPaths.revoke];

interface OauthAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: { readonly error?: string; readonly error_description?: string };
}

describe("OAuth's endpoints", () => {
  let service: TestService;
  let base: string;
  before(async () => {
    service = await openService({ config: { deviceLoginsPerMinute: 1000, codeTriesPerMinute: 1000 } });
    base = await service.listen();
  });
  after(() => service.close());

  const send = async (path: string, init: RequestInit, at = base): Promise<OauthAnswer> => {
    const response = await fetch(at + path, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: text === '' ? {} : JSON.parse(text) };
  };
  const post = (path: string, body: string, headers: Record<string, string> = {}, at = base) =>
    send(
      path,
      {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      },
      at,
    );
  const assertOauthError = ({ status, headers, json }: OauthAnswer, wanted: number, error: string) => {
    assert.equal(status, wanted, JSON.stringify(json));
    assert.equal(json.error, error);
    assert.match(json.error_description ?? '', /^[ !#-[\]-~]+$/);
    assert.equal(headers.get('content-type'), 'application/json');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.ok(headers.get('x-request-id'));
  };

  it('support a login over HTTP: approve, exchange, use, revoke', async () => {
    const ada = await openBrowser(service);
    const returned = await approve(ada);
    const exchanged = await post(oauthPaths.token, encode(exchangeOf(returned)));
    assert.equal(exchanged.status, 200);
    assert.match(exchanged.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(exchanged.headers.get('cache-control'), 'no-store');
    assert.equal(exchanged.headers.get('pragma'), 'no-cache');
    assert.equal(exchanged.headers.get('access-control-allow-origin'), '*');
    const { access_token: token } = exchanged.json as unknown as OauthToken;
    const me = () => send('/api/v1/me', { headers: { authorization: `Bearer ${token}` } });
    assert.equal((await me()).status, 200);
    const revoked = await post(oauthPaths.revoke, encode({ token, client_id: cliClientId, token_type_hint: 'x' }));
    assert.deepEqual([revoked.status, revoked.json], [200, {}]);
    assert.equal((await me()).status, 401);
  });

  it("report every fault of a form in OAuth's error format", async () => {
    for (const path of formPaths) {
      assertOauthError(await post(path, ''), 400, 'invalid_request');
      assertOauthError(await post(path, `client_id=${cliClientId}&client_id=${cliClientId}`), 400, 'invalid_request');
      assertOauthError(await post(path, `client_id=${cliClientId}&x=1&x=2`), 400, 'invalid_request');
      assertOauthError(
        await post(path, `token=x&grant_type=authorization_code&client_id=another`),
        400,
        'invalid_client',
      );
      assertOauthError(await post(path, 'x'.repeat(16 * 1024 + 1)), 413, 'invalid_request');
      assertOauthError(await post(path, '{}', { 'content-type': 'application/json' }), 415, 'invalid_request');
      assertOauthError(await post(path, 'x', { 'content-encoding': 'gzip' }), 415, 'invalid_request');
      assertOauthError(await post(path, '', { 'content-type': 'nonsense' }), 415, 'invalid_request');
    }
    const unknown = { grant_type: 'password', client_id: cliClientId };
    assertOauthError(await post(oauthPaths.token, encode(unknown)), 400, 'unsupported_grant_type');
    const scope = { client_id: cliClientId, scope: 'admin' };
    assertOauthError(await post(oauthPaths.deviceAuthorization, encode(scope)), 400, 'invalid_scope');
  });

  it('treat a field without a value as absent, and ignore unknown fields', async () => {
    const fields = `client_id=${cliClientId}&scope=&device_name=&constructor=1&__proto__=2`;
    const { status, json } = await post(oauthPaths.deviceAuthorization, fields);
    assert.equal(status, 200);
    const { user_code } = json as unknown as DeviceAuthorization;
    const ada = await openBrowser(service);
    const view = (await ada.post('/session/device/view', { userCode: user_code })).json();
    assert.deepEqual([view.scopes, view.deviceName], [['read', 'publish'], null]);
  });

  it('reject a client that sends a secret', async () => {
    for (const path of formPaths) {
      const form = encode({ client_id: cliClientId, token: 'x', client_secret: 'x' });
      assertOauthError(await post(path, form), 400, 'invalid_client');
      const basic = await post(path, encode({ token: 'x' }), { authorization: `Basic ${btoa('tenon-cli:x')}` });
      assertOauthError(basic, 401, 'invalid_client');
      assert.equal(basic.headers.get('www-authenticate'), 'Basic realm="tenon"');
    }
  });

  it("report other methods, truncated bodies and malformed requests in OAuth's error format", async () => {
    for (const path of formPaths) {
      const got = await send(path, {});
      assertOauthError(got, 405, 'invalid_request');
      assert.equal(got.headers.get('allow'), 'OPTIONS, POST');
      assertOauthError(await send(`${path}?x=1`, { method: 'DELETE' }), 405, 'invalid_request');
      const chunked = await exchange(
        base,
        requestOf(
          [
            `POST ${path} HTTP/1.1`,
            'host: x',
            'transfer-encoding: chunked',
            'content-type: application/x-www-form-urlencoded',
          ],
          `4001\r\n${'x'.repeat(0x4001)}\r\n0\r\n\r\n`,
        ),
      );
      assert.equal(chunked.status, 413);
      assert.equal(JSON.parse(chunked.body.toString()).error, 'invalid_request');
    }
    const head = [`POST ${oauthPaths.token} HTTP/1.1`, 'host: x', 'transfer-encoding: chunked'];
    const broken = await exchange(
      base,
      requestOf([...head, 'content-type: application/x-www-form-urlencoded'], 'no chunk\r\n'),
    );
    assert.equal(broken.status, 400);
    assert.equal(broken.headers['content-type'], 'application/json');
    assert.equal(JSON.parse(broken.body.toString()).error, 'invalid_request');
    assertProblem(await service.call('GET', '/oauth/nothing'), 404, 'not_found');
  });

  it('accept scripts of any origin, without credentials', async () => {
    for (const path of [...formPaths, oauthPaths.metadata]) {
      const preflight = await send(path, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } });
      assert.equal(preflight.status, 204);
      assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
      assert.equal(preflight.headers.get('access-control-allow-credentials'), null);
    }
  });

  it("report server errors in OAuth's error format, without the cause", async () => {
    for (const [thrown, status, error] of [
      [new Error('the disk at /dev/sdb1 is on fire'), 500, 'server_error'],
      [new UnavailableError('SQLITE_BUSY'), 503, 'temporarily_unavailable'],
    ] as const) {
      const failing = await openService({
        replace: ({ deps }) => ({
          deps: { ...deps, store: { ...deps.store, write: () => Promise.reject(thrown) } },
        }),
      });
      try {
        const form = encode({ client_id: cliClientId });
        const answer = await post(oauthPaths.deviceAuthorization, form, {}, await failing.listen());
        assertOauthError(answer, status, error);
        assert.doesNotMatch(answer.json.error_description ?? '', /sdb1|SQLITE/);
        assert.equal(answer.headers.has('retry-after'), status === 503);
        const line = failing.logged.find((one) => one.includes(thrown.message));
        assert.equal(JSON.parse(line ?? '{}').route, 'POST /oauth/device_authorization');
      } finally {
        await failing.close();
      }
    }
  });

  it('limit the logins and the guessed codes of an address', async () => {
    const limited = await openService({
      config: { deviceLoginsPerMinute: 3, codeTriesPerMinute: 3, trustedProxies: ['127.0.0.1'] },
    });
    try {
      const at = await limited.listen();
      const from = (address: string, path: string, fields: Parameters<typeof encode>[0]) =>
        post(path, encode(fields), { 'x-forwarded-for': address }, at);
      const begin = (address: string) => from(address, oauthPaths.deviceAuthorization, { client_id: cliClientId });
      for (let count = 0; count < 3; count++) assert.equal((await begin('192.0.2.1')).status, 200);
      const stopped = await begin('192.0.2.1');
      assertOauthError(stopped, 429, 'temporarily_unavailable');
      assert.match(stopped.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      assert.equal((await begin('192.0.2.2')).status, 200);

      const returned = await approve(await openBrowser(limited));
      const redeem = (address: string, changes: Record<string, string> = {}) =>
        from(address, oauthPaths.token, exchangeOf(returned, changes));
      for (let count = 0; count < 3; count++) {
        assertOauthError(await redeem('192.0.2.1', { grant_type: 'x' }), 400, 'unsupported_grant_type');
        assertOauthError(await redeem('192.0.2.1', { code: `guess-${count}` }), 400, 'invalid_grant');
      }
      assertOauthError(await redeem('192.0.2.1'), 429, 'temporarily_unavailable');
      assert.equal((await redeem('192.0.2.2')).status, 200);
      const pending = await begin('192.0.2.3');
      const { device_code } = pending.json as unknown as DeviceAuthorization;
      for (let count = 0; count < 6; count++) {
        const fields = {
          grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
          client_id: cliClientId,
          device_code,
        };
        const { json } = await from('192.0.2.3', oauthPaths.token, fields);
        assert.match(json.error ?? '', /^(authorization_pending|slow_down)$/, 'waiting is no guess');
      }
      limited.advance(61_000);
      assert.equal((await begin('192.0.2.1')).status, 200);
    } finally {
      await limited.close();
    }
  });
});

describe('POST /oauth/revoke', () => {
  let service: TestService;
  before(async () => {
    service = await openService();
  });
  after(() => service.close());

  const revoke = (token: string) => postForm(service, oauthPaths.revoke, { token });

  it('revokes any access token, and responds the same to an unknown one', async () => {
    const { id, token } = await service.user();
    const other = await service.token(id, { scopes: ['read'] });
    for (const secret of [other, other, `${token.slice(0, -1)}_`, 'nonsense', 'x'.repeat(10_000)]) {
      const response = await revoke(secret);
      assert.equal(response.statusCode, 200);
      assert.equal(response.payload, '');
    }
    assertProblem(await service.call('GET', '/api/v1/me', { token: other }), 401, 'invalid_token');
    assert.equal((await service.call('GET', '/api/v1/me', { token })).statusCode, 200);
  });

  it('starts no write transaction for an unknown token, and counts it by address', async () => {
    const strict = await openService({
      config: { codeTriesPerMinute: 3 },
      replace: ({ deps }) => ({
        deps: { ...deps, store: { ...deps.store, write: () => assert.fail('a stranger took the writer') } },
      }),
    });
    try {
      const unknown = () =>
        postForm(strict, oauthPaths.revoke, { token: makeSecret('accessToken', randomBytes(secretRandomBytes)) });
      for (let count = 0; count < 3; count++) assert.equal((await unknown()).statusCode, 200);
      const refused = await unknown();
      assert.equal(refused.statusCode, 429);
      assert.equal(refused.json().error, 'temporarily_unavailable');
      assert.equal(refused.headers['retry-after'], '20');
    } finally {
      await strict.close();
    }
  });

  it('revokes a known token from an address that tried too many unknown ones', async () => {
    const strict = await openService({ config: { codeTriesPerMinute: 1 } });
    try {
      const { id } = await strict.user();
      const known = await strict.token(id, { scopes: ['read'] });
      const unknown = makeSecret('accessToken', randomBytes(secretRandomBytes));
      const statuses: number[] = [];
      for (const token of [unknown, unknown, known, known]) {
        statuses.push((await postForm(strict, oauthPaths.revoke, { token })).statusCode);
      }
      assert.deepEqual(statuses, [200, 429, 200, 429]);
      assertProblem(await strict.call('GET', '/api/v1/me', { token: known }), 401, 'invalid_token');
    } finally {
      await strict.close();
    }
  });

  it('does not count revoked tokens', async () => {
    const strict = await openService({ config: { codeTriesPerMinute: 1 } });
    try {
      const { id } = await strict.user();
      for (let count = 0; count < 3; count++) {
        const token = await strict.token(id, { scopes: ['read'] });
        assert.equal((await postForm(strict, oauthPaths.revoke, { token })).statusCode, 200);
        assertProblem(await strict.call('GET', '/api/v1/me', { token }), 401, 'invalid_token');
      }
    } finally {
      await strict.close();
    }
  });

  it('does not revoke API keys, and names the route that does', async () => {
    const { id } = await service.user();
    const key = await service.apiKey(id);
    const response = await revoke(key);
    assert.equal(response.statusCode, 400);
    assert.equal(response.json().error, 'unsupported_token_type');
    const form = { body: '', headers: { 'content-type': 'multipart/form-data; boundary=x' } };
    assert.notEqual((await service.call('POST', '/instrument', { token: key, ...form })).statusCode, 401);
  });
});

describe('GET /.well-known/oauth-authorization-server', () => {
  it('names exactly the existing endpoints', async () => {
    const service = await openService();
    try {
      const response = await service.call('GET', oauthPaths.metadata);
      assert.equal(response.statusCode, 200);
      assert.match(String(response.headers['content-type']), /^application\/json/);
      const metadata = response.json<OauthMetadata>();
      const base = service.services.addresses.base();
      assert.equal(metadata.issuer, base);
      const posted = new Set(allRoutes.map(({ method, path }) => `${method} ${path}`));
      for (const endpoint of ['token_endpoint', 'device_authorization_endpoint', 'revocation_endpoint'] as const) {
        assert.ok(metadata[endpoint].startsWith(base));
        assert.ok(posted.has(`POST ${metadata[endpoint].slice(base.length)}`), endpoint);
      }
      assert.equal(metadata.authorization_endpoint, `${base}/oauth/authorize`);
      assert.deepEqual(metadata.code_challenge_methods_supported, ['S256']);
      assert.deepEqual(metadata.scopes_supported, ['read', 'publish', 'manage']);
      assert.equal((await service.call('GET', `${oauthPaths.metadata}/elsewhere`)).statusCode, 404);
    } finally {
      await service.close();
    }
  });

  it("is at RFC 8414's location for an issuer with a path, and below that path", async () => {
    const publicUrl = 'https://example.org/tools/tenon';
    const service = await openService({ config: { publicUrl } });
    try {
      const responses = await Promise.all(
        [`${oauthPaths.metadata}/tools/tenon`, `/tools/tenon${oauthPaths.metadata}`, oauthPaths.metadata].map((path) =>
          service.call('GET', path),
        ),
      );
      for (const response of responses) {
        assert.equal(response.statusCode, 200);
        assert.equal(response.json<OauthMetadata>().issuer, publicUrl);
        assert.equal(response.json<OauthMetadata>().token_endpoint, `${publicUrl}/oauth/token`);
      }
      for (const path of ['/tools', '/tools/tenon/x', '/other']) {
        assert.equal((await service.call('GET', oauthPaths.metadata + path)).statusCode, 404, path);
      }
      const begun = await postForm(service, `/tools/tenon${oauthPaths.deviceAuthorization}`, {
        client_id: cliClientId,
      });
      assert.equal(begun.json<DeviceAuthorization>().verification_uri, `${publicUrl}/device`);
      const returned = await approve(await openBrowser(service), {}, {});
      assert.equal(returned.searchParams.get('iss'), publicUrl);
    } finally {
      await service.close();
    }
  });
});
