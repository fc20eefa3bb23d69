import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { openRealProvider, type RealProvider } from './helpers/real-provider.ts';
import { axeFaults, noBrowser, type Visitor } from './helpers/stage.ts';

describe('signing in with oidc-provider', { skip: noBrowser }, () => {
  let real: RealProvider;
  before(async () => {
    real = await openRealProvider();
  });
  after(() => real.close());

  /** The pages of the provider are no fault. */
  function forgive(visitor: Visitor): void {
    const isOfProvider = (fault: string) => fault.includes(real.issuer) || fault.includes('a request to another host');
    visitor.faults.splice(0, visitor.faults.length, ...visitor.faults.filter((fault) => !isOfProvider(fault)));
  }

  async function enterAtProvider(page: Page, name: string): Promise<void> {
    await page.getByPlaceholder('Enter any login').fill(name);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
  }

  async function signIn(visitor: Visitor, name: string): Promise<void> {
    const { page } = visitor;
    await page.getByRole('button', { name: 'Continue with Acme' }).click();
    await enterAtProvider(page, name);
    await page.getByRole('button', { name: 'Continue' }).click(); // the consent
    await page.getByRole('button', { name: 'Sign out' }).first().waitFor();
    forgive(visitor);
  }

  it('returns to the page that asked for it, as a new user', async () => {
    const visitor = await real.stage.visitor();
    const { page } = visitor;
    await visitor.open('/account?from=a-link');
    await page.getByRole('button', { name: 'Continue with Acme' }).waitFor();
    assert.deepEqual(await axeFaults(page), []);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/sign-in.png` });
    await signIn(visitor, 'grace');
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    assert.equal(page.url(), `${real.stage.url}/account?from=a-link`);
    await page.getByRole('cell', { name: 'grace@acme.example' }).waitFor();
    assert.deepEqual(await axeFaults(page), []);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/account.png`, fullPage: true });
    await visitor.close();
  });

  it('confirms a sensitive action in another window, and repeats it', async () => {
    const visitor = await real.stage.visitor();
    const { page } = visitor;
    await visitor.open('/account/tokens');
    await signIn(visitor, 'katherine');
    await page.getByRole('button', { name: 'New access token' }).click();
    await page.getByLabel('Name').fill('laptop');
    await page.getByRole('button', { name: 'Create token' }).click();
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Confirm with Acme' }).click();
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/confirm.png` });
    const popup = await opened;
    await enterAtProvider(popup, 'katherine');
    await page.getByText(/tnn_/).first().waitFor();
    forgive(visitor);
    await visitor.close();
  });

  it('shows no password field to an account without a password', async () => {
    const visitor = await real.stage.visitor();
    const { page } = visitor;
    await visitor.open('/account');
    await signIn(visitor, 'radia');
    const passwords = page.getByLabel(/password/i);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    assert.equal(await passwords.count(), 0);

    await page.getByRole('button', { name: 'Change e-mail address' }).click();
    await page.getByLabel('New e-mail address').fill('perlman@example.org');
    await page.getByRole('button', { name: 'Change address' }).click();
    const confirmation = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await confirmation.getByRole('button', { name: 'Confirm with Acme' }).waitFor();
    assert.equal(await passwords.count(), 0);
    assert.deepEqual(await axeFaults(page), []);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/confirm-without-password.png` });
    await confirmation.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('button', { name: 'Delete my account' }).click();
    const deletion = page.getByRole('dialog');
    await deletion.getByLabel('Type').fill('radia@acme.example');
    assert.equal(await passwords.count(), 0);
    await deletion.getByRole('button', { name: 'Delete my account' }).click();
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Confirm with Acme' }).click();
    await enterAtProvider(await opened, 'radia');
    await page.getByRole('button', { name: 'Continue with Acme' }).waitFor();
    forgive(visitor);
    await visitor.close();
  });

  it('asks an account without a password to sign in again at the provider', async () => {
    const visitor = await real.stage.visitor();
    const { page } = visitor;
    await visitor.open('/account');
    await signIn(visitor, 'hedy');
    await page.getByRole('cell', { name: 'hedy@acme.example' }).waitFor();
    await page.getByRole('button', { name: 'Add a passkey' }).waitFor();
    await page.context().clearCookies({ name: /session/ });
    await page.getByRole('button', { name: 'Delete my account' }).click(); // the dialog asks for the passkeys
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.getByRole('button', { name: 'Continue with Acme' }).waitFor();
    assert.equal(await page.getByLabel(/password/i).count(), 0);
    assert.deepEqual(await axeFaults(page), []);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/again-without-password.png` });
    forgive(visitor);
    await visitor.close();
  });

  it('says that another user confirmed', async () => {
    const visitor = await real.stage.visitor();
    const { page } = visitor;
    await visitor.open('/account/tokens');
    await signIn(visitor, 'dorothy');
    await page.getByRole('button', { name: 'New access token' }).click();
    await page.getByLabel('Name').fill('laptop');
    await page.getByRole('button', { name: 'Create token' }).click();
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Confirm with Acme' }).click();
    const popup = await opened;
    await enterAtProvider(popup, 'mallory');
    const consent = popup.getByRole('button', { name: 'Continue' });
    await consent.click().catch(() => undefined);
    await page.getByText('as another user than the one of your account').waitFor();
    forgive(visitor);
    await visitor.close();
  });

  it('explains a cancelled sign-in', async () => {
    const visitor = await real.stage.visitor();
    const { page } = visitor;
    await visitor.open('/');
    await page.getByRole('button', { name: 'Continue with Acme' }).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByText('You cancelled at Acme.').waitFor();
    assert.deepEqual(await axeFaults(page), []);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/cancelled.png` });
    forgive(visitor);
    await visitor.close();
  });

  it('signs out at the provider too', async () => {
    const visitor = await real.stage.visitor();
    const { page } = visitor;
    await visitor.open('/');
    await signIn(visitor, 'ada');
    await page.getByRole('button', { name: 'Sign out' }).first().click();
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.getByRole('button', { name: 'Continue with Acme' }).waitFor();
    await page.getByRole('button', { name: 'Continue with Acme' }).click();
    await page.getByPlaceholder('Enter any login').waitFor(); // the provider has forgotten the user
    forgive(visitor);
    await visitor.close();
  });
});
