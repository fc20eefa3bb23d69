import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { comparisonCode, type DeviceAuthorization, type Me, type OauthToken } from '@tenon/protocol';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours } from './helpers/workshop.ts';

/** A program that waits on this machine for a login's answer, as `tenon login` does. */
interface Program {
  readonly page: string;
  readonly comparisonCode: string;
  readonly origin: string;
  /** The queries that came to its callback. */
  readonly answers: URLSearchParams[];
  redeem(code: string): Promise<OauthToken>;
  close(): void;
}

describe('the approval of a login', { skip: noBrowser }, () => {
  let stage: Stage;
  let email: string;
  let password: string;
  before(async () => {
    stage = await openStage();
    ({ TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart);
  });
  after(() => stage.close());

  async function startProgram(scope: string, changes: Readonly<Record<string, string>> = {}): Promise<Program> {
    const answers: URLSearchParams[] = [];
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      if (url.pathname === '/callback') answers.push(url.searchParams);
      response
        .setHeader('content-type', 'text/html')
        .end('<!doctype html><title>Done</title><link rel="icon" href="data:,">');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'tenon-cli',
      redirect_uri: `${origin}/callback`,
      scope,
      state: 'the-state',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      device_name: 'adas <i>laptop</i>',
      ...changes,
    });
    return {
      page: `/oauth/authorize?${query}`,
      comparisonCode: comparisonCode(challenge),
      origin,
      answers,
      redeem: (code) =>
        token({ grant_type: 'authorization_code', code, redirect_uri: `${origin}/callback`, code_verifier: verifier }),
      close: () => server.close(),
    };
  }

  async function post<T>(path: string, form: Record<string, string>): Promise<T> {
    const body = new URLSearchParams({ client_id: 'tenon-cli', ...form });
    const response = await fetch(stage.url + path, { method: 'POST', body });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text);
  }

  const token = (form: Record<string, string>) => post<OauthToken>('/oauth/token', form);

  const me = async ({ access_token }: OauthToken): Promise<Me> =>
    (
      await fetch(`${stage.url}/api/v1/me`, { headers: { authorization: `Bearer ${access_token}` } })
    ).json() as Promise<Me>;

  async function signedIn(): Promise<Visitor> {
    const visitor = await stage.visitor();
    await visitor.open('/');
    await visitor.signIn(email, password);
    return visitor;
  }

  /** Takes what going to the program means to those who watch for requests to other hosts out of a visitor's faults. */
  function forgive(visitor: Visitor, { origin }: Program): void {
    const others = visitor.faults.filter((fault) => !fault.includes(origin));
    visitor.faults.splice(0, Infinity, ...others);
  }

  it('asks for the sign-in first, then shows who asks for what, and grants what was left of it', async () => {
    const program = await startProgram('read publish');
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open(program.page);
    await page.getByRole('heading', { name: 'Sign in to review this login' }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();

    await page.getByRole('heading', { name: 'Approve this login?' }).waitFor();
    await page.getByText(program.comparisonCode, { exact: true }).waitFor();
    await page.getByText('“adas <i>laptop</i>”').waitFor();
    await page.getByText('You are signed in as Demo owner').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.reload();

    await page.getByLabel('Publish plugins in your name').uncheck();
    await page.getByLabel('Read what you can see').uncheck();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Select at least one permission').waitFor();
    await page.getByLabel('Read what you can see').check();
    await Promise.all([
      page.waitForURL(`${program.origin}/**`),
      page.getByRole('button', { name: 'Approve' }).dblclick(),
    ]);

    assert.equal(program.answers.length, 1, 'pressing twice decides once');
    const [answer] = program.answers;
    assert.equal(answer?.get('state'), 'the-state');
    assert.equal(answer.get('iss'), stage.url);
    const granted = await program.redeem(answer.get('code') ?? '');
    assert.equal(granted.scope, 'read');
    assert.deepEqual((await me(granted)).token.scopes, ['read']);
    await page.goBack();
    assert.ok(!page.url().includes('/oauth/authorize'), 'going back does not lead to what is decided');
    forgive(visitor, program);
    program.close();
    await visitor.close();
  });

  it('tells the program that it was denied', async () => {
    const program = await startProgram('read publish manage');
    const visitor = await signedIn();
    await visitor.open(program.page);
    await Promise.all([
      visitor.page.waitForURL(`${program.origin}/**`),
      visitor.page.getByRole('button', { name: 'Deny' }).click(),
    ]);
    assert.deepEqual(
      program.answers.map((answer) => [answer.get('error'), answer.get('code'), answer.get('state')]),
      [['access_denied', null, 'the-state']],
    );
    forgive(visitor, program);
    program.close();
    await visitor.close();
  });

  it('asks for the password where it was entered long ago, for any scope', async () => {
    const program = await startProgram('read manage');
    const device = await askByDevice();
    const visitor = await signedIn();
    const { page } = visitor;
    const age = () => {
      const database = new DatabaseSync(join(stage.server.folder, 'tenon-data', 'tenon.db'));
      database.exec('update sessions set confirmedAtMs = confirmedAtMs - 3600000');
      database.exec('insert into commits (invalidated) values (null)'); // has the server forget what it knows
      database.close();
    };
    const asked = page.getByRole('dialog', { name: 'Confirm your password' });
    const approve = () => page.getByRole('button', { name: 'Approve' }).click();
    const enter = async () => {
      await asked.getByLabel('Password', { exact: true }).fill(password);
      await asked.getByRole('button', { name: 'Continue' }).click();
    };
    age();
    await visitor.open(program.page);
    await approve();
    await asked.waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    // Not now: one may decide again, and no fault is reported.
    await page.keyboard.press('Escape');
    await asked.waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('alert').count(), 0);
    assert.equal(program.answers.length, 0);
    await approve();
    await Promise.all([page.waitForURL(`${program.origin}/**`), enter()]);
    const granted = await program.redeem(program.answers[0]?.get('code') ?? '');
    assert.equal(granted.scope, 'read manage');
    forgive(visitor, program);
    program.close();

    age();
    const { pathname, search } = new URL(device.verification_uri_complete);
    await visitor.open(pathname + search);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByLabel('I started this login').check();
    await approve();
    await enter();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    assert.equal((await redeemDevice(device)).scope, 'read publish');
    await visitor.close();
  });

  it('goes nowhere when it is not known who asks or where the answer would go', async () => {
    const visitor = await signedIn();
    const { page } = visitor;
    const program = await startProgram('read');
    for (const changes of [
      { redirect_uri: 'https://example.org/callback' },
      { redirect_uri: `${program.origin}/other` },
      { redirect_uri: 'javascript:alert(1)' },
      { client_id: 'another-client' },
    ]) {
      const { page: path, close } = await startProgram('read', changes);
      await visitor.open(path);
      await page.getByRole('heading', { name: 'This login link isn’t valid' }).waitFor();
      assert.equal(page.url(), stage.url + path);
      close();
    }
    assert.deepEqual(await faultsInBothColours(page), []);
    await visitor.open('/oauth/authorize');
    await page.getByRole('heading', { name: 'This login link isn’t valid' }).waitFor();
    assert.deepEqual(program.answers, []);
    program.close();
    await visitor.close();
  });

  it('hands the program what is wrong with its request', async () => {
    const program = await startProgram('read everything');
    const visitor = await signedIn();
    await visitor.page.goto(stage.url + program.page);
    await visitor.page.waitForURL(`${program.origin}/**`);
    assert.equal(program.answers[0]?.get('error'), 'invalid_scope');
    forgive(visitor, program);
    program.close();
    await visitor.close();
  });

  it('follows when one signs out in another tab', async () => {
    const program = await startProgram('read');
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.open(program.page);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${stage.url}/`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to review this login' }).waitFor();
    assert.deepEqual(program.answers, []);
    program.close();
    await visitor.close();
  });

  const askByDevice = () =>
    post<DeviceAuthorization>('/oauth/device_authorization', { scope: 'read publish', device_name: 'build-box' });

  const redeemDevice = ({ device_code }: DeviceAuthorization) =>
    token({ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code });

  it('takes a device’s code that was typed, in any form, and only once one has said that it is one’s own', async () => {
    const device = await askByDevice();
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.open(new URL(device.verification_uri).pathname);
    const field = page.getByLabel('Code from the terminal');
    const go = page.getByRole('button', { name: 'Continue' });
    assert.deepEqual(await faultsInBothColours(page), []);
    await field.fill('BCDF');
    await go.click();
    await page.getByText('A code has eight letters').waitFor();
    await field.fill(device.user_code === 'BCDF-GHJK' ? 'ZZZZ-ZZZZ' : 'BCDF-GHJK');
    await go.click();
    await page.getByText('No login is waiting for this code.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    await field.fill(` ${device.user_code.toLowerCase().replace('-', ' ')} `);
    await field.press('Enter');
    await page.getByText(device.user_code, { exact: true }).waitFor();
    await page.getByText('“build-box”').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Confirm that you started').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByLabel('I started this login').check();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.deepEqual((await me(await redeemDevice(device))).token.scopes, ['read', 'publish']);

    await page.getByRole('button', { name: 'Enter another code' }).click();
    await field.fill(device.user_code);
    await go.click();
    await page.getByText('No login is waiting for this code.').waitFor(); // a decision is final
    await visitor.close();
  });

  it('fills in a code that came with the link, and waits for the person', async () => {
    const device = await askByDevice();
    const visitor = await signedIn();
    const { page } = visitor;
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/session/device')) sent.push(request.url());
    });
    const { pathname, search } = new URL(device.verification_uri_complete);
    await visitor.open(pathname + search);
    assert.equal(await page.getByLabel('Code from the terminal').inputValue(), device.user_code);
    await page.waitForTimeout(300);
    assert.deepEqual(sent, []);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'Denied' }).waitFor();
    assert.equal(page.url(), `${stage.url}/device`);
    const body = new URLSearchParams({
      client_id: 'tenon-cli',
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.device_code,
    });
    const refused = await fetch(`${stage.url}/oauth/token`, { method: 'POST', body });
    assert.equal(((await refused.json()) as { error: string }).error, 'access_denied');
    await visitor.close();
  });
});
