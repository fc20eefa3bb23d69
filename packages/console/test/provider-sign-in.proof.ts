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
