import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { tenon } from '../../../test/helpers/server.ts';
import { axeFaults, noBrowser, openStageApart, type StageApart } from './helpers/stage.ts';
import { signInAgain } from './helpers/workshop.ts';

describe("links of the operator's", { skip: noBrowser }, () => {
  let stage: StageApart;
  before(async () => {
    stage = await openStageApart({ args: ['--no-demo'] });
  });
  after(() => stage.close());

  /** What `tenon admin user …` prints: a link among it. */
  async function adminLink(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [tenon, 'admin', 'user', ...args], {
      cwd: stage.server.folder,
      env: { ...process.env, TENON_DATA_DIR: join(stage.server.folder, 'tenon-data'), TENON_PUBLIC_URL: stage.url },
    });
    const [link] = /http:\S+#code=\S+/.exec(stdout) ?? [];
    assert.ok(link, stdout);
    return link;
  }

  it('set up the first owner, whose server has nothing in it, then a further account, then a new password', async () => {
    const firstLink = await stage.server.says(/http:\S+\/set-up#code=\S+(?=\s)/);
    assert.ok(firstLink.startsWith(`${stage.url}/set-up#code=`), stage.server.output());
    const owner = await stage.visitor();
    const { page } = owner;
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url() + (request.headers().referer ?? '')));

    await page.goto(firstLink);
    await page.getByRole('heading', { name: 'Set up your account' }).waitFor();
    assert.equal(page.url(), `${stage.url}/set-up`, 'the code is off the address bar');
    assert.deepEqual(await axeFaults(page), []);
    await page.reload();
    await page.getByLabel('Your name').fill('Olive Owner');
    await page.getByLabel('E-mail address').fill('olive@example.org');
    await page.getByLabel('Password', { exact: true }).fill('meadow thistle violin');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'No applications yet' }).waitFor();
    assert.deepEqual(await axeFaults(page), []);
    const code = firstLink.split('=')[1] ?? '';
    assert.ok(code.length > 20 && requested.every((url) => !url.includes(code)), 'no request carried the code');
    await page.goto(`${stage.url}/account`);
    const ownerId = (await page.locator('.copy-text code').textContent()) ?? '';

    const late = await stage.visitor();
    await late.page.goto(firstLink);
    await late.page.getByRole('heading', { name: 'This link has been used' }).waitFor();
    await late.page.goto(await adminLink('invite'));
    await late.page.getByLabel('Your name').fill('Second');
    await late.page.getByLabel('E-mail address').fill('OLIVE@example.org');
    await late.page.getByLabel('Password', { exact: true }).fill('pebble lantern waltz');
    await late.page.getByRole('button', { name: 'Create account' }).click();
    await late.page
      .getByRole('alert')
      .getByText(/account/)
      .first()
      .waitFor();
    await late.page.getByLabel('E-mail address').fill('second@example.org');
    await late.page.getByRole('button', { name: 'Create account' }).click();
    await late.page.getByRole('heading', { name: 'No applications yet' }).waitFor();
    await late.close();

    const forgetful = await stage.visitor();
    const resetLink = await adminLink('reset-password', ownerId, '--yes');
    await forgetful.page.goto(resetLink);
    await forgetful.page.getByText('olive@example.org').waitFor();
    assert.equal(forgetful.page.url(), `${stage.url}/reset-password`);
    assert.deepEqual(await axeFaults(forgetful.page), []);
    await forgetful.page.getByLabel('New password', { exact: true }).fill('copper window ballad');
    await forgetful.page
      .getByLabel('Revoke all access tokens and API keys')
      .and(forgetful.page.locator(':checked'))
      .waitFor();
    await forgetful.page.getByRole('button', { name: 'Set password and sign in' }).click();
    await forgetful.page.getByRole('heading', { name: 'No applications yet' }).waitFor();
    await page.getByRole('link', { name: 'Applications' }).click();
    await signInAgain(owner, 'copper window ballad'); // the old browser is signed out
    await forgetful.page.goto(resetLink);
    await forgetful.page.getByRole('heading', { name: 'This link has been used' }).waitFor();
  });

  it('say what to do where they are garbled or lead nowhere', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    for (const [path, heading] of [
      ['/set-up', 'This link is incomplete'],
      [`/set-up#code=${'x'.repeat(43)}`, 'This link isn’t valid'],
      ['/reset-password', 'This link is incomplete'],
      ['/sign-up', 'Sign-up is by invitation only'],
    ] as const) {
      await visitor.open(path);
      await page.getByRole('heading', { name: heading }).waitFor();
      assert.deepEqual(await axeFaults(page), [], path);
    }
    await visitor.close();
  });
});
