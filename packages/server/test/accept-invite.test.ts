import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Invitation } from '@tenon/protocol';
import { openService, type TestService } from './helpers/service.ts';
import { invite, listOfInvitations, makeApp, makeWorld, ok, type World } from './helpers/world.ts';

/** The page is drawn by the console's script, from `POST /api/v1/invitations/preview`: here is what opening the link answers. */
describe('GET /accept-invite', () => {
  let service: TestService;
  let world: World;
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
  });
  after(() => service.close());

  const open = (code: string) => service.call('GET', `/accept-invite?code=${code}`);
  const freshCode = (guestKey = `key-${Math.random()}`) => invite(service, world.owner, world.appId, guestKey);
  const stored = async (guestKey: string): Promise<Invitation> => {
    const found = (await listOfInvitations(world)).find((invitation) => invitation.guestKey === guestKey);
    assert.ok(found);
    return found;
  };

  it('serves the page any number of times, and changes nothing', async () => {
    const code = await freshCode('a-private-key');
    for (let time = 0; time < 3; time++) {
      const page = await open(code);
      assert.equal(page.statusCode, 200);
      assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    }
    assert.equal((await stored('a-private-key')).status, 'pending');
  });

  it('reveals nothing about the invitation', async () => {
    const code = await freshCode('another-private-key');
    const { payload, headers } = await open(code);
    assert.equal(payload, (await service.call('GET', '/sign-in')).payload);
    for (const secret of [code, 'another-private-key', 'Acme', world.appId]) {
      assert.ok(!payload.includes(secret), secret);
      assert.ok(!JSON.stringify(headers).includes(secret), secret);
    }
  });

  it('keeps the code private: the page is not stored, framed, or sent as a referrer', async () => {
    const { headers } = await open(await freshCode());
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['x-frame-options'], 'DENY');
    assert.match(String(headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/);
  });

  it('serves the page without a code, after the page removed it from the address bar', async () => {
    assert.equal((await service.call('GET', '/accept-invite')).statusCode, 200);
  });

  it('responds with a status that matches the state of the code', async () => {
    const { token } = world.owner;
    const settle = async (how: 'accept' | 'decline'): Promise<string> => {
      const code = await freshCode();
      const { token: asking } = await service.user();
      await ok(service, 'POST', `/api/v1/invitations/${how}`, { token: asking, json: { code } });
      return code;
    };
    const revoked = await freshCode('to-be-revoked');
    const { id } = await stored('to-be-revoked');
    await ok(service, 'DELETE', `/api/v1/apps/${world.appId}/invitations/${id}`, { token });
    const expected: [code: string, status: number][] = [
      [await settle('accept'), 410],
      [await settle('decline'), 410],
      [revoked, 410],
      ['', 404],
      ['x'.repeat(43), 404],
      ['x'.repeat(5000), 404],
    ];
    for (const [code, status] of expected) {
      const page = await open(code);
      assert.equal(page.statusCode, status, code.slice(0, 50));
      assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    }
    const expired = await freshCode();
    service.advance(service.services.settings.invitationLifetimeMs);
    try {
      assert.equal((await open(expired)).statusCode, 410);
    } finally {
      service.advance(-service.services.settings.invitationLifetimeMs);
    }
  });

  it('never logs the code, even if the request fails', async () => {
    const code = await freshCode();
    for (const path of ['/accept-invite', '/accept-invitee', '/accept-invite/', '/accept-invite/%', '/nowhere']) {
      for (const method of ['GET', 'POST', 'DELETE']) await service.call(method, `${path}?code=${code}`);
    }
    await service.call('GET', `/accept-invite?code=${code}&code=${code}`, { headers: { origin: 'x', host: 'evil' } });
    await service.call('POST', '/api/v1/invitations/preview', { json: { code } });
    assert.ok(service.logged.length > 0);
    assert.ok(!service.logged.some((line) => line.includes(code)));
  });

  it('accepts no form: decisions go through the API with a token', async () => {
    const answer = await service.call('POST', '/accept-invite', {
      body: new URLSearchParams({ decision: 'accept', code: await freshCode(), token: world.owner.token }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    });
    assert.equal(answer.statusCode, 405);
    assert.equal(answer.headers.allow, 'GET, HEAD, OPTIONS');
  });

  it('limits unknown codes by address', async () => {
    const limited = await openService({ config: { codeTriesPerMinute: 5, trustedProxies: ['127.0.0.1'] } });
    try {
      const user = await limited.user();
      const code = await invite(limited, user, await makeApp(limited, user), 'k');
      const from = (address: string, path: string) =>
        limited.call('GET', path, { headers: { 'x-forwarded-for': address } });
      for (let count = 0; count < 5; count++)
        assert.equal((await from('192.0.2.1', '/accept-invite?code=x')).statusCode, 404);
      const stopped = await from('192.0.2.1', `/accept-invite?code=${code}`);
      assert.equal(stopped.statusCode, 429);
      assert.equal(stopped.headers['content-type'], 'text/html; charset=utf-8');
      assert.match(String(stopped.headers['retry-after']), /^[1-9]\d*$/);
      const api = await limited.call('POST', '/api/v1/invitations/accept', {
        token: user.token,
        json: { code },
        headers: { 'x-forwarded-for': '192.0.2.1' },
      });
      assert.equal(api.statusCode, 429);
      assert.equal((await from('192.0.2.2', `/accept-invite?code=${code}`)).statusCode, 200);
      limited.advance(61_000);
      assert.equal((await from('192.0.2.1', `/accept-invite?code=${code}`)).statusCode, 200);
    } finally {
      await limited.close();
    }
  });
});
