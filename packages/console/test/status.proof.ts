import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ServerStatus } from '@tenon/protocol';
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

  const body = (visitor: Visitor) => visitor.page.getByRole('heading', { name: 'This process' });

  it('shows operators how the server is, and finds its way into their navigation', async () => {
    const { page } = operator;
    await page.getByRole('link', { name: 'Status' }).click();
    await body(operator).waitFor();
    await page.getByText('All is well').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Status' }).getAttribute('aria-current'), 'page');
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    assert.match(await page.locator('main').innerText(), /Pending\s+0\s+Oldest pending\s+–\s+Failed\s+0/);
    await page.getByRole('table', { name: 'Requests' }).getByText('Binding lists').waitFor();
    assert.match(await page.locator('main').innerText(), /SQLite/);
    assert.equal(await page.getByRole('heading', { name: 'Nodes' }).count(), 0);
    assert.deepEqual(await faultsInBothColours(page), []);
  });

  it('shows the nodes that share a database, and those that are lost', async () => {
    const { page } = operator;
    await page.route(/\/api\/v1\/status$/, async (route) => {
      const response = await route.fetch();
      const status = (await response.json()) as ServerStatus;
      const { node, pid, version, startedAt } = status.process;
      const own = { node, pid, version, startedAt, lastSeenAt: status.readAt, isResponding: true, isLost: false };
      const lost = { ...own, id: 'prc_2', node: 'elsewhere', pid: 7, isResponding: false, isLost: true };
      await route.fulfill({ response, json: { ...status, nodes: [{ id: 'prc_1', ...own }, lost] } });
    });
    await operator.open('/status');
    const rows = page.getByRole('table', { name: 'Nodes' }).getByRole('row');
    await rows.nth(2).waitFor();
    assert.match(await rows.nth(1).innerText(), /answered this request[\s\S]*running/);
    assert.match(await rows.nth(2).innerText(), /elsewhere[\s\S]*lost/);
    await page.getByText('Process 7 on elsewhere has sent no heartbeat for a minute or more.').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('shows how a mirror follows its source, and warns when it does not', async () => {
    const { page } = operator;
    let mirror: NonNullable<ServerStatus['mirror']> = {
      ...{ source: 'https://tenon.example.org', state: 'following', detail: null },
      ...{ isComplete: true, equalAt: null, lists: 1200, missingLists: 0, missingContents: 0 },
    };
    await page.route(/\/api\/v1\/status$/, async (route) => {
      const response = await route.fetch();
      const status = (await response.json()) as ServerStatus;
      const equalAt = new Date(Date.parse(status.readAt) - 90_000).toISOString();
      await route.fulfill({ response, json: { ...status, mirror: { ...mirror, equalAt } } });
    });
    await operator.open('/status');
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Mirror' }) });
    await card.waitFor();
    assert.match(
      await card.innerText(),
      /tenon\.example\.org\s+State[\s\S]*Equal to the source\s+[\s\S]* ago\s+Binding lists\s+1,200/,
    );
    await page.getByText('All is well').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    mirror = {
      ...mirror,
      state: 'incomplete',
      detail: 'A <b>content</b> is damaged',
      missingLists: 2,
      missingContents: 1,
    };
    await operator.open('/status');
    await page.getByText('(A <b>content</b> is damaged)').waitFor();
    assert.match(await card.innerText(), /Lists that differ\s+2\s+Missing contents\s+1/);
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('fits a phone and a tablet', async () => {
    const { page } = operator;
    await page.setViewportSize({ width: 360, height: 740 });
    await operator.open('/status');
    await body(operator).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    for (const width of [360, 720, 800, 960]) {
      await page.setViewportSize({ width, height: 740 });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('refreshes by itself, but not while it is out of sight', async () => {
    const { page } = operator;
    await operator.open('/status');
    await body(operator).waitFor();
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
    await body(operator).waitFor();
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
    assert.ok(await body(operator).isVisible());
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
    await ada.visitor.page.getByText('Only operators can see this page').waitFor();
    assert.equal(await ada.visitor.page.getByRole('link', { name: 'Status' }).count(), 0);
    assert.deepEqual(await faultsInBothColours(ada.visitor.page), []);
    let asked = 0;
    ada.visitor.page.on('request', (request) => {
      if (request.url().endsWith('/api/v1/status')) asked++;
    });
    await ada.visitor.page.waitForTimeout(7_000); // longer than the refresh interval
    assert.equal(asked, 0);
  });
});

const unavailable = {
  type: 'http://localhost/reference/errors#unavailable',
  title: 'Unavailable',
  status: 503,
  detail: 'Try again later.',
  code: 'unavailable',
};
