import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import {
  accept,
  emailOf,
  faultsInBothColours,
  openWorkshop,
  password,
  signUpThrough,
  type Workshop,
} from './helpers/workshop.ts';

describe('the users of the server', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let operator: Visitor;
  before(async () => {
    stage = await openStage();
    workshop = await openWorkshop(stage, 'Acme');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: secret = '' } = stage.server.quickstart;
    operator = await stage.visitor();
    await operator.open('/users');
    await operator.signIn(email, secret);
  });
  after(() => stage.close());

  async function signUp(name: string): Promise<Visitor> {
    const visitor = await stage.visitor();
    await signUpThrough(visitor, await workshop.invite(`of/${name}`), name);
    await accept(visitor);
    return visitor;
  }

  async function openUser(name: string): Promise<void> {
    await operator.open('/users');
    await operator.page.getByRole('link', { name, exact: true }).click();
    await operator.page.getByRole('heading', { name, level: 1 }).waitFor();
  }

  async function confirm(button: RegExp, action: string): Promise<void> {
    await operator.page.getByRole('button', { name: button }).click();
    await operator.page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click();
    await operator.page.getByRole('dialog').waitFor({ state: 'detached' });
  }

  it('are listed, searched, filtered and sorted, and the address keeps the place', async () => {
    const { page } = operator;
    for (let number = 0; number < 8; number++) {
      await workshop.call('POST', '/api/v1/apps', { name: `App ${number}` });
    }
    const visitors = [];
    for (const name of ['Ada Lovelace', 'Grace Hopper']) visitors.push(await signUp(name));
    await operator.open('/users');
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor();
    assert.equal(await page.title(), 'Users · Tenon');
    assert.equal(await page.getByRole('row').filter({ hasText: 'operator' }).count(), 1);
    assert.deepEqual(await faultsInBothColours(page), []);
    await operator.open('/users?q=LOVELACE&sort=name');
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Grace Hopper' }).count(), 0);
    await page.getByLabel('All users').selectOption('Operators');
    await page.getByText('No matches for “LOVELACE”').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
    for (const visitor of visitors) await visitor.close();
  });

  it('are suspended: the sessions end, and a sign-in is refused until the suspension ends', async () => {
    const { page } = operator;
    const barbara = await signUp('Barbara Liskov');
    await openUser('Barbara Liskov');
    await page.getByText('1 session, 0 access tokens, 0 API keys').waitFor();
    await page.getByRole('row', { name: /Acme\s+guest/ }).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await confirm(/^Suspend user/, 'Suspend user');
    await page.getByText('Barbara Liskov is suspended.').waitFor();
    await page.getByText('A suspended user can’t use a password link.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    await barbara.open('/');
    await barbara.page.getByLabel('E-mail address').fill(emailOf('Barbara Liskov'));
    await barbara.page.getByLabel('Password', { exact: true }).fill(password);
    await barbara.page.getByRole('button', { name: 'Sign in' }).click();
    await barbara.page.getByText('The account is suspended').first().waitFor();

    await confirm(/^End the suspension/, 'End the suspension');
    await page.getByText('Barbara Liskov is no longer suspended.').waitFor();
    await barbara.page.getByRole('button', { name: 'Sign in' }).click();
    await barbara.page.getByRole('heading', { name: 'Applications you extend' }).waitFor();
    await barbara.close();
  });

  it('get a link that sets a password, and become operators', async () => {
    const { page } = operator;
    const radia = await signUp('Radia Perlman');
    await radia.open('/users');
    await radia.page.getByText('Only operators can see this page').waitFor();
    assert.equal(await radia.page.getByRole('link', { name: 'Users' }).count(), 0);
    assert.deepEqual(await faultsInBothColours(radia.page), []);
    await openUser('Radia Perlman');
    await page.getByRole('button', { name: /^Create a password link/ }).click();
    await page.getByRole('button', { name: 'Create the link' }).click();
    const link = await page.locator('.secret code').innerText();
    assert.ok(link.startsWith(`${stage.url}/reset-password#code=`), link);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Close without copying' }).click();
    await confirm(/^Make operator/, 'Make operator');
    await page.getByText('Radia Perlman is an operator now.').waitFor();

    await radia.page.goto(link);
    await radia.page.getByLabel('New password', { exact: true }).fill('copper window ballad');
    await radia.page.getByRole('button', { name: 'Set password and sign in' }).click();
    await radia.page.getByRole('link', { name: 'Users' }).click();
    await radia.page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    await radia.close();
  });

  it('ask for the password again when it was entered long ago, and are deleted by name', async () => {
    const { page } = operator;
    const gone = await signUp('Gone Soon');
    await openUser('Gone Soon');
    let refusals = 0;
    await page.route(/\/api\/v1\/users\/usr_\w+$/, async (route) => {
      if (route.request().method() !== 'DELETE' || refusals++ > 0) return route.fallback();
      return route.fulfill({ status: 403, contentType: 'application/problem+json', body: passwordRequired });
    });
    await page.getByRole('button', { name: /^Delete user/ }).click();
    await page.getByLabel('Type “Gone Soon” to confirm').fill('Gone Soon');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete user' }).click();
    const dialog = page.getByRole('dialog').last();
    await dialog.getByLabel('Password', { exact: true }).fill(stage.server.quickstart.TENON_PASSWORD ?? '');
    await page.keyboard.press('Enter');
    await page.getByText('User deleted.').waitFor();
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Gone Soon' }).waitFor({ state: 'detached' });
    await gone.close();
  });

  it('are not the operator’s own account to suspend, and may not exist', async () => {
    const { page } = operator;
    await page.getByRole('row').filter({ hasText: 'you' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /Suspend|Delete|Revoke/ }).count(), 0);
    await operator.open('/users/usr_none');
    await page.getByRole('heading', { name: 'User not found' }).waitFor();
  });
});

const passwordRequired = JSON.stringify({
  type: 'http://localhost/reference/errors#step_up_required',
  title: 'Password confirmation required',
  status: 403,
  detail: 'Enter your password again.',
  code: 'step_up_required',
});
