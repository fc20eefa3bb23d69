import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openJar, type Person, signUpPerson } from './helpers/jar.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { exchange, requestOf } from './helpers/wire.ts';
import { makeWorld, type World } from './helpers/world.ts';

describe('a request to an unknown host name', () => {
  let service: TestService;
  let world: World;
  let person: Person;
  let base: string;
  before(async () => {
    service = await openService({ config: { logLevel: 'info' } }); // so that lists are answered from memory
    world = await makeWorld(service);
    person = await signUpPerson(service);
    base = await service.listen();
  });
  after(() => service.close());

  const rebound = { host: 'evil.example:8366', origin: 'http://evil.example:8366', 'sec-fetch-site': 'same-origin' };

  it('does not sign in, for any origin', async () => {
    const { email, password } = person;
    const answer = await service.call('POST', '/session', { json: { email, password }, headers: rebound });
    assertProblem(answer, 403, 'cross_site_request');
    assert.equal(answer.headers['set-cookie'], undefined);
  });

  it('is rejected on every kind of route if it comes from a browser', async () => {
    const cookie = `tenon-session-${new URL(base).port}=${person.jar.cookies.get('tenon-session-8366')}`;
    const signs = [{ origin: 'http://evil.example:8366' }, { 'sec-fetch-site': 'none' }, { cookie }];
    for (const sign of signs) {
      for (const path of ['/', '/healthz', '/session', '/api/v1/me', '/nowhere', '/openapi.json']) {
        const { statusCode } = await service.call('GET', path, {
          token: world.owner.token,
          headers: { host: 'evil.example', ...sign },
        });
        assert.equal(statusCode, 403, `${path} ${JSON.stringify(sign)}`);
      }
    }
    assert.equal((await service.call('GET', '/healthz', { headers: { host: '10.1.2.3:8366' } })).statusCode, 200);
  });

  it('is rejected even with a cached response', async () => {
    const path = `/api/v1/extension-points/${world.extensionPointId}/bindings/${world.guestKey}`;
    const ask = (...fields: string[]) =>
      exchange(base, requestOf([`GET ${path} HTTP/1.1`, `authorization: Bearer ${world.owner.token}`, ...fields]));
    for (let round = 0; round < 3; round++) assert.equal((await ask('host: evil.example')).status, 200);
    assert.equal((await ask('host: evil.example', 'origin: http://evil.example')).status, 403);
    assert.equal((await ask('host: evil.example', 'host: localhost')).status, 400);
    assert.equal((await ask('host: localhost', 'origin: https://host.example')).status, 200);
  });

  it('gets 400 with several host names', async () => {
    const answer = await exchange(base, requestOf(['GET /healthz HTTP/1.1', 'host: localhost', 'Host: evil.example']));
    assert.equal(answer.status, 400);
    assert.equal(JSON.parse(answer.body.toString()).code, 'invalid_request');
  });
});

describe('a server with an https URL', () => {
  it('sends HSTS in every response; a server over http does not', async () => {
    const service = await openService({ config: { publicUrl: 'https://tenon.example/tools', logLevel: 'info' } });
    try {
      const { owner, extensionPointId, guestKey } = await makeWorld(service);
      const headers = { host: 'tenon.example' };
      for (const path of ['/healthz', '/', '/api/v1/me', '/nowhere', '/session']) {
        const answer = await service.call('GET', path, { headers });
        assert.equal(answer.headers['strict-transport-security'], 'max-age=31536000', path);
      }
      const base = await service.listen();
      const list = `GET /api/v1/extension-points/${extensionPointId}/bindings/${guestKey} HTTP/1.1`;
      for (let round = 0; round < 3; round++) {
        const answer = await exchange(
          base,
          requestOf([list, 'host: tenon.example', `authorization: Bearer ${owner.token}`]),
        );
        assert.equal(answer.headers['strict-transport-security'], 'max-age=31536000');
      }
    } finally {
      await service.close();
    }
    const plain = await openService();
    const answer = await plain.call('GET', '/healthz');
    assert.equal(answer.headers['strict-transport-security'], undefined);
    await plain.close();
  });

  it('signs users in at its own host name', async () => {
    const service = await openService({ config: { publicUrl: 'https://tenon.example' } });
    try {
      const { email, password } = await signUpPerson(service);
      const own = { host: 'tenon.example', origin: 'https://tenon.example' };
      assert.equal((await openJar(service).call('POST', '/session', { email, password }, own)).statusCode, 200);
    } finally {
      await service.close();
    }
  });
});
