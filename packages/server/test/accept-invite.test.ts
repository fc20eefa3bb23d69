import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Invitation } from '@tenon/protocol';
import { openService, type TestService, type TestUser } from './helpers/service.ts';
import { invite, listOfGuests, listOfInvitations, makeApp, makeWorld, ok, type World } from './helpers/world.ts';

describe('/accept-invite', () => {
  let service: TestService;
  let world: World;
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
  });
  after(() => service.close());

  const open = (code: string) => service.call('GET', `/accept-invite?code=${code}`);
  const press = (decision: string, code: string, token: string, headers: Record<string, string> = {}) =>
    service.call('POST', '/accept-invite', {
      body: new URLSearchParams({ decision, code, token }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
    });
  const freshCode = (guestKey = `key-${Math.random()}`) => invite(service, world.owner, world.appId, guestKey);
  const holds = async (user: TestUser) =>
    (await listOfGuests(world)).filter(({ users }) => users.some(({ userId }) => userId === user.id)).length;

  it('shows who invites and a form, and changes nothing', async () => {
    const code = await freshCode('a-private-key');
    for (let time = 0; time < 3; time++) {
      const page = await open(code);
      assert.equal(page.statusCode, 200);
      assert.match(String(page.headers['content-type']), /^text\/html; charset=utf-8$/);
      assert.match(page.payload, /Acme/);
      assert.match(page.payload, /<form method="post">/);
      assert.match(page.payload, /name="token" type="password"/);
      for (const decision of ['accept', 'decline']) assert.ok(page.payload.includes(`value="${decision}"`));
      assert.ok(!page.payload.includes('a-private-key'));
    }
    const invitations = await listOfInvitations(world);
    assert.equal(invitations.find(({ guestKey }) => guestKey === 'a-private-key')?.status, 'pending');
  });

  it('answers a page for a code of any length that nobody has', async () => {
    const response = await service.call('GET', `/accept-invite?code=${'x'.repeat(5000)}`);
    assert.equal(response.statusCode, 404);
    assert.match(String(response.headers['content-type']), /^text\/html/);
  });

  it('keeps the code to itself: not stored, not framed, not referred, no script, no foreign origin', async () => {
    const { headers, payload } = await open(await freshCode());
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    const policy = String(headers['content-security-policy']);
    for (const part of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"]) {
      assert.ok(policy.includes(part), part);
    }
    assert.ok(!policy.includes('unsafe'));
    assert.doesNotMatch(payload, /<script|https?:\/\//);
    const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(payload) ?? [];
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(style))).toString('base64');
    assert.ok(policy.includes(`'sha256-${digest}'`));
  });

  it('accepts, and says so', async () => {
    const user = await service.user();
    const code = await freshCode();
    const page = await press('accept', code, ` ${user.token} `);
    assert.equal(page.statusCode, 200, page.payload);
    assert.match(page.payload, /guest of Acme now/);
    assert.equal(await holds(user), 1);
    const again = await press('accept', code, user.token);
    assert.equal(again.statusCode, 410);
    assert.match(again.payload, /accepted already/);
    assert.equal((await open(code)).statusCode, 410);
  });

  it('declines, and says so', async () => {
    const user = await service.user();
    const code = await freshCode();
    const page = await press('decline', code, user.token);
    assert.equal(page.statusCode, 200);
    assert.match(page.payload, /declined/);
    assert.equal(await holds(user), 0);
    const again = await open(code);
    assert.equal(again.statusCode, 410);
    assert.match(again.payload, /has been declined/);
  });

  it('says what to do about an expired, a revoked and an unknown invitation', async () => {
    const user = await service.user();
    const revoked = await freshCode('to-be-revoked');
    const { id } = (await listOfInvitations(world)).find(({ guestKey }) => guestKey === 'to-be-revoked') as Invitation;
    const { token } = world.owner;
    await ok(service, 'DELETE', `/api/v1/apps/${world.appId}/invitations/${id}`, { token });
    const expired = await freshCode();
    const statuses: [string, number, RegExp][] = [
      [revoked, 410, /revoked/],
      ['', 404, /no such invitation/],
      ['x'.repeat(43), 404, /no such invitation/],
    ];
    for (const [code, status, text] of statuses) {
      for (const page of [await open(code), await press('accept', code, user.token)]) {
        assert.equal(page.statusCode, status, code);
        assert.match(page.payload, text);
        assert.match(page.payload, /Ask|ask/);
      }
    }
    service.advance(service.parts.settings.invitationLifetimeMs);
    try {
      const page = await open(expired);
      assert.equal(page.statusCode, 410);
      assert.match(page.payload, /expired/);
    } finally {
      service.advance(-service.parts.settings.invitationLifetimeMs);
    }
  });

  it('shows the form again for a token that does not do', async () => {
    const code = await freshCode();
    const { id } = world.stranger;
    const readOnly = await service.token(id, { scopes: ['read'] });
    for (const [token, status] of [
      ['', 401],
      ['tnn_nonsense', 401],
      [await service.apiKey(id), 401],
      [readOnly, 403],
    ] as const) {
      const page = await press('accept', code, token);
      assert.equal(page.statusCode, status);
      assert.match(page.payload, /role="alert"/);
      assert.match(page.payload, /<form/);
      assert.ok(token === '' || !page.payload.includes(token), 'the token is not sent back');
    }
    assert.equal((await open(code)).statusCode, 200);
  });

  it('escapes what others have named', async () => {
    const user = await service.user();
    const json = { name: '<img src=x onerror=alert(1)>"\'&' };
    const { id } = await ok<{ id: string }>(service, 'POST', '/api/v1/apps', { token: user.token, json });
    const code = await invite(service, user, id, 'k');
    const { payload } = await open(code);
    assert.ok(!payload.includes('<img'));
    assert.ok(payload.includes('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;'));
  });

  it('heeds no form that another site sends', async () => {
    const user = await service.user();
    const code = await freshCode();
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:8366' },
    ]) {
      assert.equal((await press('accept', code, user.token, headers)).statusCode, 403);
    }
    const fromElsewhere = await service.call('POST', '/accept-invite', {
      body: new URLSearchParams({ decision: 'accept', code, token: user.token }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://evil.example' },
    });
    assert.equal(fromElsewhere.statusCode, 403);
    assert.equal(await holds(user), 0);
  });

  it('stops an address that tries codes out, and no other', async () => {
    const limited = await openService({ config: { codeTriesPerMinute: 5, trustedProxies: ['127.0.0.1'] } });
    try {
      const user = await limited.user();
      const code = await invite(limited, user, await makeApp(limited, user), 'k');
      const from = (address: string, path: string, options: object = {}) =>
        limited.call('GET', path, { ...options, headers: { 'x-forwarded-for': address } });
      for (let count = 0; count < 5; count++)
        assert.equal((await from('192.0.2.1', '/accept-invite?code=x')).statusCode, 404);
      const stopped = await from('192.0.2.1', `/accept-invite?code=${code}`);
      assert.equal(stopped.statusCode, 429);
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
