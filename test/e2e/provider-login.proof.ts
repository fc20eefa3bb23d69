import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { type Running, start } from '../../packages/cli/test/helpers/binary.ts';
import { newMachine } from '../../packages/cli/test/helpers/machine.ts';
import { openRealProvider, type RealProvider } from '../../packages/console/test/helpers/real-provider.ts';
import { noBrowser, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { until } from '../helpers/until.ts';

const codePattern = /\b([A-Z]{4}-[A-Z]{4})\b/;

describe('tenon login through oidc-provider', { skip: noBrowser }, () => {
  let real: RealProvider;
  before(async () => {
    real = await openRealProvider({ passwordSignIn: false });
  });
  after(() => real.close());

  /** The command in a process of its own, and what it has written to stderr. */
  async function logIn(t: TestContext, ...args: string[]) {
    const machine = await newMachine(t);
    const running = start(['login', '--server', real.stage.url, ...args], machine);
    t.after(() => running.child.kill());
    let written = '';
    running.child.stderr?.on('data', (text: string) => {
      written += text;
    });
    const shown = (pattern: RegExp) =>
      until(() => pattern.exec(written)?.[1], { message: () => `${pattern} was not shown: ${written}` });
    return { machine, running, shown };
  }

  /** Signs in on a page that requires an account, and consents at the provider, which sends the browser back to the page. */
  async function signIn(visitor: Visitor, name: string): Promise<void> {
    const { page } = visitor;
    await page.getByRole('heading', { name: 'Sign in to review this login' }).waitFor();
    await page.getByRole('button', { name: 'Continue with Acme' }).click();
    await enterAtProvider(page, name);
    await page.getByRole('button', { name: 'Continue', exact: true }).click(); // the consent
  }

  async function enterAtProvider(page: Page, name: string): Promise<void> {
    await page.getByPlaceholder('Enter any login').fill(name);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
  }

  /** Approves the login. It makes a token, so the provider must ask for the user again, in a window of its own. */
  async function approve({ page }: Visitor, name: string): Promise<void> {
    await page.getByRole('button', { name: 'Approve' }).click();
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Confirm with Acme' }).click();
    await enterAtProvider(await opened, name);
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
  }

  /** The pages of the provider, and of the command, are no fault of ours. */
  function forgive({ faults }: Visitor): void {
    const others = (fault: string) => fault.includes(real.issuer) || fault.includes('a request to another host');
    faults.splice(0, faults.length, ...faults.filter((fault) => !others(fault)));
  }

  async function assertLoggedIn({ ended }: Running, environment: Record<string, string>, name: string): Promise<void> {
    const { exitCode, stdout, stderr } = await ended;
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, new RegExp(`you are +${name} \\(${name}@acme\\.example\\)`));
    const whoami = JSON.parse((await start(['whoami', '--json'], { environment }).ended).stdout);
    assert.equal(whoami.email, `${name}@acme.example`);
    assert.deepEqual(whoami.token.scopes, ['read', 'publish']);
  }

  const comparedCode = async (page: Page): Promise<string | undefined> =>
    codePattern.exec(await page.locator('.compare').innerText())?.[1];

  it('on this machine: the provider leads back to the approval, and the approval to the command', async (t) => {
    const { machine, running, shown } = await logIn(t);
    const visitor = await real.stage.visitor();
    const { page } = visitor;
    await page.goto(await machine.opened());
    await signIn(visitor, 'grace');
    await page.getByRole('heading', { name: 'Approve this login?' }).waitFor();
    assert.equal(await comparedCode(page), await shown(codePattern));
    await approve(visitor, 'grace');
    await assertLoggedIn(running, machine.environment, 'grace');
    forgive(visitor);
  });

  it('on another device: the code is still there after the sign-in', async (t) => {
    const { machine, running, shown } = await logIn(t, '--device');
    const address = await shown(/(http\S+\?user_code=\S+)/);
    const visitor = await real.stage.visitor();
    const { page } = visitor;
    await page.goto(address);
    await signIn(visitor, 'hedy');
    await page.getByRole('heading', { name: 'Connect a device' }).waitFor();
    const code = await shown(codePattern);
    assert.equal(await page.getByLabel('Code').inputValue(), code);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Approve this login?' }).waitFor();
    assert.equal(await comparedCode(page), code);
    await page.getByLabel('I started this login').check();
    await approve(visitor, 'hedy');
    await assertLoggedIn(running, machine.environment, 'hedy');
    forgive(visitor);
  });

  it('stores nothing when the person cancels at the provider, and denies', async (t) => {
    const { machine, running } = await logIn(t);
    const visitor = await real.stage.visitor();
    const { page } = visitor;
    await page.goto(await machine.opened());
    await page.getByRole('button', { name: 'Continue with Acme' }).click();
    await page.getByRole('link', { name: /cancel/i }).click();
    await page.getByText('You cancelled at Acme.').waitFor();
    await page.getByRole('button', { name: 'Continue with Acme' }).click();
    await enterAtProvider(page, 'radia');
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'Denied' }).waitFor();
    const { exitCode, stderr } = await running.ended;
    assert.equal(exitCode, 3, stderr);
    const profiles = await start(['profile', 'list', '--json'], machine).ended;
    assert.deepEqual(JSON.parse(profiles.stdout), []);
    forgive(visitor);
  });
});
