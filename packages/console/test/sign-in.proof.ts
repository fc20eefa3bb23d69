import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { axeFaults, noBrowser, openStage, type Stage } from './helpers/stage.ts';

describe('signing in', { skip: noBrowser }, () => {
  let stage: Stage;
  let email: string;
  let password: string;
  before(async () => {
    stage = await openStage();
    ({ TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart);
  });
  after(() => stage.close());

  it('stands in the place of a page for those who are signed in, which is there afterwards', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open('/account?from=a-link');
    assert.equal(await page.title(), 'Sign in · Tenon');
    assert.deepEqual(await axeFaults(page), []);
    await visitor.signIn(email, password);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    assert.equal(page.url(), `${stage.url}/account?from=a-link`);
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1');
    await visitor.close();
  });

  it('leads to the applications from a page of its own, wherever its address says to go', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open('/sign-in?next=https://evil.example/&return_to=//evil.example#https://evil.example');
    await visitor.signIn(email, password);
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
    assert.equal(page.url(), `${stage.url}/`);
    assert.deepEqual(await axeFaults(page), []);
    await visitor.open('/sign-in');
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor(); // who is in needs no form
    await visitor.close();
  });

  it('says alike that an address is unknown and that a password is wrong', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open('/');
    const reported: (string | null)[] = [];
    for (const address of [email, 'nobody@tenon.example']) {
      await page.getByLabel('E-mail address').fill(address);
      await page.getByLabel('Password', { exact: true }).fill('not the password');
      const answered = page.waitForResponse((response) => response.url().endsWith('/session'));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await answered;
      await page.getByRole('alert').waitFor();
      reported.push(await page.getByRole('alert').textContent());
      assert.deepEqual(await axeFaults(page), []);
    }
    assert.equal(reported[0], reported[1]);
    assert.match(reported[0] ?? '', /Incorrect e-mail or password/);
    await visitor.close();
  });

  it('ends in all tabs at once, and leaves nothing behind that would open a page', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open('/');
    await visitor.signIn(email, password);
    const other = await page.context().newPage();
    await other.goto(`${stage.url}/account`);
    await other.getByRole('heading', { name: 'Your account' }).waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();

    await page.goBack().catch(() => undefined);
    await page.goto(`${stage.url}/account`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(await page.getByText(email).count(), 0);
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
    assert.doesNotMatch(kept, /tnn_|tenon-session/);
    await visitor.close();
  });

  it('keeps its token and cookie where scripts and storage do not reach', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open('/');
    await visitor.signIn(email, password);
    await page.getByRole('heading', { name: 'Your applications' }).waitFor();
    const seen = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
    assert.doesNotMatch(seen, /tnn_|session/);
    const [cookie] = (await page.context().cookies()).filter(({ name }) => name.startsWith('tenon-session'));
    assert.deepEqual(
      { httpOnly: cookie?.httpOnly, sameSite: cookie?.sameSite, path: cookie?.path },
      { httpOnly: true, sameSite: 'Lax', path: '/' },
    );
    await visitor.close();
  });
});
