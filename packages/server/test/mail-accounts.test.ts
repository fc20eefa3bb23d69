import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Account } from '@tenon/protocol';
import { newId } from '@tenon/protocol';
import { describeUser } from '../src/auth/users.ts';
import { accountExample } from '../src/http/examples.ts';
import { goodPassword, openJar, type Person, signIn, signUpPerson } from './helpers/jar.ts';
import { codeIn, openMailServer, sendMails, type TestMailServer } from './helpers/mail-server.ts';
import { openWorkshop } from './helpers/plugins.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { inviteMember, makeApp, ok } from './helpers/world.ts';

let server: TestMailServer;
let service: TestService;

before(async () => {
  server = await openMailServer();
  service = await openService({ config: { smtp: server.at } });
});

after(async () => {
  await service.close();
  await server.close();
});

beforeEach(async () => {
  await sendMails(service, server);
  server.mails.length = 0;
});

const send = () => sendMails(service, server);
const subjects = () => server.mails.map(({ subject }) => subject);
const pathOf = (text: string | undefined) => /http:\/\/localhost:8366(\S+)/.exec(text ?? '')?.[1] ?? '';

/** Presses the button of the page of a mailed link. */
const press = (path: string, body = '') =>
  service.call('POST', path, { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } });

async function accountOf({ jar }: Person): Promise<Account> {
  return ok<Account>(service, 'GET', '/api/v1/me', { token: await jar.token() });
}

/** A person whose address is verified. */
async function verifiedPerson(name = 'Ada'): Promise<Person> {
  const person = await signUpPerson(service, { name });
  await send();
  const mail = server.mails.find(({ recipient }) => recipient === person.email);
  assert.equal((await press(pathOf(mail?.text))).statusCode, 200);
  server.mails.length = 0;
  return person;
}

describe('the address of an account', () => {
  it('is verified by the link that sign-up mails, which changes nothing when it is opened', async () => {
    const person = await signUpPerson(service);
    assert.equal((await accountOf(person)).isEmailVerified, false);
    await send();
    assert.deepEqual(subjects(), ['Verify your e-mail address']);
    const path = pathOf(server.mails[0]?.text);
    const page = await service.call('GET', path);
    assert.match(page.payload, /<form method="post"><button>Verify<\/button>/);
    assert.match(String(page.headers['content-security-policy']), /form-action 'self'/);
    assert.equal((await accountOf(person)).isEmailVerified, false);
    const done = await press(path);
    assert.match(done.payload, /is verified/);
    assert.equal((await accountOf(person)).isEmailVerified, true);
    const token = await person.jar.token();
    assertProblem(await service.call('POST', '/api/v1/me/verification', { token, json: {} }), 409, 'conflict');
  });

  it('gets another link on request, a few an hour, and the link expires', async () => {
    const person = await signUpPerson(service);
    await send();
    const token = await person.jar.token();
    const ask = () => service.call('POST', '/api/v1/me/verification', { token, json: {} });
    assert.equal((await ask()).statusCode, 204);
    assert.equal((await ask()).statusCode, 204, 'one is queued');
    await send();
    assert.deepEqual(subjects(), ['Verify your e-mail address', 'Verify your e-mail address']);
    for (let count = 2; count < 5; count++) await ask();
    assertProblem(await ask(), 429, 'rate_limited');
    service.advance(25 * 3_600_000);
    const late = await press(pathOf(server.mails[0]?.text));
    assert.equal(late.statusCode, 404);
    assert.match(late.payload, /has expired/);
    assert.equal((await press(`/verify-email?code=${'x'.repeat(43)}`)).statusCode, 404);
    assert.equal((await press('/verify-email')).statusCode, 404);
  });

  it('is verified by a mailed invitation to the same address only', async () => {
    const owner = await service.user('Owner');
    const appId = await makeApp(service, owner);
    const address = `${newId('user')}@example.org`;
    for (const [email, expected] of [[address, true] as const, ['other@example.org', false] as const]) {
      const json = { deliveryMethod: 'email', guestKey: `k-${expected}`, email: address };
      await ok(service, 'POST', `/api/v1/apps/${appId}/guests`, { token: owner.token, json });
      await send();
      const mail = server.mails.pop();
      assert.ok(mail);
      const jar = openJar(service);
      const invitationCode = codeIn(mail);
      const body = { name: 'Grace', email, password: goodPassword, invitationCode };
      const signedUp = await jar.call('POST', '/session/sign-up', body);
      assert.equal(signedUp.statusCode, 201, signedUp.payload);
      const { account } = signedUp.json<{ account: Account }>();
      assert.equal(account.isEmailVerified, expected);
    }
    const code = await inviteMember(service, owner, appId, 'viewer');
    const body = { name: 'Eve', email: 'head@example.org', password: goodPassword, invitationCode: code };
    const { account } = (await openJar(service).call('POST', '/session/sign-up', body)).json<{ account: Account }>();
    assert.equal(account.isEmailVerified, false, 'a link that the inviter passed on');
  });
});

