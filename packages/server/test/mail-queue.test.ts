import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { maxAgeMs } from '../src/ops/mail/send-mails.ts';
import { codeIn, openMailServer, sendMails, type TestMailServer } from './helpers/mail-server.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { makeApp, ok } from './helpers/world.ts';

describe('mailed invitations', () => {
  let server: TestMailServer;
  let service: TestService;
  let owner: TestUser;
  let appId: string;

  before(async () => {
    server = await openMailServer();
    service = await openService({ config: { smtp: server.at } });
    owner = await service.user('Ada');
    owner = { ...owner, token: await service.token(owner.id, { lifetimeMs: 30 * maxAgeMs }) };
    appId = await makeApp(service, owner);
  });

  after(async () => {
    await service.close();
    await server.close();
  });

  beforeEach(() => {
    server.mails.length = 0;
    server.faults.length = 0;
  });

  const send = () => sendMails(service, server);

  const invite = (email: string, guestKey = 'acme') =>
    service.call('POST', `/api/v1/apps/${appId}/guests`, {
      token: owner.token,
      json: { deliveryMethod: 'email', guestKey, email },
    });

  it('sends a mail whose link works beside the link of the response, and both only once', async () => {
    const response = await invite('grace@example.org');
    assert.equal(response.statusCode, 200);
    const { link } = response.json<{ link: string }>();
    assert.deepEqual(await send(), { sent: 1, postponed: 0, failed: 0 });
    const [mail] = server.mails;
    assert.ok(mail);
    assert.equal(mail.recipient, 'grace@example.org');
    assert.equal(mail.from?.value[0]?.address, 'tenon@example.com');
    assert.equal(mail.subject, 'Invitation to Acme');
    assert.match(String(mail.html), /<a href="http:\/\/localhost:8366\/accept-invite\?code=/);
    assert.doesNotMatch(mail.raw, /acme\b/, 'a guest key');
    const codes = [codeIn(mail), new URL(link).searchParams.get('code') ?? ''];
    assert.notEqual(codes[0], codes[1]);
    for (const code of codes) await ok(service, 'POST', '/api/v1/invitations/preview', { json: { code } });
    const { token } = await service.user('Grace');
    await ok(service, 'POST', '/api/v1/invitations/accept', { token, json: { code: codes[0] } });
    for (const code of codes) {
      assertProblem(
        await service.call('POST', '/api/v1/invitations/preview', { json: { code } }),
        410,
        'invitation_used',
      );
    }
    assert.deepEqual(await send(), { sent: 0, postponed: 0, failed: 0 });
  });

  it('mails a renewed invitation, and ends the links that were mailed before', async () => {
    await invite('renewed@example.org', 'renewed');
    await send();
    const path = `/api/v1/apps/${appId}/invitations`;
    const search = `${path}?q=renewed@example.org`;
    const { objects } = await ok<{ objects: { id: string }[] }>(service, 'GET', search, owner);
    const json = { deliveryMethod: 'email' };
    await ok(service, 'POST', `${path}/${objects[0]?.id}/renew`, { token: owner.token, json });
    assert.deepEqual(await send(), { sent: 1, postponed: 0, failed: 0 });
    const [before, after] = server.mails.map(codeIn);
    const preview = (code?: string) => service.call('POST', '/api/v1/invitations/preview', { json: { code } });
    assertProblem(await preview(before), 404, 'not_found');
    assert.equal((await preview(after)).statusCode, 200);
  });

  it('names the inviter and the role in an invitation to the team', async () => {
    const json = { deliveryMethod: 'email', role: 'admin', email: 'linus@example.org' };
    await ok(service, 'POST', `/api/v1/apps/${appId}/members`, { token: owner.token, json });
    await send();
    assert.match(server.mails[0]?.text ?? '', /^Ada invites you to the team of the application “Acme”, as admin\./);
  });

  it('stores no code of a mail before it is sent, and only hashes afterwards', async () => {
    await invite('grace@example.org', 'hashes');
    await send();
    const [mail] = server.mails;
    assert.ok(mail);
    assert.ok(!service.logged.join('\n').includes(codeIn(mail)));
    assert.ok(!service.logged.join('\n').includes('grace@example.org'));
  });

  it('requires an address that mail can go to', async () => {
    for (const email of [
      '',
      'grace',
      'a@b@c',
      'a b@example.org',
      'a@example.org\r\nBcc: b@example.org',
      '<a@b>',
      'a,b@c.org',
    ]) {
      assertProblem(await invite(email), 422, 'invalid_field');
    }
    const json = { deliveryMethod: 'email', guestKey: 'k' };
    const path = `/api/v1/apps/${appId}/guests`;
    assertProblem(await service.call('POST', path, { token: owner.token, json }), 422, 'invalid_field');
    const problem = assertProblem(
      await service.call('POST', path, { token: owner.token, json: { ...json, deliveryMethod: 'pigeon' } }),
      422,
      'unsupported_delivery_method',
    );
    assert.match(problem.detail ?? '', /supported: "link", "email"\.$/);
  });

  it('retries later after a temporary failure, with the same Message-ID, and both links work', async () => {
    await invite('grace@example.org', 'later');
    server.faults.push('drop');
    assert.deepEqual(await send(), { sent: 0, postponed: 1, failed: 0 });
    assert.deepEqual(await send(), { sent: 0, postponed: 0, failed: 0 });
    service.advance(60_000);
    server.faults.push({ code: 451, at: 'RCPT' });
    assert.deepEqual(await send(), { sent: 0, postponed: 1, failed: 0 });
    service.advance(120_000);
    assert.deepEqual(await send(), { sent: 1, postponed: 0, failed: 0 });
    const [first, second] = server.mails;
    assert.equal(server.mails.length, 2);
    assert.equal(first?.messageId, second?.messageId);
    for (const mail of server.mails) {
      await ok(service, 'POST', '/api/v1/invitations/preview', { json: { code: codeIn(mail) } });
    }
  });

  for (const at of ['MAIL', 'RCPT', 'DATA'] as const) {
    it(`gives up after a response of 550 to ${at}, and sends the other mails`, async () => {
      await invite('nobody@example.org', `gone-${at}`);
      service.advance(1);
      await invite('grace@example.org', `there-${at}`);
      server.faults.push({ code: 550, at });
      assert.deepEqual(await send(), { sent: 1, postponed: 0, failed: 1 });
      assert.equal(server.mails[0]?.recipient, 'grace@example.org');
    });
  }

  it('sends the other mails over the same connection after a response of 451, unless one after another is deferred', async () => {
    const each = async (count: number, key: string) => {
      for (let at = 0; at < count; at++) await invite(`grace${at}@example.org`, `${key}-${at}`);
    };
    await each(3, 'busy');
    server.faults.push({ code: 451, at: 'RCPT' });
    assert.deepEqual(await send(), { sent: 2, postponed: 1, failed: 0 });
    service.advance(60_000);
    await send();
    await each(12, 'deferred');
    for (let at = 0; at < 12; at++) server.faults.push({ code: 451, at: 'RCPT' });
    assert.deepEqual(await send(), { sent: 0, postponed: 10, failed: 0 });
    server.faults.length = 0;
    service.advance(240_000);
    assert.deepEqual(await send(), { sent: 12, postponed: 0, failed: 0 });
  });

  it('gives up after two days', async () => {
    await invite('grace@example.org', 'old');
    service.advance(maxAgeMs + 1);
    const before = await service.services.deps.store.read.mailQueue();
    assert.deepEqual(await send(), { sent: 0, postponed: 0, failed: 0 });
    const after = await service.services.deps.store.read.mailQueue();
    assert.deepEqual([before.queued, after.queued, after.failed - before.failed], [1, 0, 1]);
    assert.equal(server.mails.length, 0);
  });

  it('sends no invitation that was revoked', async () => {
    await invite('grace@example.org', 'revoked');
    const path = `/api/v1/apps/${appId}`;
    const { objects } = await ok<{ objects: { id: string }[] }>(
      service,
      'GET',
      `${path}/invitations?sort=-createdAt&limit=1`,
      owner,
    );
    await ok(service, 'DELETE', `${path}/invitations/${objects[0]?.id}`, owner);
    await send();
    assert.equal(server.mails.length, 0);
    assert.equal((await service.services.deps.store.read.mailQueue()).queued, 0);
  });

  it('leaves a mail alone that another process has claimed, until its lease has ended', async () => {
    await invite('grace@example.org', 'claimed');
    const { clock, settings } = service.services.deps;
    const leaseMs = settings.mailLeaseMs;
    const nowMs = clock();
    await service.store.write((tx) => tx.claimMail({ nowMs, untilMs: nowMs + leaseMs }));
    await send();
    assert.equal(server.mails.length, 0);
    service.advance(leaseMs);
    await send();
    assert.equal(server.mails.length, 1);
  });

  it('escapes hostile names in text, HTML, and header fields', async () => {
    const name = '<img src=//evil.example>"& Bcc: x@evil.example';
    const hostile = await ok<{ id: string }>(service, 'POST', '/api/v1/apps', { token: owner.token, json: { name } });
    const json = { deliveryMethod: 'email', guestKey: 'k', email: 'grüße@bücher.example' };
    const path = `/api/v1/apps/${hostile.id}/guests`;
    assert.equal((await service.call('POST', path, { token: owner.token, json })).statusCode, 200);
    await send();
    const [mail] = server.mails;
    assert.ok(mail);
    assert.equal(mail.bcc, undefined);
    assert.doesNotMatch(String(mail.html), /<img/);
    assert.match(String(mail.html), /&lt;img src=\/\/evil/);
    assert.equal(mail.subject, 'Invitation to <img src=//evil.example>"& Bcc: x@evil.example');
  });
});
