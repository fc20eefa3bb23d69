import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { errorCodes } from '@tenon/protocol';
import { createApp } from '../src/app.ts';
import { StorageFullError, UnavailableError } from '../src/db/store.ts';
import { toProblem } from '../src/http/problem.ts';
import type { Route } from '../src/http/route.ts';
import { createReadiness } from '../src/ops/status/readiness.ts';
import { allRoutes } from '../src/routes.ts';
import { errorReferenceMarkdown } from './helpers/error-reference.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { makeWorld, type World } from './helpers/world.ts';

describe('errors', () => {
  let service: TestService;
  let world: World;
  before(async () => {
    service = await openService({ config: { writesPerSecond: 1, writeBurst: 60, maxJsonBytes: 1000 } });
    world = await makeWorld(service);
  });
  after(() => service.close());

  it('are exactly those that the reference lists', () => {
    const page = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8');
    const remedy = 'rewrite it with `node packages/server/test/helpers/write-error-reference.ts`';
    assert.equal(page, errorReferenceMarkdown(), remedy);
    const listed = [...page.matchAll(/^\| <a id="(\w+)"><\/a>`\1` \| (\d+) \|/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);
    assert.deepEqual(
      Object.fromEntries(listed),
      Object.fromEntries(Object.entries(errorCodes).map(([code, { status }]) => [code, status])),
    );
  });

  it('link to that list on the server itself', async () => {
    const { type } = assertProblem(await service.call('GET', '/api/v1/me'), 401, 'missing_credentials');
    const url = new URL(type);
    const page = await service.call('GET', url.pathname);
    assert.equal(page.statusCode, 200);
    assert.ok(page.payload.includes(`id="${url.hash.slice(1)}"`));
    for (const code of Object.keys(errorCodes)) assert.ok(page.payload.includes(`id="${code}"`), code);
  });

  it('have the challenge of RFC 6750', async () => {
    const challengeOf = async (headers: Record<string, string>) =>
      (await service.call('GET', '/api/v1/apps', { headers })).headers['www-authenticate'];
    assert.equal(await challengeOf({}), 'Bearer realm="tenon"');
    assert.equal(await challengeOf({ authorization: 'Basic abc' }), 'Bearer realm="tenon"');
    assert.equal(
      await challengeOf({ authorization: 'Bearer nonsense' }),
      'Bearer realm="tenon", error="invalid_token"',
    );
    const unscoped = await service.token(world.owner.id, { scopes: ['publish'] });
    const scope = await challengeOf({ authorization: `Bearer ${unscoped}` });
    assert.equal(scope, 'Bearer realm="tenon", error="insufficient_scope"');
  });

  it('accept the scheme in any case, and never a token in the URL', async () => {
    const { token } = world.owner;
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const response = await service.call('GET', '/api/v1/me', { headers: { authorization: `${scheme} ${token}` } });
      assert.equal(response.statusCode, 200, scheme);
    }
    assertProblem(await service.call('GET', `/api/v1/me?access_token=${token}`), 400, 'invalid_request');
    assertProblem(await service.call('GET', `/api/v1/me?access_token=${token}`, { token }), 400, 'invalid_request');
  });

  it('report unknown paths and methods, with the allowed ones', async () => {
    assertProblem(await service.call('GET', '/no/such/page'), 404, 'not_found');
    assertProblem(await service.call('GET', '/api/v2/me'), 404, 'not_found');
    assertProblem(await service.call('GET', '/api/v1/me/'), 404, 'not_found');
    assertProblem(await service.call('POST', '/api/v1/nothing', { json: {} }), 404, 'not_found');
    const response = await service.call('PATCH', `/api/v1/apps/${world.appId}`);
    assertProblem(response, 405, 'method_not_allowed');
    assert.equal(response.headers.allow, 'DELETE, GET, HEAD, OPTIONS, PUT');
    assertProblem(await service.call('GET', '/instrument'), 405, 'method_not_allowed');
    assertProblem(await service.call('GET', '/api/v1/apps/%zz'), 400, 'invalid_request');
  });

  it('report invalid bodies: empty, not JSON, not UTF-8, too large, of another type, of another shape', async () => {
    const { token } = world.owner;
    const send = (body: Buffer | string, contentType = 'application/json') =>
      service.call('POST', '/api/v1/apps', { token, body, headers: { 'content-type': contentType } });
    assertProblem(await send(''), 400, 'malformed_json');
    assertProblem(await send('{"name": "a",}'), 400, 'malformed_json');
    assertProblem(await send(Buffer.from([0x22, 0xff, 0x22])), 400, 'malformed_json');
    assert.match(assertProblem(await send('x'.repeat(1001)), 413, 'payload_too_large').detail, /1,000 bytes/);
    assertProblem(await send('name=a', 'application/x-www-form-urlencoded'), 415, 'unsupported_media_type');
    const encoded = await service.call('POST', '/api/v1/apps', {
      token,
      body: 'x',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    assertProblem(encoded, 415, 'unsupported_media_type');
    assertProblem(await send('[]'), 422, 'invalid_field');
    assertProblem(await send('{"name":" "}'), 422, 'invalid_field');
    const { errors } = assertProblem(await send('{"name":1}'), 422, 'invalid_field');
    assert.deepEqual(errors, [{ pointer: '/name', detail: 'must be a string' }]);
    const nul = assertProblem(await send('{"name":"a\\u0000b"}'), 422, 'invalid_field');
    assert.deepEqual(nul.errors, [{ pointer: '/name', detail: 'must not contain the character U+0000' }]);
    const deep = `{"name":"a","deep":${'['.repeat(400)}"\\u0000"${']'.repeat(400)}}`;
    assertProblem(await send(deep), 422, 'invalid_field');
    const role = await service.call('PUT', `/api/v1/apps/${world.appId}/members/${world.viewer.id}`, {
      token,
      json: { role: 'king' },
    });
    assert.deepEqual(assertProblem(role, 422, 'invalid_field').errors, [
      { pointer: '/role', detail: 'must be "owner" or "admin" or "viewer"' },
    ]);
    const missing = await service.call('POST', `/api/v1/apps/${world.appId}/guests`, { token, json: {} });
    const pointers = assertProblem(missing, 422, 'invalid_field').errors?.map(({ pointer }) => pointer);
    assert.deepEqual(pointers?.sort(), ['/guestKey']);
  });

  it('do not repeat the request body, which may be secret', async () => {
    const { token } = world.owner;
    const secret = 'hunter2-and-more';
    const response = await service.call('POST', '/api/v1/apps', {
      token,
      body: `{"name": ${secret}}`,
      headers: { 'content-type': 'application/json' },
    });
    assertProblem(response, 400, 'malformed_json');
    assert.ok(!response.payload.includes('hunter'));
  });

  it('have the request id: the client’s own if it is valid', async () => {
    const idFor = async (id?: string) =>
      (await service.call('GET', '/nothing', id === undefined ? {} : { headers: { 'x-request-id': id } })).headers[
        'x-request-id'
      ];
    assert.equal(await idFor('abc-123'), 'abc-123');
    const [one, two] = [await idFor(), await idFor()];
    assert.notEqual(one, two);
    for (const bad of ['', 'a b', '<script>', 'x'.repeat(101), 'ä']) assert.notEqual(await idFor(bad), bad);
  });

  it('reject changes above the rate limit, with the time to wait, but not reads', async () => {
    const { id, token } = await service.user();
    const responses: number[] = [];
    let limited: Awaited<ReturnType<TestService['call']>> | undefined;
    for (let count = 0; count < 100 && limited === undefined; count++) {
      const response = await service.call('DELETE', '/api/v1/tokens/nonsense', { token });
      responses.push(response.statusCode);
      if (response.statusCode === 429) limited = response;
    }
    assert.ok(limited, 'never limited');
    assert.ok(responses.length > 60, `${responses.length}`);
    assertProblem(limited, 429, 'rate_limited');
    assert.match(String(limited.headers['retry-after']), /^[1-9]\d*$/);
    assert.equal((await service.call('GET', '/api/v1/me', { token })).statusCode, 200);
    const other = await service.token(id);
    assertProblem(await service.call('DELETE', '/api/v1/tokens/nonsense', { token: other }), 404, 'not_found');
  });
});

describe('errors of the server itself', () => {
  it('do not reveal the cause, which the log has with the request id', async () => {
    const service = await openService({
      replace: ({ deps }) => ({
        deps: {
          ...deps,
          store: { ...deps.store, write: () => Promise.reject(new Error('the disk at /dev/sdb1 is on fire')) },
        },
      }),
    });
    try {
      const { token } = await service.user();
      const response = await service.call('POST', '/api/v1/apps', { token, json: { name: 'a' } });
      const { detail } = assertProblem(response, 500, 'internal');
      assert.doesNotMatch(detail, /fire|sdb1/);
      const line = service.logged.find((one) => one.includes('on fire'));
      assert.ok(line?.includes(String(response.headers['x-request-id'])));
      assert.equal(JSON.parse(line ?? '{}').route, 'POST /api/v1/apps');
    } finally {
      await service.close();
    }
  });

  it('are 503 with retry-after when the store is busy, and readyz names the failing store', async () => {
    const service = await openService({
      replace: ({ deps }) => ({
        deps: {
          ...deps,
          store: { ...deps.store, write: () => Promise.reject(new UnavailableError('SQLITE_BUSY')) },
        },
        readiness: createReadiness({
          store: { ...deps.store, ping: () => Promise.reject(new Error('no such file: /secret/tenon.db')) },
          blobs: deps.blobs,
        }),
      }),
    });
    try {
      const { token } = await service.user();
      const response = await service.call('POST', '/api/v1/apps', { token, json: { name: 'a' } });
      assertProblem(response, 503, 'unavailable');
      assert.match(String(response.headers['retry-after']), /^\d+$/);
      const ready = await service.call('GET', '/readyz');
      const { detail } = assertProblem(ready, 503, 'unavailable');
      assert.match(detail, /metadata store/);
      assert.doesNotMatch(detail, /secret|blob/);
      assert.equal((await service.call('GET', '/healthz')).statusCode, 200);
    } finally {
      await service.close();
    }
  });

  it('make readyz report only changes as unavailable if the stores can be read', async () => {
    const full = () => Promise.reject(new StorageFullError('/secret/blobs'));
    const service = await openService({
      replace: ({ deps: { store, blobs } }) => ({
        readiness: createReadiness({ store, blobs: { ...blobs, ping: () => blobs.ping(), pingWrite: full } }),
      }),
    });
    try {
      const reason = 'the blob store has no room left';
      const lines = () => service.logged.filter((line) => line.includes('not ready for changes')).length;
      for (const path of ['/readyz', '/readyz?for=reads']) {
        const ready = await service.call('GET', path);
        assert.deepEqual([ready.statusCode, ready.json()], [200, { status: 'ok', writes: false, reason }]);
      }
      const { detail } = assertProblem(await service.call('GET', '/readyz?for=writes'), 503, 'unavailable');
      assert.equal(detail, `Not ready for changes: ${reason}.`);
      assert.equal(lines(), 1, 'a failure is logged once, however many ask');
      assertProblem(await service.call('GET', '/readyz?for=both'), 400, 'invalid_request');
    } finally {
      await service.close();
    }
    const whole = await openService();
    try {
      const ready = await whole.call('GET', '/readyz?for=writes');
      assert.deepEqual([ready.statusCode, ready.json()], [200, { status: 'ok', writes: true }]);
    } finally {
      await whole.close();
    }
  });

  it('replace any unknown thrown value', () => {
    for (const thrown of ['text', undefined, null, new TypeError('x'), { statusCode: 400 }]) {
      assert.equal(toProblem(thrown, 'http://x').problem.code, 'internal');
    }
  });
});

describe('the log', () => {
  it('has a line for each change, and never a path, a token, a code or a guest key', async () => {
    const service = await openService();
    try {
      const world = await makeWorld(service);
      const { owner, extensionPointId, guestKey, appId } = world;
      await service.call('GET', `/api/v1/extension-points/${extensionPointId}/bindings/${guestKey}`, {
        token: owner.token,
      });
      await service.call('GET', `/api/v1/extension-points/${extensionPointId}/bindings/${guestKey}%zz`, {
        token: owner.token,
      });
      await service.call('POST', '/api/v1/invitations/accept', {
        token: owner.token,
        json: { code: 'a-code-that-is-none' },
      });
      await service.call('GET', '/accept-invite?code=a-code-that-is-none');
      await service.call('GET', '/no/such/path-of-mine');
      const log = service.logged.join('');
      for (const secret of [owner.token, guestKey, 'a-code-that-is-none', appId, extensionPointId, 'path-of-mine']) {
        assert.ok(!log.includes(secret), secret);
      }
      const lines = service.logged.map((line) => JSON.parse(line));
      const change = lines.find(({ route }) => route === 'POST /api/v1/apps/:appId/guests');
      assert.equal(change?.level, 30);
      assert.equal(change?.status, 200);
      assert.equal(lines.find(({ route, status }) => route?.startsWith('GET') && status === 200)?.level, 20);
    } finally {
      await service.close();
    }
  });
});

describe('CORS', () => {
  it('allows any origin, without credentials, and preflights without a token', async () => {
    const service = await openService();
    try {
      const { token } = await service.user();
      const origin = 'https://console.example';
      const preflight = await service.call('OPTIONS', '/api/v1/apps', {
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
      });
      assert.equal(preflight.statusCode, 204);
      assert.equal(preflight.headers['access-control-allow-origin'], '*');
      assert.match(String(preflight.headers['access-control-allow-methods']), /POST/);
      for (const name of ['authorization', 'content-type', 'if-none-match', 'range']) {
        assert.match(String(preflight.headers['access-control-allow-headers']), new RegExp(`\\b${name}\\b`));
      }
      for (const path of ['/api/v1/extension-points/x/bindings/a%2Fb', '/api/v1/c/x', '/instrument']) {
        assert.equal((await service.call('OPTIONS', path, { headers: { origin } })).statusCode, 204, path);
      }
      assertProblem(await service.call('OPTIONS', '/nothing', { headers: { origin } }), 404, 'not_found');

      for (const response of [
        await service.call('GET', '/api/v1/me', { token, headers: { origin } }),
        await service.call('GET', '/api/v1/me', { headers: { origin } }),
        await service.call('GET', '/nothing', { headers: { origin } }),
        await service.call('GET', '/api/v1/me', { token }), // a cache may hand this one to a script
      ]) {
        assert.equal(response.headers['access-control-allow-origin'], '*');
        assert.equal(response.headers['access-control-allow-credentials'], undefined);
        for (const name of ['etag', 'retry-after', 'x-request-id', 'repr-digest', 'instrument-notes']) {
          assert.match(String(response.headers['access-control-expose-headers']), new RegExp(`\\b${name}\\b`));
        }
      }
      const page = await service.call('GET', '/accept-invite?code=x', { headers: { origin } });
      assert.equal(page.headers['access-control-allow-origin'], undefined);
    } finally {
      await service.close();
    }
  });
});

describe('createApp()', () => {
  it('fails for a route that declares no access', async () => {
    const service = await openService();
    try {
      const [first] = allRoutes;
      assert.ok(first);
      const { access: _access, ...rest } = first;
      assert.throws(() => createApp(service.services, [rest as Route]), /declares no access/);
    } finally {
      await service.close();
    }
  });
});
