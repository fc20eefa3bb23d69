import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Guest } from '@tenon/protocol';
import type { Page, Request, Route } from 'playwright-core';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { quiet } from './helpers/quiet.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { openWorkshop, type Workshop } from './helpers/workshop.ts';

describe('a page that a signed-in user opens', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let ada: Publisher;
  let guest: Guest | undefined;
  before(async () => {
    stage = await openStage({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    ada = await openPublisher(stage, workshop, 'customers/globex', 'Ada Lovelace');
    await ada.publish(workshop.point.id, 'median', greetThatSays('1'));
    [guest] = (await workshop.call<{ objects: Guest[] }>('GET', `/api/v1/apps/${workshop.app.id}/guests`)).objects;
    owner = await stage.visitor();
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const inApp = (path = '') => `/apps/${workshop.app.id}${path}`;
  const atPoint = (path = '') => inApp(`/extension-points/${workshop.point.id}${path}`);

  /** Pages of the team that show data, with the data that they request first. */
  const teamPages = (): Readonly<Record<string, readonly string[]>> => {
    const app = `/api/v1/apps/${workshop.app.id}`;
    const point = `/api/v1/extension-points/${workshop.point.id}`;
    const plugin = `/api/v1/artifacts/${workshop.point.id}/plugin/${ada.userId}/median`;
    return {
      '/status': ['/api/v1/status'],
      [inApp()]: [app],
      [inApp('/guests')]: [app],
      [inApp(`/guests/${guest?.id}`)]: [app],
      [inApp('/approvals')]: [app],
      [inApp('/extension-points')]: [app],
      [atPoint()]: [app, point],
      [atPoint('/edit')]: [app, point],
      [atPoint('/rules')]: [app, point],
      [atPoint(`/plugins/${ada.userId}/median`)]: [app, point, plugin],
    };
  };

  it('sends its first request for data when its entry script has run, and waits for nothing else', async () => {
    for (const path of ['/', ...Object.keys(teamPages())]) {
      const { page } = owner;
      await page.goto('about:blank');
      const document = await page.context().request.get(stage.url + path);
      const ofDocument = [...(await document.text()).matchAll(/"\.\/(assets\/[^"]+)"/g)].map(([, name = '']) => name);
      const { promise: asked, resolve } = Promise.withResolvers<string>();
      const hold = async (route: Route): Promise<void> => {
        const { pathname } = new URL(route.request().url());
        if (pathname.startsWith('/api/')) resolve(pathname);
        const isOfDocument = route.request().resourceType() === 'document' || ofDocument.includes(pathname.slice(1));
        if (!isOfDocument) await asked;
        await route.continue();
      };
      await page.route('**/*', hold);
      await page.goto(stage.url + path);
      await asked;
      await page.locator('h1').first().waitFor();
      await page.unroute('**/*', hold);
    }
  });

  it('uses what it has requested first, and requests nothing twice', async () => {
    for (const [path, data] of Object.entries(teamPages())) {
      const found = await requestsOf(owner.page, stage.url + path);
      const paths = found.map((request) => new URL(request.url()).pathname);
      for (const one of data) assert.equal(paths.filter((other) => other === one).length, 1, `${path}: ${one}`);
      assert.ok(!paths.includes('/session'), path);
    }
  });

  it('has nothing of the session in the document that scripts, and saved pages, have', async () => {
    const { page } = owner;
    await owner.open(inApp());
    assert.doesNotMatch(await page.content(), /page-start|tnn_/);
    const fetched = await page.evaluate(async () => (await fetch(location.href)).text());
    assert.doesNotMatch(fetched, /page-start|tnn_/);
  });

  it('asks for the session itself after a link of another site', async () => {
    const { page } = owner;
    const other = stage.url.replace('localhost', '127.0.0.1');
    assert.notEqual(other, stage.url);
    await page.route(`${other}/elsewhere`, (route) =>
      route.fulfill({ contentType: 'text/html', body: `<a href="${stage.url}${inApp()}">Open</a>` }),
    );
    await page.goto(`${other}/elsewhere`);
    const [asked] = await Promise.all([
      page.waitForRequest(`${stage.url}/session`),
      page.getByRole('link', { name: 'Open' }).click(),
    ]);
    assert.equal(asked.method(), 'GET');
    await page.getByRole('heading', { name: 'Acme Spreadsheet', level: 1 }).waitFor();
    owner.faults.length = 0; // the other site is another host
  });
});

/** Opens a page, and returns the requests that it makes. */
async function requestsOf(page: Page, url: string): Promise<readonly Request[]> {
  await page.goto('about:blank');
  const requests: Request[] = [];
  const note = (request: Request): void => void requests.push(request);
  page.on('request', note);
  await page.goto(url);
  await quiet(page);
  page.off('request', note);
  return requests;
}