describe('a forgotten password', () => {
  const ask = (email: string) => openJar(service).call('POST', '/session/password-link', { email });

  it('is reset by a mailed link, which works once and verifies the address', async () => {
    const person = await signUpPerson(service);
    await send();
    server.mails.length = 0;
    assert.equal((await ask(` ${person.email.toUpperCase()} `)).statusCode, 204);
    await send();
    assert.deepEqual(subjects(), ['Reset your password']);
    const [mail] = server.mails;
    assert.ok(mail);
    assert.equal(mail.recipient, person.email);
    assert.match(pathOf(mail.text), /^\/reset-password#code=/);
    assert.equal(mail.headers.get('list'), undefined);
    const reset = { code: codeIn(mail), password: 'four candles and handles' };
    const answer = await openJar(service).call('POST', '/session/reset-password', reset);
    assert.equal(answer.statusCode, 200, answer.payload);
    assert.equal(answer.json<{ account: Account }>().account.isEmailVerified, true);
    assertProblem(await openJar(service).call('POST', '/session/reset-password', reset), 410, 'link_used');
  });

  it('gets the same answer without an account, and takes as long', async () => {
    const person = await signUpPerson(service);
    await send();
    server.mails.length = 0;
    const times: number[] = [];
    for (const email of [person.email, `${newId('user')}@example.org`, 'no address']) {
      const began = performance.now();
      const answer = await ask(email);
      times.push(performance.now() - began);
      assert.deepEqual([answer.statusCode, answer.payload], [204, '']);
    }
    assert.ok(
      times.every((ms) => ms >= 245),
      String(times),
    );
    await send();
    assert.equal(server.mails.length, 1);
  });

  it('mails few links to an address, and limits a network', async () => {
    const own = await openService({ config: { smtp: server.at } });
    try {
      const person = await signUpPerson(own);
      await sendMails(own, server);
      server.mails.length = 0;
      const statuses: number[] = [];
      for (let count = 0; count < 21; count++) {
        const email = count < 7 ? person.email : `${newId('user')}@example.org`;
        statuses.push((await openJar(own).call('POST', '/session/password-link', { email })).statusCode);
        await sendMails(own, server);
      }
      assert.deepEqual(statuses, [...Array(20).fill(204), 429]);
      assert.equal(server.mails.length, 5);
    } finally {
      await own.close();
    }
  });

  it('is the operator’s to reset on a server without mail', async () => {
    const own = await openService();
    try {
      const answer = await openJar(own).call('POST', '/session/password-link', { email: 'ada@example.org' });
      assertProblem(answer, 404, 'not_found');
      const state = await openJar(own).call('GET', '/session');
      assert.equal(state.json<{ sendsMail: boolean }>().sendsMail, false);
    } finally {
      await own.close();
    }
  });
});

describe('notices', () => {
  it('tell of a sign-in in a new browser, not of one that is known', async () => {
    const person = await verifiedPerson();
    const jar = await signIn(service, person);
    await signIn(service, person, jar);
    await send();
    assert.deepEqual(subjects(), ['New sign-in to your account']);
    assert.equal(server.mails[0]?.headers.get('list'), undefined);
    const token = await jar.token();
    await ok(service, 'PUT', '/api/v1/me', { token, json: { notices: { signIns: false } } });
    await signIn(service, person);
    await send();
    assert.equal(server.mails.length, 1);
  });

  it('go only to verified addresses', async () => {
    const person = await signUpPerson(service);
    await send();
    server.mails.length = 0;
    await signIn(service, person);
    await send();
    assert.deepEqual(subjects(), []);
  });

  it('tell the publisher what the team blocked and yanked, until it unsubscribes with one click', async () => {
    const workshop = await openWorkshop(service);
    await verify(workshop.publisher.id);
    await workshop.publish(1);
    await workshop.call('POST', '/versions/1/yank', { reason: 'It sends <data> home.' });
    await workshop.call('PUT', '/block', { reason: 'Again.' });
    await send();
    const name = 'median';
    assert.deepEqual(subjects().sort(), [
      `Your plugin ${name} was blocked`,
      `Your plugin ${name}, version 1 was yanked`,
    ]);
    const [mail] = server.mails;
    assert.ok(mail);
    assert.match(String(mail.html), /&lt;data&gt;|Again/);
    const list = mail.headers.get('list') as unknown as { unsubscribe: { url: string } };
    assert.match(mail.raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    const path = new URL(list.unsubscribe.url);
    // Mail programs send either form type: https://www.rfc-editor.org/rfc/rfc8058#section-3.1
    const part = '--b\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n';
    const url = path.pathname + path.search;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const done = await service.call('POST', url, { body: part, headers });
    assert.equal(done.statusCode, 200, done.payload);
    assert.equal((await press(url, 'List-Unsubscribe=One-Click')).statusCode, 200);
    const { notices } = await ok<Account>(service, 'GET', '/api/v1/me', workshop.publisher);
    assert.deepEqual(notices, { ...accountExample.notices, withdrawals: false });
    server.mails.length = 0;
    await workshop.call('PUT', '/block', { reason: 'Once more.' });
    await send();
    assert.deepEqual(subjects(), []);
  });

  it('tell approvers what waits: once an hour, and only while something waits', async () => {
    const workshop = await openWorkshop(service);
    await verify(workshop.owner.id);
    await workshop.settings({ requiresApproval: true });
    await workshop.publish(1);
    await workshop.publish(2);
    await send();
    assert.deepEqual(subjects(), ['2 versions wait for approval in Acme']);
    assert.match(server.mails[0]?.text ?? '', /, version 2, by /);
    await workshop.publish(3);
    await send();
    assert.equal(server.mails.length, 1);
    for (const version of [1, 2, 3]) await workshop.call('POST', `/versions/${version}/approve`);
    service.advance(3_600_000);
    await send();
    assert.equal(server.mails.length, 1);
  });

  /** Gives a user a verified address. */
  async function verify(userId: Person['id']): Promise<void> {
    const email = `${newId('user')}@example.org`;
    await service.store.write(async (tx) => {
      await tx.setEmail(userId, email);
      await tx.putMailPreferences({ userId, verifiedEmail: email, muted: [] });
    });
    assert.ok((await describeUser(service.services.deps, userId)).user.isEmailVerified);
  }
});
