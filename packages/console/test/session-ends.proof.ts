import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Guest } from '@tenon/protocol';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import {
  accept,
  emailOf,
  endSessions,
  faultsInBothColours,
  openWorkshop,
  password as passwordOfGuests,
  signInAgain,
  signUpThrough,
  type Workshop,
} from './helpers/workshop.ts';

describe('a session that ends while the user is writing', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let email: string;
  let password: string;
  before(async () => {
    stage = await openStage();
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    ({ TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart);
    owner = await stage.visitor();
    await owner.open('/');
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const guests = async (): Promise<string[]> => {
    const { objects } = await workshop.call<{ objects: Guest[] }>('GET', `/api/v1/apps/${workshop.app.id}/guests`);
    return objects.map(({ guestKey }) => guestKey);
  };

  /** Opens the dialog to invite a guest, and ends the session when it is filled in. */
  async function fillIn(guestKey: string): Promise<void> {
    const { page } = owner;
    await owner.open(`/apps/${workshop.app.id}/guests`);
    await page.getByRole('button', { name: 'Invite a guest' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Invite a guest' });
    await dialog.getByLabel('Guest key').fill(guestKey);
    await endSessions(workshop);
    // Not `click()`: the page may hear of the end first, and then the dialog to sign in covers the button.
    await dialog.getByRole('button', { name: 'Create link', includeHidden: true }).dispatchEvent('click');
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
  }

  it('says why one has to sign in, shows nothing else meanwhile, and keeps what was typed', async () => {
    const { page } = owner;
    await fillIn('customers/late');
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.getByText('Your session expired').waitFor();
    await again.getByText(email).waitFor();
    assert.equal(await page.getByRole('heading', { name: 'Acme Spreadsheet' }).isVisible(), false);
    assert.equal(await page.getByLabel('Guest key').isVisible(), false);
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.keyboard.press('Escape');
    await again.getByLabel('Password', { exact: true }).fill('not the password');
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.getByRole('alert').waitFor();
    assert.deepEqual(await guests(), []);
    await signInAgain(owner, password);
    await page.getByText('You won’t see it again').waitFor();
    assert.deepEqual(await guests(), ['customers/late']);
  });

  it('keeps what one person typed from the next', async () => {
    const { page } = owner;
    const guest = await stage.visitor();
    await signUpThrough(guest, await workshop.invite('customers/other'), 'Grace Guest');
    await accept(guest);
    await fillIn('customers/secret');
    await page.getByRole('button', { name: 'Use another account' }).click();
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    assert.equal(await page.locator('input[value="customers/secret"]').count(), 0);
    await owner.signIn(emailOf('Grace Guest'), passwordOfGuests);
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.ok(!(await page.content()).includes('customers/secret'));
    assert.ok(!(await guests()).includes('customers/secret'));
  });

  it('is no secret where another tab signed out', async () => {
    const visitor = await stage.visitor();
    await visitor.open('/account');
    await visitor.signIn(email, password);
    const other = await visitor.page.context().newPage();
    await other.goto(`${stage.url}/`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await visitor.page.getByText('You were signed out').waitFor();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(await other.getByText('You were signed out').count(), 0);
    await visitor.close();
  });
});
