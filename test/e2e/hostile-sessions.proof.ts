import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { SessionToken } from '@tenon/protocol';
import type { Cookie } from 'playwright-core';
import { noBrowser, openStageApart, type StageApart, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { createAccount, emailOf, password } from './helpers/pages.ts';

/** Cookies copied from a browser with a session. */
interface Loot {
  readonly cookies: string;
  readonly accessToken: string;
}

describe('a session that has ended', { skip: noBrowser }, () => {
  let stage: StageApart;
  let visitor: Visitor;
  let loot: Loot;
  let round = 0;
  let name: string;
  before(async () => {
    stage = await openStageApart({ args: ['--no-demo'], settings: { TENON_SIGN_UP: 'open' } });
  });
  after(() => stage.close());

  beforeEach(async () => {
    name = `Person ${'abcdefgh'[round++]}`;
    visitor = await stage.visitor();
    await visitor.open('/sign-up');
    await createAccount(visitor.page, name);
    await visitor.page.getByRole('heading', { name: 'No applications yet' }).waitFor();
    loot = await copy(visitor);
    assert.deepEqual(
      await tried(loot),
      { session: true, newToken: true, token: true },
      'as long as it lasts it opens everything',
    );
  });

  async function copy({ page }: Visitor): Promise<Loot> {
    const cookies = (await page.context().cookies()).map((cookie) => `${cookie.name}=${cookie.value}`).join('; ');
    const answer = await postAs(cookies, '/session/token');
    return { cookies, accessToken: ((await answer.json()) as SessionToken).accessToken };
  }

  const postAs = (cookie: string, path: string) =>
    fetch(stage.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie, 'sec-fetch-site': 'same-origin' },
      body: '{}',
    });

  /** The user that the server sees for such cookies. */
  async function tried({ cookies, accessToken }: Loot) {
    const state = await fetch(`${stage.url}/session`, { headers: { cookie: cookies } });
    const me = await fetch(`${stage.url}/api/v1/me`, { headers: { authorization: `Bearer ${accessToken}` } });
    return {
      session: ((await state.json()) as { account: unknown }).account !== null,
      newToken: (await postAs(cookies, '/session/token')).status === 201,
      token: me.status === 200,
    };
  }

  const nothing = { session: false, newToken: false, token: false };

  async function fillIn(button: string, fields: Readonly<Record<string, string>>): Promise<void> {
    const { page } = visitor;
    for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
    await page.getByRole('button', { name: button, exact: true }).click();
  }

  it('by signing out opens nothing, not with its cookie or token, nor by going back', async () => {
    const { page } = visitor;
    await visitor.open('/account');
    await page.getByText(emailOf(name)).first().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(await tried(loot), nothing);
    for (const go of [() => page.goBack(), () => page.goBack(), () => page.goForward(), () => page.reload()]) {
      await go().catch(() => undefined);
      await page.waitForLoadState('networkidle');
      assert.equal(await page.getByText(emailOf(name)).count(), 0);
    }
    // The stolen cookie put back into the browser by hand.
    const [key = '', value = ''] =
      loot.cookies
        .split('; ')
        .find((pair) => pair.startsWith('tenon-session'))
        ?.split('=') ?? [];
    await page.context().addCookies([{ name: key, value, url: stage.url }]);
    await visitor.open('/account');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('by a new password elsewhere opens nothing', async () => {
    const elsewhere = await stage.visitor();
    await elsewhere.open('/');
    await elsewhere.signIn(emailOf(name), password);
    const stolen = await copy(elsewhere);
    await visitor.open('/account');
    await fillIn('Change password', { 'Current password': password, 'New password': 'harbour violet trombone' });
    await visitor.page.getByText('Password changed').waitFor();
    assert.deepEqual(await tried(stolen), nothing);
    await elsewhere.page.reload();
    await elsewhere.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    // The one in which it was changed goes on.
    await visitor.open('/account');
    await visitor.page.getByRole('heading', { name: 'Your account' }).waitFor();
  });

  it('by deleting the account opens nothing, nor does its password', async () => {
    const { page } = visitor;
    await visitor.open('/account');
    await page.getByRole('button', { name: 'Delete my account…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password', { exact: true }).fill(password);
    await dialog.getByLabel('Type').fill(emailOf(name));
    await dialog.getByRole('button', { name: 'Delete my account' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(await tried(loot), nothing);
    await fillIn('Sign in', { 'E-mail address': emailOf(name), Password: password });
    await page
      .getByRole('alert')
      .getByText(/Incorrect e-mail or password/)
      .waitFor();
  });

  it('by signing in again in the same browser opens nothing', async () => {
    const { page } = visitor;
    // As in a second tab that was at the form already.
    await page.evaluate(
      async ([email, secret]) => {
        const body = JSON.stringify({ email, password: secret });
        await fetch('/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      },
      [emailOf(name), password] as const,
    );
    assert.deepEqual(await tried(loot), nothing);
    await page.reload();
    await page.getByRole('heading', { name: 'No applications yet' }).waitFor();
  });

  it('is not started by an attacker: a planted cookie is replaced, and gains nothing', async () => {
    const victim = await stage.visitor();
    const context = victim.page.context();
    const cookieName = `tenon-session-${new URL(stage.url).port}`;
    const sessionCookie = ({ name: key }: Cookie) => key.startsWith('tenon-session');
    for (const planted of ['A'.repeat(43), loot.cookies.match(/tenon-session[^=]*=([^;]+)/)?.[1] ?? '']) {
      await context.clearCookies();
      await context.addCookies([{ name: cookieName, value: planted, url: stage.url }]);
      await victim.open('/sign-in');
      // Where the planted session is the attacker's own, the victim is shown whose it is, and signs out of it first.
      const signOut = victim.page.getByRole('button', { name: 'Sign out' });
      if (planted.startsWith('AAA')) await victim.signIn(emailOf(name), password);
      else {
        await signOut.waitFor();
        await victim.page.evaluate(
          async ([email, secret]) => {
            const body = JSON.stringify({ email, password: secret });
            await fetch('/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
          },
          [emailOf(name), password] as const,
        );
      }
      const now = (await context.cookies()).find(sessionCookie);
      assert.ok(now !== undefined && now.value !== planted && now.value.length === 43);
      const asPlanted = await fetch(`${stage.url}/session`, { headers: { cookie: `${cookieName}=${planted}` } });
      assert.equal(((await asPlanted.json()) as { account: unknown }).account, null);
    }
    await victim.close();
  });
});
