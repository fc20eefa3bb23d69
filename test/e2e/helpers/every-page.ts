import { join } from 'node:path';
import type { App, ListPage, Webhook } from '@tenon/protocol';
import type { Page } from 'playwright-core';
import { quiet } from '../../../packages/console/test/helpers/quiet.ts';
import { root } from '../../helpers/server.ts';
import type { Acme } from './acme.ts';
import { askByDevice, type Program } from './oauth.ts';
import { dropFile } from './pages.ts';

/** A page of the console, or something that opens on one. */
export interface PageToSee {
  /** Of a file, too: "guest-publishes". */
  readonly name: string;
  readonly as: 'owner' | 'guest' | 'newcomer' | 'nobody';
  readonly path: string;
  /** The heading that shows that it is there; a dialog's too. */
  readonly heading?: string | RegExp;
  /** What is done there first. */
  readonly act?: (page: Page) => Promise<unknown>;
}

/** The sample plugin, which calls its host and some functions of its own. */
const greet = join(root, 'packages', 'server', 'sample', 'greet.wasm');

const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name, exact: true }).click();

/**
 * Every page, and the dialogs and states that look different from it.
 *
 * @param wasmFile a plugin that could be published, as a file of this machine
 */
export async function everyPage(
  url: string,
  acme: Acme,
  program: Program,
  wasmFile: string,
): Promise<readonly PageToSee[]> {
  const { app, extensionPoint, held, openLink, revokedLink, teamLink } = acme;
  const team = `/apps/${app.id}`;
  const points = `${team}/extension-points`;
  const guestPoint = `${team}/my-plugins/${extensionPoint.id}`;
  const apps = await acme.owner.call<ListPage<App>>('GET', '/apps');
  const fresh = apps.objects.find(({ id, role }) => id !== app.id && role === 'owner');
  const hooked = `/apps/${fresh?.id}/webhooks`;
  const webhook = await acme.owner.call<Webhook>('POST', hooked, { url: 'https://hooks.acme.example/tenon' });
  const device = await askByDevice(url, 'build-box');
  const open = openLink.slice(url.length);
  const owner = (name: string, path: string, more: Partial<PageToSee> = {}): PageToSee => ({
    name,
    as: 'owner',
    path,
    ...more,
  });
  const nobody = (name: string, path: string, more: Partial<PageToSee> = {}): PageToSee => ({
    name,
    as: 'nobody',
    path,
    ...more,
  });
  return [
    nobody('sign-in', '/'),
    nobody('sign-in-refused', '/sign-in', {
      async act(page) {
        await page.getByLabel('E-mail address').fill('olivia@acme.example');
        await page.getByLabel('Password', { exact: true }).fill('swordfish');
        await press('Sign in')(page);
        await page.getByRole('alert').waitFor();
      },
    }),
    nobody('sign-up', '/sign-up'),
    nobody('set-up-garbled', '/set-up'),
    nobody('reset-password-garbled', '/reset-password'),
    nobody('invitation', open, { heading: /invites you/ }),
    nobody('invitation-to-team', teamLink.slice(url.length), { heading: /invites you/ }),
    nobody('invitation-revoked', revokedLink.slice(url.length), { heading: 'The invitation was revoked' }),
    nobody('invitation-unknown', `/accept-invite?code=${'x'.repeat(43)}`, { heading: 'Invitation not found' }),
    nobody('approve-signed-out', program.page(), { heading: 'Sign in to review this login' }),
    { name: 'home-empty', as: 'newcomer', path: '/', heading: 'No applications yet' },
    { name: 'home-guest', as: 'guest', path: '/', heading: 'Applications you extend' },
    owner('home', '/', { heading: 'Your applications' }),
    owner('new-application', '/', { act: press('New application'), heading: 'New application' }),
    owner('not-found', '/apps/none/of/these'),
    owner('account', '/account', { heading: 'Your account' }),
    owner('account-delete', '/account', { act: press(/^Delete my account/), heading: /Delete/ }),
    owner('tokens', '/account/tokens', { heading: 'API keys' }),
    owner('token-new', '/account/tokens', { act: press('New access token'), heading: 'New access token' }),
    owner('activity', '/account/activity'),
    owner('status', '/status', { heading: 'This process' }),
    { name: 'status-refused', as: 'guest', path: '/status' },
    owner('users', '/users', { heading: 'Users' }),
    { name: 'users-refused', as: 'guest', path: '/users' },
    owner('quotas', '/quotas', { heading: 'Quotas' }),
    owner('user', `/users/${acme.guest.userId}`, { heading: 'Suspension' }),
    owner('user-suspend', `/users/${acme.guest.userId}`, { act: press(/^Suspend user/), heading: 'Suspend user?' }),
    owner('user-own', `/users/${acme.owner.userId}`, { heading: 'Your account' }),
    owner('user-missing', '/users/usr_none', { heading: 'User not found' }),
    owner('user-password-link', `/users/${acme.guest.userId}`, {
      act: press(/^Create a password link/),
      heading: 'Create a password link',
    }),
    owner('trace', '/trace'),
    owner('trace-module', '/trace', {
      async act(page) {
        await dropFile(page, wasmFile);
        await page.getByText('functions traced.').waitFor();
      },
      heading: 'Functions',
    }),
    owner('trace-run', '/trace', {
      async act(page) {
        await dropFile(page, greet);
        await page.getByLabel('Input').fill('Ada Lovelace');
        await page.getByLabel('Hide calls shorter than').fill('0');
        await press('Run')(page);
      },
      heading: 'Called functions',
    }),
    owner('app', team, { heading: 'Recent activity' }),
    owner('search', team, {
      async act(page) {
        await page.keyboard.press('ControlOrMeta+k');
        await page.locator('input[role="combobox"]').fill('m');
        await page.getByRole('option', { name: 'mortgage' }).waitFor();
      },
      heading: 'Search',
    }),
    owner('app-new', `/apps/${fresh?.id}`, { heading: 'Get started' }),
    owner('app-settings', `${team}/settings`, { heading: 'In your host' }),
    owner('app-missing', '/apps/app_none', { heading: 'Application not found' }),
    owner('plugins', `${team}/plugins`, { heading: 'Plugins' }),
    owner('extension-points', points),
    owner('extension-point', `${points}/${extensionPoint.id}`),
    owner('extension-point-edit', `${points}/${extensionPoint.id}/edit`, { heading: 'Preview for guests' }),
    owner('extension-point-faults', `${points}/new`, {
      async act(page) {
        await page.getByRole('textbox', { name: 'Schema' }).click();
        await page.keyboard.press('ControlOrMeta+a');
        await page.keyboard.insertText('version: v1-draft\nexports:\n  evaluate:\n    input: { type: strng }\n');
        await page.getByText('Line 4').waitFor();
      },
    }),
    owner('extension-point-new', `${points}/new`, {
      async act(page) {
        await page.getByLabel('Begin with').selectOption('Text in, text out');
        await page.getByRole('textbox', { name: 'Schema' }).click();
        await page.keyboard.press('ControlOrMeta+End');
        await page.keyboard.type('i');
        await page.locator('[role="option"]').first().waitFor();
      },
      heading: 'Try a module',
    }),
    owner('simulation-new', `${points}/${extensionPoint.id}/new-simulation`, {
      act: (page) => page.getByText('Valid fixtures.').waitFor(),
    }),
    owner('simulation', `${points}/${extensionPoint.id}/simulations/interest`, {
      act: (page) => page.getByText('Valid fixtures.').waitFor(),
    }),
    owner('simulation-tried', `${points}/${extensionPoint.id}/simulations/descriptions`, {
      async act(page) {
        await press('Try against active versions')(page);
        await page.getByText('would not pass').waitFor();
      },
    }),
    owner('simulation-module', `${points}/${extensionPoint.id}/new-simulation`, {
      act: (page) => page.getByLabel('Test module').check(),
    }),
    owner('extension-point-rules', `${points}/${extensionPoint.id}/rules`),
    owner('plugin', `${points}/${extensionPoint.id}/plugins/${acme.guest.userId}/mortgage`),
    owner('plugin-diff', `${points}/${extensionPoint.id}/plugins/${acme.guest.userId}/mortgage`, {
      act: (page) => page.getByText('What differs').last().click(),
      heading: 'Functions',
    }),
    owner('plugin-failed', `${points}/${extensionPoint.id}/plugins/${acme.guest.userId}/xirr`, {
      act: (page) => page.getByText('says what it does').waitFor(),
    }),
    owner('approvals', `${team}/approvals`),
    owner('roll-outs', `${team}/roll-outs`, { heading: 'No roll-outs' }),
    owner('roll-out-plan', `${points}/${extensionPoint.id}/rules`, {
      act: (page) => page.getByLabel('Guests in steps').check(),
      heading: 'Roll-out',
    }),
    owner('withdraw', `${team}/withdraw`),
    owner('trusted-publishing', `${team}/trusted-publishing`),
    owner('webhooks', `${team}/webhooks`, { heading: 'No webhooks' }),
    owner('webhook-new', `${team}/webhooks`, { act: press('New webhook'), heading: 'New webhook' }),
    owner('webhook', `${hooked}/${webhook.id}`),
    owner('audit', `${team}/audit`),
    owner('guest-import', `${team}/guests/import`, {
      async act(page) {
        await page.getByLabel('Or paste rows').fill('guestKey,name,label\ncustomers/soylent,Rosa,Soylent\na//b,,\n');
      },
      heading: 'Invite guests from a file',
    }),
    owner('invitations', `${team}/invitations?status=pending`, {
      async act(page) {
        await page.getByLabel('Select all open invitations on this page').check();
      },
      heading: 'Invitations of guests',
    }),
    owner('guests', `${team}/guests`),
    owner('guest', `${team}/guests/${held.id}`),
    owner('invite', `${team}/guests`, { act: press('Invite a guest'), heading: 'Invite a guest' }),
    owner('members', `${team}/members`),
    owner('member-remove', `${team}/members`, {
      act: (page) =>
        page
          .getByRole('button', { name: /^Remove .* from the team$/ })
          .first()
          .click(),
      heading: /from the team\?$/,
    }),
    owner('member-invite', `${team}/members`, { act: press('Invite to the team'), heading: 'Invite to the team' }),
    owner('approve', program.page({ scope: 'read publish manage', device_name: 'olivias-laptop' }), {
      heading: 'Approve this login?',
    }),
    owner('approve-nothing', program.page({ redirect_uri: 'https://evil.example/' }), {
      heading: 'This login link isn’t valid',
    }),
    owner('device', '/device'),
    owner('device-decide', `/device?user_code=${device.user_code}`, {
      act: press('Continue'),
      heading: 'Approve this login?',
    }),
    { name: 'invitation-signed-in', as: 'guest', path: open, heading: /invites you/ },
    { name: 'guest-app', as: 'guest', path: `${team}/my-plugins` },
    { name: 'guest-plugin', as: 'guest', path: `${guestPoint}/mortgage` },
    {
      name: 'guest-plugin-failed',
      as: 'guest',
      path: `${guestPoint}/xirr`,
      act: (page) => page.getByText('says what it does').waitFor(),
    },
    { name: 'guest-publish', as: 'guest', path: guestPoint, heading: 'Publish a plugin' },
    {
      name: 'guest-publish-file',
      as: 'guest',
      path: guestPoint,
      heading: 'Publish a plugin',
      async act(page) {
        await dropFile(page, wasmFile);
        await page.getByRole('button', { name: 'Publish', exact: true }).waitFor();
      },
    },
  ];
}

/** Opens one and waits until it is all there. */
export async function show(page: Page, url: string, { path, heading, act }: PageToSee): Promise<void> {
  await page.goto(url + path);
  await page.locator('h1').first().waitFor();
  // Nothing is being loaded any more where an action or a heading has to be.
  await quiet(page);
  await act?.(page);
  if (heading !== undefined) await page.getByRole('heading', { name: heading }).first().waitFor();
}
