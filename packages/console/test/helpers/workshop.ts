import assert from 'node:assert/strict';
import type { App, ExtensionPoint, InvitationLink } from '@tenon/protocol';
import type { Page } from 'playwright-core';
import { axeFaults, type Stage, type Visitor } from './stage.ts';

/** An application and its owner, who does everything by the API: what happens in browsers is the guests' part. */
export interface Workshop {
  readonly app: App;
  readonly point: ExtensionPoint;
  /** Calls the API as the owner; fails on an answer that is an error. */
  call<T>(method: string, path: string, json?: unknown): Promise<T>;
  /** The link of a guest's invitation. */
  invite(guestKey: string): Promise<string>;
  /** The link of an invitation to the team. */
  inviteMember(role: string): Promise<string>;
}

const schema = {
  version: 'v1-draft',
  exports: {
    greet: {
      description: 'Greets the one whose name is the input.',
      input: { type: 'string', contentType: 'text/plain; charset=utf-8' },
      output: { type: 'string', contentType: 'text/plain; charset=utf-8' },
    },
    count_vowels: { description: 'Counts the vowels of the input.' },
  },
};

export async function openWorkshop({ url, server }: Pick<Stage, 'url' | 'server'>, name: string): Promise<Workshop> {
  const { TENON_TOKEN: token = '' } = server.quickstart;
  const call: Workshop['call'] = async (method, path, json) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const app = await call<App>('POST', '/api/v1/apps', { name });
  const point = await call<ExtensionPoint>('POST', `/api/v1/apps/${app.id}/extension-points`, {
    name: 'Greetings',
    schema,
  });
  return {
    app,
    point,
    call,
    async invite(guestKey) {
      const body = { deliveryMethod: 'link', guestKey };
      return (await call<InvitationLink>('POST', `/api/v1/apps/${app.id}/guests`, body)).link;
    },
    async inviteMember(role) {
      return (await call<InvitationLink>('POST', `/api/v1/apps/${app.id}/members`, { role })).link;
    },
  };
}

/** The password of everybody whom the tests sign up. */
export const password = 'nine brass moths in relay 70';

/** Opens an invitation and creates an account with it; ends where one answers. */
export async function signUpThrough({ page }: Visitor, link: string, name: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByLabel('Your name').fill(name);
  await page.getByLabel('E-mail address').fill(emailOf(name));
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('button', { name: 'Accept' }).waitFor();
}

/** The address with which `signUpThrough` signs a user up. */
export function emailOf(name: string): string {
  return `${name.toLowerCase().replaceAll(/[^a-z]+/g, '.')}@example.org`;
}

/** Accepts the invitation that is open. */
export async function accept({ page }: Visitor): Promise<void> {
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { name: 'You are a guest of' }).waitFor();
}

/** Makes a publisher a member of the team. */
export async function joinTeam(workshop: Workshop, { call }: Pick<Workshop, 'call'>, role: string): Promise<void> {
  const code = new URL(await workshop.inviteMember(role)).searchParams.get('code');
  await call('POST', '/api/v1/invitations/accept', { code });
}

/** Ends all of the caller's sessions. */
export async function endSessions({ call }: Pick<Workshop, 'call'>): Promise<void> {
  const { objects } = await call<{ objects: { id: string }[] }>('GET', '/api/v1/sessions');
  for (const { id } of objects) await call('DELETE', `/api/v1/sessions/${id}`);
}

/** Answers the dialog that comes once the session has ended. */
export async function signInAgain({ page }: Visitor, as: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Password', { exact: true }).fill(as);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** The rules of axe-core that look at colours; by the others a page is the same in light and in dark. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** What axe-core finds wrong with a page in light and in dark colours. */
export async function faultsInBothColours(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  const faults = (await axeFaults(page)).map((fault) => `light: ${fault}`);
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...faults, ...(await axeFaults(page, colourRules)).map((fault) => `dark: ${fault}`)];
}
