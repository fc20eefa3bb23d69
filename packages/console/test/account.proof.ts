import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { axeFaults, noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { signInAgain } from './helpers/workshop.ts';

const password = 'lantern otter sandwich';

describe('the account page', { skip: noBrowser }, () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage({ settings: { TENON_SIGN_UP: 'open' } });
  });
  after(() => stage.close());

  /** A new user, on the account page. */
  async function newcomer(name: string): Promise<Visitor & { readonly email: string }> {
    const visitor = await stage.visitor();
    const { page } = visitor;
    const email = `${name.toLowerCase()}@example.org`;
    await visitor.open('/account');
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('Your name').fill(name);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Create account' }).click();
    // Back to where one was going when the form stood in the way.
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    assert.equal(page.url(), `${stage.url}/account`);
    return { ...visitor, email };
  }

  const toast = (visitor: Visitor, text: RegExp) => visitor.page.getByRole('status').getByText(text).waitFor();

  it('changes the name, and hands out the user id', async () => {
    const visitor = await newcomer('Ada');
    const { page } = visitor;
    await page.getByLabel('Your name').fill('Ada <b>Lovelace</b>');
    await page.getByRole('button', { name: 'Change name' }).click();
    await toast(visitor, /Name changed/);
    await page.getByRole('navigation', { name: 'Main' }).getByText('Ada <b>Lovelace</b>').waitFor();

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy your user id' }).click();
    await toast(visitor, /Copied your user id/);
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^usr_[0-9a-z]{26}$/);
    assert.deepEqual(await axeFaults(page), []);
    await visitor.close();
  });

  it('changes the e-mail address at once on a server without mail, and says if it is taken', async () => {
    const taken = await newcomer('Mary');
    const visitor = await newcomer('Alan');
    const { page } = visitor;
    await page.getByRole('button', { name: 'Change e-mail address' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change your e-mail address' });
    assert.deepEqual(await axeFaults(page), []);
    await dialog.getByLabel('New e-mail address').fill(taken.email);
    await dialog.getByRole('button', { name: 'Change address' }).click();
    await dialog.getByText('This e-mail address already has an account.').waitFor();
    await dialog.getByLabel('New e-mail address').fill('Alan.Turing@example.org');
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/email.png` });
    await dialog.getByRole('button', { name: 'Change address' }).click();
    await toast(visitor, /E-mail address changed/);
    await page.getByText('You sign in as alan.turing@example.org.').waitFor();
    const again = await stage.visitor();
    await again.open('/');
    await again.signIn('alan.turing@example.org', password);
    await Promise.all([visitor.close(), again.close(), taken.close()]);
  });

  it('says at the field what is wrong with a new password, then changes it, which signs out elsewhere', async () => {
    const visitor = await newcomer('Grace');
    const { page, email } = visitor;
    const elsewhere = await stage.visitor();
    await elsewhere.open('/');
    await elsewhere.signIn(email, password);

    await page.getByLabel('Current password', { exact: true }).fill(password);
    await page.getByLabel('New password', { exact: true }).fill('password12');
    await page.getByRole('button', { name: 'Change password' }).click();
    const field = page.getByLabel('New password', { exact: true });
    await page.locator('.field-error').waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.equal(await field.evaluate((element) => element === document.activeElement), true, 'it has the focus');
    assert.deepEqual(await axeFaults(page), []);

    await field.fill('harbour violet trombone');
    await page.getByRole('button', { name: 'Change password' }).click();
    await toast(visitor, /Password changed/);
    await elsewhere.page.getByRole('link', { name: /your account/ }).click();
    await signInAgain(elsewhere, 'harbour violet trombone');
    await elsewhere.page.getByRole('link', { name: 'Manage sessions' }).click();
    await elsewhere.page.getByRole('heading', { name: 'Sessions, tokens and API keys' }).waitFor();
    await Promise.all([visitor.close(), elsewhere.close()]);
  });

  it('shows where the user is signed in, and ends the others', async () => {
    const visitor = await newcomer('Edsger');
    const { page, email } = visitor;
    const others = [await stage.visitor(), await stage.visitor(), await stage.visitor()];
    for (const other of others) {
      await other.open('/');
      await other.signIn(email, password);
    }
    await page.getByRole('link', { name: 'Manage sessions' }).click();
    const rows = page.getByRole('row').filter({ hasText: '127.0.0.1' });
    await rows.nth(3).waitFor();
    assert.equal(await rows.count(), 4);
    assert.match((await rows.first().textContent()) ?? '', /this one/);
    await rows.nth(1).getByRole('button', { name: 'Sign out' }).click();
    await toast(visitor, /Browser signed out/);
    await rows.nth(3).waitFor({ state: 'detached' });
    assert.equal(await rows.count(), 3);

    await page.getByRole('button', { name: 'Sign out all others' }).click();
    assert.deepEqual(await axeFaults(page), []);
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out others' }).click();
    await toast(visitor, /All other browsers signed out/);
    await rows.nth(1).waitFor({ state: 'detached' });
    assert.equal(await rows.count(), 1);
    for (const other of others) {
      await other.open('/account');
      await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await other.close();
    }
    await visitor.close();
  });

  it('ends all other sessions, tokens and keys with one click, and then also the session itself', async () => {
    const visitor = await newcomer('Radia');
    const { page, email } = visitor;
    const other = await stage.visitor();
    await other.open('/');
    await other.signIn(email, password);
    await page.getByRole('link', { name: 'Manage sessions' }).click();
    for (const [button, create] of [
      ['New access token', 'Create token'],
      ['New API key', 'Create key'],
    ] as const) {
      await page.getByRole('button', { name: button }).click();
      await page.getByLabel('Name').fill(`for ${create}`);
      await page.getByRole('button', { name: create }).click();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Close without copying' }).click();
      await page.getByRole('row', { name: `for ${create}` }).waitFor();
    }
    const endAll = async (choice: string): Promise<void> => {
      await page.getByRole('button', { name: 'End all…' }).click();
      const dialog = page.getByRole('dialog', { name: /End all/ });
      assert.equal(await dialog.getByRole('radio', { name: 'All others' }).isChecked(), true);
      assert.deepEqual(await axeFaults(page), []);
      await dialog.getByRole('radio', { name: choice }).check();
      await dialog.getByRole('button', { name: 'End all' }).click();
    };
    await endAll('All others');
    await toast(visitor, /Ended 1 session, 1 access token and 1 API key/);
    await page.getByText('No access tokens').waitFor();
    await page.getByText('No API keys').waitFor();
    assert.equal(await page.getByRole('row').filter({ hasText: 'this one' }).count(), 1);
    await other.open('/account');
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();

    await endAll('Everything, also here');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await visitor.open('/account');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await Promise.all([visitor.close(), other.close()]);
  });

  it('deletes the account once its address is typed and its password right', async () => {
    const visitor = await newcomer('Barbara');
    const { page, email } = visitor;
    await page.getByRole('button', { name: 'Delete my account' }).click();
    const dialog = page.getByRole('dialog');
    const go = dialog.getByRole('button', { name: 'Delete my account' });
    assert.deepEqual(await axeFaults(page), []);
    await dialog.getByLabel('Password', { exact: true }).fill('not the password');
    assert.equal(await go.isDisabled(), true);
    await dialog.getByLabel('Type').fill(email);
    await go.click();
    await dialog
      .getByText(/password/i)
      .last()
      .waitFor();
    await dialog.locator('.field-error, [role=alert]').waitFor();

    await dialog.getByLabel('Password', { exact: true }).fill(password);
    await go.click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByRole('alert')
      .getByText(/Incorrect e-mail or password/)
      .waitFor();
    await visitor.close();
  });
});
