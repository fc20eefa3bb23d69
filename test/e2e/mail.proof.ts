import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { axeFaults, noBrowser, openStage, type Stage } from '../../packages/console/test/helpers/stage.ts';
import {
  openMailServer,
  type ReceivedMail,
  type TestMailServer,
} from '../../packages/server/test/helpers/mail-server.ts';
import { until } from '../helpers/until.ts';

describe('mails and the pages around them', { skip: noBrowser }, () => {
  let mailServer: TestMailServer;
  let stage: Stage;

  before(async () => {
    mailServer = await openMailServer();
    const settings = { TENON_SMTP_URL: `smtp://localhost:${mailServer.port}?from=tenon@example.com` };
    stage = await openStage({ settings });
  });

  after(async () => {
    await stage?.close();
    await mailServer?.close();
  });

  /** Waits for a mail, and returns it with its first link. */
  async function mailTo(
    recipient: string,
    subject: RegExp,
  ): Promise<{ readonly mail: ReceivedMail; readonly link: string }> {
    const find = () =>
      mailServer.mails.find((mail) => mail.recipient === recipient && subject.test(mail.subject ?? ''));
    await until(() => find() !== undefined);
    const mail = find();
    assert.ok(mail);
    return { mail, link: /http:\S+/.exec(mail.text ?? '')?.[0] ?? '' };
  }

  it('invites by mail, verifies by the sign-up, turns a notice off, and resets a forgotten password', async () => {
    const { TENON_EMAIL = '', TENON_PASSWORD = '', TENON_APP_ID = '' } = stage.server.quickstart;
    const owner = await stage.visitor();
    await owner.open('/');
    await owner.signIn(TENON_EMAIL, TENON_PASSWORD);
    await owner.open(`/apps/${TENON_APP_ID}/guests`);
    await owner.page.getByRole('button', { name: 'Invite a guest' }).first().click();
    await owner.page.getByLabel('Guest key').fill('mailed/1');
    await owner.page.getByLabel('Send the link by e-mail').check();
    await owner.page.getByLabel('E-mail address').fill('grace@example.org');
    assert.deepEqual(await axeFaults(owner.page), []);
    await owner.page.getByRole('button', { name: 'Send invitation' }).click();
    await owner.page.getByText('The invitation to grace@example.org is on its way.').waitFor();

    const grace = await stage.visitor();
    const { page } = grace;
    await page.goto((await mailTo('grace@example.org', /^Invitation to/)).link);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByLabel('Your name').fill('Grace');
    await page.getByLabel('E-mail address').fill('grace@example.org');
    await page.getByLabel('Password', { exact: true }).fill('meadow thistle violin');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: /^Accept/ }).click();
    await page.getByRole('button', { name: /^Accept/ }).waitFor({ state: 'detached' });
    await grace.open('/account');
    await page.getByRole('heading', { name: 'Mail', exact: true }).waitFor();
    assert.deepEqual(await axeFaults(page), []);
    const notice = page.getByLabel('A sign-in in a new browser');
    await notice.uncheck();
    await page.reload();
    await until(async () => !(await notice.isChecked()));

    const forgetful = await stage.visitor();
    await forgetful.open('/sign-in');
    await forgetful.page.getByRole('button', { name: 'Forgot your password?' }).click();
    await forgetful.page.getByLabel('E-mail address').fill('grace@example.org');
    assert.deepEqual(await axeFaults(forgetful.page), []);
    await forgetful.page.getByRole('button', { name: 'Send the link' }).click();
    await forgetful.page.getByRole('heading', { name: 'Check your mail' }).waitFor();
    await forgetful.page.goto((await mailTo('grace@example.org', /^Reset/)).link);
    await forgetful.page.getByLabel('New password').fill('pebble lantern waltz');
    await forgetful.page.getByRole('button', { name: 'Set password and sign in' }).click();
    await forgetful.page.getByText('Password changed.').waitFor();
    assert.ok(mailServer.mails.every(({ subject }) => subject !== 'New sign-in to your account'));
  });

  it('verifies an address with the button of a page without scripts', async () => {
    const { TENON_EMAIL = '', TENON_PASSWORD = '' } = stage.server.quickstart;
    const visitor = await stage.visitor();
    await visitor.open('/account');
    await visitor.signIn(TENON_EMAIL, TENON_PASSWORD);
    await visitor.page.getByRole('button', { name: 'Send the link again' }).click();
    const { link } = await mailTo(TENON_EMAIL, /^Verify/);
    await visitor.page.goto(link);
    assert.deepEqual(await axeFaults(visitor.page), []);
    await visitor.page.getByRole('button', { name: 'Verify' }).click();
    await visitor.page.getByText(`${TENON_EMAIL} is verified.`).waitFor();
    await visitor.open('/account');
    await visitor.page.getByLabel('A team blocked or yanked your plugin').waitFor();
  });

  it('changes an e-mail address with the link that the new address gets', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    const { TENON_EMAIL = '', TENON_PASSWORD = '' } = stage.server.quickstart;
    await visitor.open('/account');
    await visitor.signIn(TENON_EMAIL, TENON_PASSWORD);
    await page.getByRole('button', { name: 'Change e-mail address' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change your e-mail address' });
    await dialog.getByLabel('New e-mail address').fill('lovelace@example.org');
    await dialog.getByRole('button', { name: 'Send the link' }).click();
    await page.getByRole('status').getByText('Open the link in the mail to lovelace@example.org.').waitFor();
    await page.getByText(`You sign in as ${TENON_EMAIL}.`).waitFor();

    await mailTo(TENON_EMAIL, /^Another e-mail address was requested/);
    const { link } = await mailTo('lovelace@example.org', /^Confirm your new/);
    await page.goto(link);
    assert.deepEqual(await axeFaults(page), []);
    await page.getByRole('button', { name: 'Use the address' }).click();
    await page.getByText('Your account uses lovelace@example.org.').waitFor();
    await visitor.open('/account');
    await page.getByText('You sign in as lovelace@example.org.').waitFor();
    await page.getByText('Mails to lovelace@example.org.').waitFor();
    await mailTo(TENON_EMAIL, /was changed$/);
    await visitor.close();
  });
});
