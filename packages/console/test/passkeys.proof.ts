import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { axeFaults, noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';

/**
 * Adds an authenticator to a browser, which verifies its user and stores discoverable credentials. It answers every request at once, also
 * one that waits in a field: so fields offer passkeys only while the storage says so.
 */
async function addAuthenticator(page: Page): Promise<void> {
  await page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => sessionStorage.getItem('autofill') === 'on';
  });
  const client = await page.context().newCDPSession(page);
  await client.send('WebAuthn.enable');
  await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

describe('passkeys in the console', { skip: noBrowser }, () => {
  let stage: Stage;
  let visitor: Visitor;
  let email: string;
  let password: string;
  let codes: string[];
  before(async () => {
    stage = await openStage();
    ({ TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart);
    visitor = await stage.visitor();
    await addAuthenticator(visitor.page);
  });
  after(() => stage.close());

  const signOut = async ({ page }: Visitor): Promise<void> => {
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  };

  it('adds one, and shows the recovery codes once', async () => {
    const { page } = visitor;
    await visitor.open('/account');
    await visitor.signIn(email, password);
    await page.getByText('You have no passkey.').waitFor();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).last().fill('Laptop');
    assert.deepEqual(await axeFaults(page), []);
    await page.getByRole('button', { name: 'Continue' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save your recovery codes' });
    await dialog.waitFor();
    assert.deepEqual(await axeFaults(page), []);
    codes = await dialog.getByRole('listitem').allTextContents();
    assert.equal(codes.length, 10);
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download' }).click();
    assert.equal((await download).suggestedFilename(), 'tenon-recovery-codes.txt');
    await dialog.getByRole('button', { name: 'I saved them' }).click();
    await page.getByRole('cell', { name: 'Laptop' }).waitFor();
    await page.getByText('10 of your recovery codes are unused.').waitFor();
    assert.deepEqual(await axeFaults(page), []);
  });

  it('signs in without an e-mail address', async () => {
    const { page } = visitor;
    await signOut(visitor);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
  });

  it('signs in from the field of the e-mail address', async () => {
    const { page } = visitor;
    await page.evaluate(() => sessionStorage.setItem('autofill', 'on'));
    const signedIn = page.waitForResponse((response) => response.url().endsWith('/session/passkey'));
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
    assert.equal((await signedIn).status(), 200);
    await page.evaluate(() => sessionStorage.removeItem('autofill'));
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
  });

  it('is needed after the password', async () => {
    const { page } = visitor;
    await signOut(visitor);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Use your passkey' }).waitFor();
    assert.deepEqual(await axeFaults(page), []);
    await page.getByRole('button', { name: 'Use your passkey' }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
  });

  it('is replaced by a recovery code where it is missing', async () => {
    const other = await stage.visitor();
    const { page } = other;
    await other.open('/account');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    assert.deepEqual(await axeFaults(page), []);
    await page.getByLabel('Recovery code').fill('wrong');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Recovery code').fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await page.getByText('9 of your recovery codes are unused.').waitFor();
    await other.close();
  });

  it('is required of the members of an application', async () => {
    const { page } = visitor;
    const appId = stage.server.quickstart.TENON_APP_ID ?? '';
    await visitor.open(`/apps/${appId}/settings`);
    await page.getByRole('button', { name: 'Require passkeys' }).click();
    await page.getByRole('button', { name: 'Stop requiring passkeys' }).waitFor();
    assert.deepEqual(await axeFaults(page), []);
    const other = await stage.visitor();
    await other.open(`/apps/${appId}`);
    await other.page.getByLabel('E-mail address').fill(email);
    await other.page.getByLabel('Password', { exact: true }).fill(password);
    await other.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.page.getByRole('button', { name: 'Use a recovery code' }).click();
    await other.page.getByLabel('Recovery code').fill(codes[1] ?? '');
    await other.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.page.getByText('The application requires passkeys of its members.').first().waitFor();
    await other.close();
    await page.getByRole('button', { name: 'Stop requiring passkeys' }).click();
    await page.getByRole('button', { name: 'Require passkeys', exact: true }).waitFor();
  });

  it('confirms what needs step-up', async () => {
    const { page } = visitor;
    const database = new DatabaseSync(join(stage.server.folder, 'tenon-data', 'tenon.db'));
    database.exec('update sessions set confirmedAtMs = confirmedAtMs - 3600000');
    database.exec('insert into commits (invalidated) values (null)'); // has the server forget what it knows
    database.close();
    await visitor.open('/account');
    await page.getByRole('button', { name: 'Rename Laptop' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).last().fill('Old laptop');
    await page.getByRole('button', { name: 'Rename', exact: true }).last().click();
    const asked = page.getByRole('dialog', { name: 'Confirm with your passkey' });
    await asked.waitFor();
    assert.deepEqual(await axeFaults(page), []);
    await asked.getByRole('button', { name: 'Use your passkey' }).click();
    await page.getByRole('cell', { name: 'Old laptop' }).waitFor();
  });

  it('says why it was not used', async () => {
    const other = await stage.visitor();
    await addAuthenticator(other.page);
    await other.open('/sign-in');
    await other.page.getByRole('button', { name: 'Use a passkey' }).click();
    await other.page.getByText('No passkey was used').waitFor();
    assert.deepEqual(await axeFaults(other.page), []);
    await other.close();
  });
});
