import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { axeFaults, noBrowser, openStage, type Stage } from './helpers/stage.ts';

describe('the frame around the pages, below a path', { skip: noBrowser }, () => {
  let stage: Stage;
  let email: string;
  let password: string;
  before(async () => {
    const port = await freePort();
    const url = `http://localhost:${port}/tools/tenon`;
    stage = await openStage({ settings: { TENON_PORT: String(port), TENON_PUBLIC_URL: url } });
    assert.equal(stage.url, url);
    ({ TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart);
  });
  after(() => stage.close());

  it('stays below the path, from page to page and after reloading', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open('/account');
    await visitor.signIn(email, password);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await page.getByRole('link', { name: 'Applications' }).click();
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
    assert.equal(page.url(), `${stage.url}/`);
    await page.goBack();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await visitor.open('/apps/none/of/these');
    await page.getByRole('link', { name: 'Tenon', exact: true }).click();
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
    await visitor.close();
  });

  it('says at a mistyped address that there is no page, with a way home, and leads on from a slash at the end', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    for (const path of ['/login', '/docs/start?page=2', '/apps']) {
      const response = await page.goto(stage.url + path);
      assert.equal(response?.status(), 404, path);
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
      assert.deepEqual(await axeFaults(page), []);
    }
    await page.getByRole('link', { name: 'Go to your applications' }).click();
    await visitor.signIn(email, password);
    assert.equal(page.url(), `${stage.url}/`);
    await page.goto(`${stage.url}/login`);
    await page.getByRole('link', { name: 'Go to your applications' }).click();
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
    await page.goto(`${stage.url}/account/`);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    assert.equal(page.url(), `${stage.url}/account`);
    await page.goto(`${stage.url}/apps/`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await visitor.close();
  });

  it('moves the focus to the heading of a page that one goes to, and not on the first one', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open('/');
    await visitor.signIn(email, password);
    await visitor.open('/');
    await page.getByRole('heading', { name: 'Your applications' }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'BODY');
    await page.getByRole('link', { name: /your account/ }).click();
    await page.waitForFunction(() => document.activeElement?.textContent === 'Your account');
    assert.equal(await page.title(), 'Your account · Tenon');
    await visitor.close();
  });

  it('is used by the keyboard alone: past the navigation, into a dialog and out of it', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open('/');
    await visitor.signIn(email, password);
    await visitor.open('/');
    await page.getByRole('heading', { name: 'Your applications' }).waitFor();
    await page.keyboard.press('Tab');
    await page.waitForFunction(() => document.activeElement?.textContent === 'Skip to the content');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
    assert.equal(page.url(), `${stage.url}/`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New application' });
    await dialog.waitFor();
    assert.deepEqual(await axeFaults(page), []);
    await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'name');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement?.textContent === 'New application');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'name');
    await page.keyboard.type('Made by keyboard');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/apps\/app_/);
    await visitor.close();
  });

  it('opens a dialog before the next key, which is meant for it', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open('/');
    await visitor.signIn(email, password);
    const opener = page.getByRole('button', { name: 'New application' });
    const focused = await opener.evaluate(async (button) => {
      if (button instanceof HTMLElement) button.click();
      await Promise.resolve(); // it is drawn at the end of the turn, as after any event
      return document.activeElement?.getAttribute('name');
    });
    assert.equal(focused, 'name');
    await visitor.close();
  });

  it('keeps the colours that one chooses', async () => {
    const visitor = await stage.visitor({ colorScheme: 'light' });
    const { page } = visitor;
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await visitor.open('/');
    const light = await ground();
    await page.getByLabel('Dark').check({ force: true });
    const dark = await ground();
    assert.notEqual(dark, light);
    assert.deepEqual(await axeFaults(page), []);
    await visitor.open('/sign-up');
    assert.equal(await ground(), dark);
    await page.getByLabel('System').check({ force: true });
    assert.equal(await ground(), light);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.equal(await ground(), dark);
    await visitor.close();
  });

  it('says so where the browser lets it keep nothing', async () => {
    const visitor = await stage.visitor();
    await visitor.page.addInitScript(() => {
      Object.defineProperty(window, 'sessionStorage', {
        get: () => {
          throw new DOMException('The operation is insecure.', 'SecurityError');
        },
      });
    });
    await visitor.open('/');
    await visitor.page.getByRole('heading', { name: 'This browser blocks cookies' }).waitFor();
    assert.deepEqual(await axeFaults(visitor.page), []);
    await visitor.close();
  });

  it('reloads when the server has another build of the console, once, and else says that the code is missing', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open('/');
    await visitor.signIn(email, password);
    await page.getByRole('heading', { name: 'Your applications' }).waitFor();
    let documents = 0;
    await page.route(/\/assets\/account-/, (route) => route.fulfill({ status: 404, body: '' }));
    page.on('request', (request) => {
      if (request.isNavigationRequest()) documents++;
    });
    await page.getByRole('link', { name: /your account/ }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    assert.equal(documents, 0, 'the server has the same build: loading it again would not help');
    await page.getByRole('link', { name: 'Applications' }).first().click();
    await page.reload();
    documents = 0;
    await page.getByRole('heading', { name: 'Your applications' }).waitFor();
    await page.route(`${stage.url}/`, (route) =>
      route.request().isNavigationRequest()
        ? route.continue()
        : route.fulfill({ contentType: 'text/html', body: '<script type="module" src="./assets/index-other.js">' }),
    );
    await page.getByRole('link', { name: /your account/ }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    assert.equal(documents, 1);
    assert.deepEqual(await axeFaults(page), []);
    await page.unroute(/\/assets\/account-/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await visitor.close();
  });

  it('keeps its page when the server is away and the code of the next one is not there, and loads it once the server is back', async () => {
    const context = await stage.visitor();
    const { page } = context;
    await context.open('/');
    await context.signIn(email, password);
    await page.getByRole('heading', { name: 'Your applications' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: /your account/ }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await page.getByText('The server is not responding.').waitFor();
    assert.deepEqual(await axeFaults(page), []);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The server is not responding.').waitFor();
    assert.ok(page.url().startsWith(stage.url), page.url());
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await context.close();
  });

  it('says that the server does not answer, and tries again', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await page.route(/\/session$/, (route) => route.abort());
    await visitor.open('/');
    await page.getByRole('heading', { name: 'Tenon cannot be reached' }).waitFor();
    assert.deepEqual(await axeFaults(page), []);
    await page.unroute(/\/session$/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await visitor.close();
  });

  it('has no width of its own: nothing is cut off or scrolls sideways on a phone', async () => {
    const visitor = await stage.visitor({ viewport: { width: 360, height: 640 } });
    const { page } = visitor;
    await visitor.open('/');
    await visitor.signIn(email, password);
    for (const path of ['/', '/account', '/apps/none/of/these']) {
      await visitor.open(path);
      const { scrolled, width } = await page.evaluate(() => ({
        scrolled: document.documentElement.scrollWidth,
        width: innerWidth,
      }));
      assert.ok(scrolled <= width, `${path} is ${scrolled} wide`);
      assert.deepEqual(await axeFaults(page), [], path);
    }
    await visitor.close();
  });
});

/** A port that was free a moment ago: the server gets its public URL before it listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
