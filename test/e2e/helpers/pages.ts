import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/*
 * What people do on the console's pages. Each ends when the page shows that it is done.
 */

/** The password of everybody whom the tests sign up. */
export const password = 'nine brass moths in relay 70';

/** An e-mail address for a name. */
export function emailOf(name: string): string {
  return `${name.toLowerCase().replaceAll(/[^a-z]+/g, '.')}@example.org`;
}

/** Fills in the form for a new account, wherever it stands. */
export async function createAccount(page: Page, name: string, email = emailOf(name)): Promise<void> {
  await page.getByLabel('Your name').fill(name);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
}

/** Fills in the form to sign in, wherever it stands, and sends it. */
export async function fillInSignIn(page: Page, email: string, itsPassword: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(itsPassword);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** @returns the application's id */
export async function createApp(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'New application' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  return idIn(page, /\/apps\/(app_\w+)$/);
}

/** Makes an extension point from the application's page. @returns its id */
export async function createExtensionPoint(page: Page, name: string, schema: string): Promise<string> {
  await page.getByRole('link', { name: 'Extension points', exact: true }).click();
  await page.getByRole('link', { name: 'New extension point' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await typeSchema(page, schema);
  await page.getByText('Valid schema.').waitFor();
  await page.getByRole('button', { name: 'Create extension point' }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  return idIn(page, /\/extension-points\/(ext_\w+)$/);
}

/** Puts a text in the place of the one in the schema's editor. */
export async function typeSchema(page: Page, schema: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Schema' }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(schema);
}

/** Invites from the page of the guests. @returns the invitation's link, which is You won’t see it again */
export async function invite(page: Page, guestKey: string): Promise<string> {
  await page.getByRole('button', { name: 'Invite a guest' }).click();
  await page.getByLabel('Guest key').fill(guestKey);
  await page.getByRole('button', { name: 'Create link' }).click();
  return takeSecret(page, 'Invitation link');
}

/** Makes a token that reads, from the page of tokens. */
export async function createToken(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'New access token' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('button', { name: 'Create token' }).click();
  return takeSecret(page, `Token “${name}”`);
}

/** Reads a secret that is shown once, and closes its dialog. */
async function takeSecret(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole('dialog', { name: title });
  const secret = await dialog.locator('.secret code').innerText();
  const done = dialog.getByRole('button', { name: 'Done' });
  await done.click(); // which warns first, because it was not copied
  await dialog.getByRole('button', { name: 'Close without copying' }).click();
  await dialog.waitFor({ state: 'detached' });
  return secret;
}

/**
 * Drags a file of this machine over the drop zone and lets it go: the browser itself makes the events, and reads the file.
 *
 * @param file its path
 */
export async function dropFile(page: Page, file: string): Promise<void> {
  const zone = page.locator('.drop-zone');
  await zone.scrollIntoViewIfNeeded();
  const box = await zone.boundingBox();
  assert.ok(box);
  const at = { x: box.x + box.width / 2, y: box.y + 20 };
  const devTools = await page.context().newCDPSession(page);
  const copy = 1;
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await devTools.send('Input.dispatchDragEvent', {
      type,
      ...at,
      data: { items: [], files: [file], dragOperationsMask: copy },
    });
  }
  await devTools.detach();
}

function idIn(page: Page, pattern: RegExp): string {
  const [, id] = pattern.exec(new URL(page.url()).pathname) ?? [];
  assert.ok(id, page.url());
  return id;
}
