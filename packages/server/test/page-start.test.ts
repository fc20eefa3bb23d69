import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PageStart } from '@tenon/protocol';
import type { ConsoleFiles } from '../src/console/console-files.ts';
import { openBrowser, type TestBrowser } from './helpers/browser.ts';
import { dump } from './helpers/dump.ts';
import { assertProblem, openService, type ServiceOptions, type TestService } from './helpers/service.ts';

const api = '/api/v1';
const plain = '<!doctype html>';

/** What a browser sends when its user opens a page in a tab. */
const navigation = {
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-user': '?1',
};

const files: Pick<ConsoleFiles, 'document'> = {
  document: (_basePath, start) => (start === undefined ? plain : JSON.stringify(start)),
};

const openWith = (options: ServiceOptions = {}) =>
  openService({
    ...options,
    replace: (services) => ({ console: files as ConsoleFiles, ...options.replace?.(services) }),
  });

describe("a page's document for a signed-in browser", () => {
  let service: TestService;
  let browser: TestBrowser;
  before(async () => {
    service = await openWith();
    browser = await openBrowser(service);
  });
  after(() => service.close());

  const open = (path: string, headers: Readonly<Record<string, string | undefined>> = {}, method = 'GET') => {
    const all = Object.entries({ cookie: browser.cookie, ...navigation, ...headers });
    const sent = Object.fromEntries(all.filter((field): field is [string, string] => field[1] !== undefined));
    return service.call(method, path, { headers: sent });
  };
  const start = async (headers = {}): Promise<PageStart> => JSON.parse((await open('/', headers)).payload);
  const countTokens = async () => (await dump(service)).get('tokens')?.length;

  it('contains the state of the session and a token, and is stored nowhere', async () => {
    for (const site of ['none', 'same-origin']) {
      const response = await open('/apps/app_x/guests', { 'sec-fetch-site': site });
      assert.equal(response.headers['cache-control'], 'no-store');
      const { session, accessToken } = response.json<PageStart>();
      const headers = { cookie: browser.cookie, 'sec-fetch-site': 'same-origin' };
      assert.deepEqual(session, (await service.call('GET', '/session', { headers })).json());
      assert.equal(session.account?.id, browser.userId);
      assert.equal((await service.call('GET', `${api}/apps`, { token: accessToken })).statusCode, 200);
      assert.ok(!service.logged.some((line) => line.includes(accessToken)));
    }
    for (const path of ['/', '/account', '/account/tokens', '/account/activity', '/status']) {
      assert.ok((await open(path)).json<PageStart>().accessToken, path);
    }
  });

  it('has a token that only reads, for a minute, until the session ends', async () => {
    const { accessToken: token } = await start();
    const response = await service.call('POST', `${api}/apps`, { token, json: { name: 'New' } });
    assertProblem(response, 403, 'insufficient_scope');
    service.advance(59_000);
    assert.equal((await service.call('GET', `${api}/apps`, { token })).statusCode, 200);
    service.advance(2_000);
    assertProblem(await service.call('GET', `${api}/apps`, { token }), 401, 'invalid_token');

    const other = await openBrowser(service);
    const { accessToken: second } = await start({ cookie: other.cookie });
    await other.end();
    assertProblem(await service.call('GET', `${api}/apps`, { token: second }), 401, 'invalid_token');
    assert.equal((await open('/', { cookie: other.cookie })).payload, plain);
  });

  it('contains nothing for other requests than the user opening it in a tab', async () => {
    const before = await countTokens();
    const others: Record<string, Record<string, string | undefined>> = {
      'no cookie': { cookie: undefined },
      'an unknown session': { cookie: `${browser.cookie.split('=', 1)[0]}=${'x'.repeat(43)}` },
      'two sessions': { cookie: `${browser.cookie}; ${browser.cookie}` },
      'another site': { 'sec-fetch-site': 'cross-site' },
      'another origin of the site': { 'sec-fetch-site': 'same-site' },
      'a browser that does not say which site': { 'sec-fetch-site': undefined },
      'a frame': { 'sec-fetch-dest': 'iframe' },
      'an object': { 'sec-fetch-dest': 'object' },
      'a browser that does not say what for': { 'sec-fetch-dest': undefined },
      'a script': { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
      'a script without CORS': { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' },
      'a prefetch': { 'sec-purpose': 'prefetch' },
      'a prerendering': { 'sec-purpose': 'prefetch;prerender' },
      'another origin': { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
    };
    for (const [name, headers] of Object.entries(others)) {
      assert.equal((await open('/', headers)).payload, plain, name);
    }
    assert.equal((await open('/', {}, 'HEAD')).payload, '');
    for (const path of ['/trace', '/sign-in', '/sign-up', '/oauth/authorize', '/device', '/accept-invite', '/set-up']) {
      assert.equal((await open(path)).payload, plain, path);
    }
    assert.equal((await open('/nothing', { accept: 'text/html' })).payload, plain);
    assert.equal(await countTokens(), before);
  });

  it('comes without a session when the store fails, or is slow', async () => {
    const never = new Promise<never>(() => undefined);
    for (const write of [() => never, () => Promise.reject(new Error('The disk is full'))]) {
      let isBroken = false;
      const broken = await openWith({
        replace: ({ deps }) => ({
          deps: {
            ...deps,
            store: { ...deps.store, write: (work) => (isBroken ? write() : deps.store.write(work)) },
          },
        }),
      });
      try {
        const { cookie } = await openBrowser(broken);
        isBroken = true;
        const headers = { cookie, ...navigation };
        assert.equal((await broken.call('GET', '/', { headers })).payload, plain);
      } finally {
        isBroken = false;
        await broken.close();
      }
    }
  });

  it('comes without a session when the session makes too many changes', async () => {
    const limited = await openWith({ config: { writesPerSecond: 1, writeBurst: 3 } });
    try {
      const { cookie } = await openBrowser(limited);
      const headers = { cookie, ...navigation };
      const payloads: string[] = [];
      for (let at = 0; at < 5; at++) payloads.push((await limited.call('GET', '/', { headers })).payload);
      assert.deepEqual(
        payloads.map((payload) => payload === plain),
        [false, false, false, true, true],
      );
    } finally {
      await limited.close();
    }
  });
});
