import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { noBrowser, openStageApart, type StageApart, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { openWorkshop, type Workshop } from '../../packages/console/test/helpers/workshop.ts';
import { askByDevice, type Program, postForm, startProgram } from './helpers/oauth.ts';
import { createAccount } from './helpers/pages.ts';

const deviceCode = 'urn:ietf:params:oauth:grant-type:device_code';

describe('codes in other hands', { skip: noBrowser }, () => {
  let stage: StageApart;
  let workshop: Workshop;
  let owner: Visitor;
  before(async () => {
    stage = await openStageApart({ settings: { TENON_RATES: 'code-tries-per-minute=40' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    owner = await stage.visitor();
    await owner.open('/');
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const token = (form: Readonly<Record<string, string>>) => postForm(`${stage.url}/oauth/token`, form);
  const statusWith = async (accessToken: string): Promise<number> =>
    (await fetch(`${stage.url}/api/v1/me`, { headers: { authorization: `Bearer ${accessToken}` } })).status;

  /** Has the owner approve. @returns the code that the program gets */
  async function approved(program: Program): Promise<string> {
    await owner.open(program.page());
    await Promise.all([
      owner.page.waitForURL(`${program.redirectUri}?*`),
      owner.page.getByRole('button', { name: 'Approve' }).click(),
    ]);
    owner.faults.splice(0, Infinity, ...owner.faults.filter((fault) => !fault.includes(program.redirectUri)));
    return program.answers.at(-1)?.get('code') ?? '';
  }

  it('of a login serve the program that asked, once; a second use ends what the first one got', async () => {
    const program = await startProgram();
    const redeem = {
      grant_type: 'authorization_code',
      redirect_uri: program.redirectUri,
      code_verifier: program.verifier,
    };
    const first = await approved(program);
    for (const wrong of [
      { code_verifier: randomBytes(32).toString('base64url') },
      { redirect_uri: program.redirectUri.replace('127.0.0.1', '[::1]') },
      { client_id: 'another-client' },
      { code: randomBytes(32).toString('base64url') },
    ]) {
      const { status, json } = await token({ ...redeem, code: first, ...wrong });
      assert.deepEqual([status >= 400, 'access_token' in json], [true, false], JSON.stringify(wrong));
    }
    const second = await approved(program);
    const { json } = await token({ ...redeem, code: second });
    assert.equal(await statusWith(json.access_token ?? ''), 200);
    assert.equal((await token({ ...redeem, code: second })).json.error, 'invalid_grant');
    assert.equal(await statusWith(json.access_token ?? ''), 401, 'the code was stolen: what it gave is void');
    assert.ok(!stage.server.output().includes(second));
    program.close();
  });

  it('of a device give one token, to who holds the long one', async () => {
    const device = await askByDevice(stage.url);
    await owner.open(`/device?user_code=${device.user_code}`);
    await owner.page.getByRole('button', { name: 'Continue' }).click();
    await owner.page.getByLabel('I started this login').check();
    await owner.page.getByRole('button', { name: 'Approve' }).click();
    await owner.page.getByRole('heading', { name: 'Approved' }).waitFor();
    for (const guess of [device.user_code, randomBytes(32).toString('base64url')]) {
      assert.equal((await token({ grant_type: deviceCode, device_code: guess })).json.error, 'invalid_grant');
    }
    const { json } = await token({ grant_type: deviceCode, device_code: device.device_code });
    assert.equal(await statusWith(json.access_token ?? ''), 200);
    const again = await token({ grant_type: deviceCode, device_code: device.device_code });
    assert.ok(!('access_token' in again.json), JSON.stringify(again));
    // Its user code decides nothing any more, typed or linked.
    await owner.open(`/device?user_code=${device.user_code}`);
    await owner.page.getByRole('button', { name: 'Continue' }).click();
    await owner.page.getByText('No login is waiting for this code.').waitFor();
  });

  it('of an invitation let one person in, and no later person with the same link', async () => {
    const link = await workshop.invite('customers/globex');
    const guest = await stage.visitor();
    await guest.page.goto(link);
    await guest.page.getByRole('button', { name: 'Create account' }).click();
    await createAccount(guest.page, 'Gustav Guest');
    await guest.page.getByRole('button', { name: 'Accept' }).click();
    await guest.page.getByRole('heading', { name: 'You are a guest of' }).waitFor();
    const thief = await stage.visitor();
    await thief.page.goto(link);
    await thief.page.getByRole('heading', { name: 'This invitation has been used' }).waitFor();
    // Nor does it open an account, if one asks the server itself.
    const refused = await fetch(`${stage.url}/session/sign-up`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: new URL(stage.url).origin },
      body: JSON.stringify({
        name: 'Thief',
        email: 'thief@example.org',
        password: 'nine brass moths in relay 70',
        invitationCode: new URL(link).searchParams.get('code'),
      }),
    });
    assert.deepEqual([refused.status, ((await refused.json()) as { code: string }).code], [410, 'invitation_used']);
    await Promise.all([guest.close(), thief.close()]);
  });

  it('leave no trace: not in the history, not in the referrer, not in the log', async () => {
    const link = await workshop.invite('customers/initech');
    const code = new URL(link).searchParams.get('code') ?? '';
    const visitor = await stage.visitor();
    const { page } = visitor;
    const reported: string[] = [];
    page.on('request', (request) => {
      if (request.url() !== link) reported.push(request.url(), JSON.stringify(request.headers()));
    });
    await visitor.open('/sign-in');
    await page.goto(link);
    await page.getByRole('heading', { name: /invites you/ }).waitFor();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Password', { exact: true }).waitFor();
    const devTools = await page.context().newCDPSession(page);
    const { entries } = await devTools.send('Page.getNavigationHistory');
    assert.ok(entries.length >= 2);
    assert.deepEqual(
      entries.map(({ url }) => url).filter((url) => url.includes(code)),
      [],
    );
    assert.ok(
      reported.length > 5 && reported.every((text) => !text.includes(code)),
      'no address and no referer has it',
    );
    assert.ok(!stage.server.output().includes(code));
    await visitor.close();
  });

  it('are not found by trying: guesses end in a wait', async () => {
    const statuses = { userCode: new Set<number>(), invitation: new Set<number>(), link: new Set<number>() };
    const cookie = (await owner.page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
    const post = async (path: string, body: unknown, extra: Readonly<Record<string, string>> = {}): Promise<number> => {
      const headers = { 'content-type': 'application/json', origin: new URL(stage.url).origin, ...extra };
      const response = await fetch(stage.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      assert.equal(response.status === 429, response.headers.has('retry-after'));
      return response.status;
    };
    for (let guess = 0; guess < 60; guess++) {
      const letters = [...randomBytes(8)].map((byte) => 'BCDFGHJKLMNPQRSTVWXZ'[byte % 20]).join('');
      statuses.userCode.add(await post('/session/device/view', { userCode: letters }, { cookie }));
      statuses.invitation.add(
        await post('/api/v1/invitations/preview', { code: randomBytes(32).toString('base64url') }),
      );
      statuses.link.add(await post('/session/link', { code: randomBytes(32).toString('base64url') }));
    }
    for (const seen of Object.values(statuses)) assert.deepEqual([...seen], [404, 429]);
  });
});
