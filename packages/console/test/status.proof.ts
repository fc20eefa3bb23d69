import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openPublisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, openWorkshop } from './helpers/workshop.ts';

describe('the status page', { skip: noBrowser }, () => {
  let stage: Stage;
  let operator: Visitor;
  before(async () => {
    stage = await openStage();
    operator = await stage.visitor();
    await operator.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await operator.signIn(email, password);
  });
  after(() => stage.close());

  const nodes = (visitor: Visitor) => visitor.page.getByRole('heading', { name: 'Nodes' });

  it('shows operators how the server is, and finds its way into their navigation', async () => {
    const { page } = operator;
    await page.getByRole('link', { name: 'Status' }).click();
    await nodes(operator).waitFor();
    await page.getByText('All is well').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Status' }).getAttribute('aria-current'), 'page');
    const processes = page.getByRole('table', { name: /^Processes on / });
    assert.equal(await processes.getByRole('row').count(), 2);
    assert.match(await processes.getByRole('row').last().innerText(), /ready/);
    assert.match(await page.locator('main').innerText(), /SQLite 3\.\d/);
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('fits a phone and a tablet', async () => {
    const { page } = operator;
    await page.setViewportSize({ width: 360, height: 740 });
    await operator.open('/status');
    await nodes(operator).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    for (const width of [360, 720, 800, 960]) {
      await page.setViewportSize({ width, height: 740 });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('asks anew by itself, but not while it is out of sight', async () => {
    const { page } = operator;
    await operator.open('/status');
    await nodes(operator).waitFor();
    const isStatus = (url: string) => url.endsWith('/api/v1/status');
    await page.waitForResponse((response) => isStatus(response.url()), { timeout: 60_000 });
    let asked = 0;
    const onRequest = (request: { url(): string }) => {
      if (isStatus(request.url())) asked++;
    };
    const setVisibility = (state: 'hidden' | 'visible') =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    await setVisibility('hidden');
    page.on('request', onRequest);
    await page.waitForTimeout(7_000); // longer than it waits between two
    page.off('request', onRequest);
    assert.equal(asked, 0);
    const [response] = await Promise.all([
      page.waitForResponse((answer) => isStatus(answer.url()), { timeout: 60_000 }),
      setVisibility('visible'),
    ]);
    assert.equal(response.status(), 200);
  });

  it('says so, and goes on showing what it knew, while the server is away', async () => {
    const { page } = operator;
    await operator.open('/status');
    await nodes(operator).waitFor();
    await page.route(/\/api\/v1\/status$/, (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(unavailable) }),
    );
    const detail = 'Not ready: the metadata store has not answered for 2 seconds.';
    await page.route(/\/readyz$/, (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: JSON.stringify({ ...unavailable, detail }),
      }),
    );
    await page.getByText(detail).waitFor({ timeout: 60_000 });
    assert.ok(await nodes(operator).isVisible());
    await page.getByRole('heading', { name: 'Last known state, ' }).waitFor();
    assert.equal(await page.getByText('All is well').count(), 0);
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByText(detail).waitFor({ state: 'detached', timeout: 60_000 });
  });

  it('tells others what it takes to see it', async () => {
    const workshop = await openWorkshop(stage, 'Acme');
    const ada = await openPublisher(stage, workshop, 'customers/globex', 'Ada Lovelace');
    await ada.visitor.open('/status');
    await ada.visitor.page.getByText('The status is for operators').waitFor();
    assert.equal(await ada.visitor.page.getByRole('link', { name: 'Status' }).count(), 0);
    assert.deepEqual(await faultsInBothColours(ada.visitor.page), []);
  });
});

const unavailable = {
  type: 'http://localhost/reference/errors#unavailable',
  title: 'Unavailable',
  status: 503,
  detail: 'Try again later.',
  code: 'unavailable',
};
