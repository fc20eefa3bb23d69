import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DeviceAuthorization, Invitation, Me, Session, SessionState, TokenInfo } from '@tenon/protocol';
import type { Page, Response } from 'playwright-core';
import { noBrowser, openStageApart, type StageApart, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { openWorkshop, type Workshop } from '../../packages/console/test/helpers/workshop.ts';
import { askByDevice, type Program, postForm, startProgram } from './helpers/oauth.ts';
import { type OtherSite, startOtherSite } from './helpers/other-site.ts';

/** What a page of another site sends here, with the cookies of its visitor. */
interface Forgery {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

describe('pages of other sites, for a user with a session', { skip: noBrowser }, () => {
  let stage: StageApart;
  let workshop: Workshop;
  let otherSite: OtherSite;
  let program: Program;
  let device: DeviceAuthorization;
  let victim: Visitor;
  let invitation: string;
  let forgeries: readonly Forgery[];

  before(async () => {
    stage = await openStageApart({ settings: { TENON_SIGN_UP: 'open' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    otherSite = await startOtherSite();
    program = await startProgram();
    device = await askByDevice(stage.url);
    invitation = await workshop.invite('customers/globex');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    victim = await stage.visitor();
    await victim.open('/');
    await victim.signIn(email, password);
    const { id: userId } = await workshop.call<Me>('GET', '/api/v1/me');
    const code = new URL(invitation).searchParams.get('code');
    const request = new URL(stage.url + program.page()).search.slice(1);
    const approval = { decision: 'approve', scopes: ['read'], userId };
    const mallory = { name: 'Mallory', email: 'mallory@example.org', password: 'nine brass moths in relay 70' };
    const post = (path: string, body: unknown): Forgery => ({ method: 'POST', path, body });
    forgeries = [
      post('/session', { email, password }),
      post('/session/sign-up', mallory),
      post('/session/link', { code }),
      post('/session/reset-password', { code, password: mallory.password }),
      post('/session/token', {}),
      post('/session/confirm', { password }),
      post('/session/authorization/view', { request }),
      post('/session/authorization', { request, ...approval }),
      post('/session/device/view', { userCode: device.user_code }),
      post('/session/device', { userCode: device.user_code, ...approval }),
      post('/api/v1/invitations/accept', { code }),
      { method: 'PUT', path: '/api/v1/me', body: { name: 'Mallory' } },
      { method: 'POST', path: '/api/v1/me/deletion', body: { password } },
      { method: 'DELETE', path: '/session', body: undefined },
    ];
  });
  after(async () => {
    await stage.close();
    otherSite.close();
    program.close();
  });

  /** All that a forged request might change, as the server has it. */
  async function state() {
    const [sessions, tokens, me, invitations] = await Promise.all([
      workshop.call<{ objects: Session[] }>('GET', '/api/v1/sessions'),
      workshop.call<{ objects: TokenInfo[] }>('GET', '/api/v1/tokens'),
      workshop.call<Me>('GET', '/api/v1/me'),
      workshop.call<{ objects: Invitation[] }>('GET', `/api/v1/apps/${workshop.app.id}/invitations`),
    ]);
    const cookies = await victim.page.context().cookies();
    return {
      sessions: sessions.objects.map(({ id }) => id),
      tokens: tokens.objects.map(({ id }) => id),
      name: me.name,
      invitations: invitations.objects.map(({ status }) => status),
      cookies: cookies.map(({ name, value }) => `${name}=${value}`),
    };
  }

  /** Does something on a page of the other site. @returns what the server answered meanwhile */
  async function attack(origin: string, act: (page: Page) => Promise<void>): Promise<string[]> {
    const page = await victim.page.context().newPage();
    const answers: Promise<string>[] = [];
    const listen = (response: Response) => {
      if (response.url().startsWith(stage.url)) answers.push(describeAnswer(response));
    };
    page.on('response', listen);
    // What was really sent: Playwright shows the cookies of documents alone.
    const carried: string[] = [];
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Network.enable');
    devTools.on('Network.requestWillBeSentExtraInfo', ({ headers }) => {
      if (headers.Host === new URL(stage.url).host) carried.push(headers.Cookie ?? '');
    });
    await page.goto(origin);
    await act(page);
    page.off('response', listen); // an answer that came later could not be read to its end: its page closes
    const settled = await Promise.all(answers);
    await page.close();
    victim.faults.length = 0; // what the attacking page itself was refused
    const isCarried = carried.some((cookies) => cookies.includes('tenon-session-'));
    assert.equal(isCarried, origin === otherSite.sameSite, 'the browser itself helps against other sites alone');
    return settled;
  }

  async function describeAnswer(response: Response): Promise<string> {
    const isSet = 'set-cookie' in (await response.allHeaders());
    return `${response.request().method()} ${response.status()}${isSet ? ' with a cookie' : ''}`;
  }

  const origins = () => [otherSite.sameSite, otherSite.crossSite] as const;

  it('change and learn nothing by fetch, whatever they make of the body', async () => {
    const was = await state();
    for (const origin of origins()) {
      let readable: string[] = [];
      const answers = await attack(origin, async (page) => {
        readable = await page.evaluate(
          async ([base, list]) => {
            const learned: string[] = [];
            for (const { method, path, body } of list) {
              const json = JSON.stringify(body);
              const ways: RequestInit[] = [
                { method, body: json, headers: { 'content-type': 'application/json' } },
                { method, body: json, headers: { 'content-type': 'text/plain' } },
                { method, body: new Blob([json]) },
                { method: 'POST', mode: 'no-cors', body: json },
                { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ [json ?? '']: '' }) },
                { method: 'GET', mode: 'no-cors' },
              ];
              for (const way of ways) {
                if (way.method === 'GET') delete way.body;
                const response = await fetch(base + path, { credentials: 'include', ...way }).catch(() => undefined);
                if (response !== undefined && response.type !== 'opaque') learned.push(`${method} ${path}`);
              }
              navigator.sendBeacon(base + path, new Blob([json], { type: 'text/plain' }));
            }
            return learned;
          },
          [stage.url, forgeries] as const,
        );
      });
      assert.deepEqual(readable, [], origin);
      assert.ok(answers.length > forgeries.length, 'they reached the server');
      assert.deepEqual(new Set(answers.filter((answer) => !/^(OPTIONS 204|\w+ 4\d\d)$/.test(answer))), new Set());
    }
    assert.deepEqual(await state(), was);
  });

  it('change nothing by forms', async () => {
    const was = await state();
    for (const origin of origins()) {
      const answers = await attack(origin, async (page) => {
        for (const encoding of ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']) {
          for (const { path, body } of forgeries) {
            await page.goto(origin);
            await Promise.all([
              page.waitForURL(stage.url + path),
              page.evaluate(sendForm, [stage.url + path, encoding, JSON.stringify(body ?? {})] as const),
            ]);
          }
        }
      });
      assert.equal(answers.filter((answer) => answer.startsWith('POST')).length, 3 * forgeries.length);
      assert.deepEqual(
        answers.filter((answer) => /^POST/.test(answer) && !/^POST 4\d\d$/.test(answer)),
        [],
      );
    }
    assert.deepEqual(await state(), was);
  });

  it('use up nothing by pictures, scripts, styles, links and frames', async () => {
    const was = await state();
    const paths = ['/session', '/session/token', '/session/device', '/api/v1/me', invitation.slice(stage.url.length)];
    for (const origin of origins()) {
      const answers = await attack(origin, async (page) => {
        await page.evaluate(
          async ([base, list]) => {
            for (const path of list) {
              for (const [name, attribute] of [
                ['img', 'src'],
                ['script', 'src'],
                ['link', 'href'],
                ['iframe', 'src'],
                ['object', 'data'],
              ] as const) {
                const element = document.createElement(name);
                if (name === 'link') element.setAttribute('rel', 'stylesheet');
                element.setAttribute(attribute, base + path);
                const settled = new Promise((resolve) => {
                  element.addEventListener('load', resolve);
                  element.addEventListener('error', resolve);
                  setTimeout(resolve, 1_000);
                });
                document.body.append(element);
                await settled;
              }
            }
          },
          [stage.url, paths] as const,
        );
      });
      assert.ok(answers.length >= paths.length);
      assert.deepEqual(
        answers.filter((answer) => answer.includes('cookie')),
        [],
      );
    }
    assert.deepEqual(await state(), was);
  });

  it('show none of our pages in a frame, and keep no hold of a window that they open', async () => {
    const paths = ['/', '/account', '/device', program.page(), '/accept-invite', '/sign-in', '/reference/errors'];
    for (const origin of origins()) {
      await attack(origin, async (page) => {
        for (const path of paths) {
          await page.evaluate((src) => {
            const frame = document.createElement('iframe');
            frame.src = src;
            document.body.append(frame);
            return new Promise((resolve) => frame.addEventListener('load', resolve));
          }, stage.url + path);
        }
        const shown = page
          .frames()
          .slice(1)
          .map((frame) => frame.url());
        assert.equal(shown.length, paths.length);
        assert.deepEqual(new Set(shown), new Set(['chrome-error://chromewebdata/']));

        const [opened] = await Promise.all([
          page.context().waitForEvent('page'),
          page.evaluate((target) => {
            Object.assign(window, { opened: window.open(target) });
          }, stage.url + program.page()),
        ]);
        await opened.getByRole('heading', { name: 'Approve this login?' }).waitFor();
        const hold = await page.evaluate(() => (window as unknown as { opened: Window }).opened.closed);
        assert.equal(hold, true, 'to its opener the window looks closed');
        assert.equal(await opened.evaluate(() => window.opener), null);
        await opened.close();
      });
    }
  });

  it('have approved no login and ended no session', async () => {
    assert.equal(program.answers.length, 0);
    const asked = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: device.device_code };
    assert.equal((await postForm(`${stage.url}/oauth/token`, asked)).json.error, 'authorization_pending');
    await victim.open('/account');
    await victim.page.getByRole('heading', { name: 'Your account' }).waitFor();
    const { account } = await victim.page.evaluate(
      async (url) => (await (await fetch(`${url}/session`)).json()) as SessionState,
      stage.url,
    );
    assert.equal(account?.name, 'Demo owner');
  });
});

/** In the browser: sends JSON by a form, as far as one can. */
function sendForm([action, enctype, json]: readonly [string, string, string]): void {
  const form = document.createElement('form');
  Object.assign(form, { action, enctype, method: 'post' });
  const input = document.createElement('input');
  // As `text/plain` it comes out as `{…,"x":"="}`: sound JSON.
  Object.assign(input, { type: 'hidden', name: `${json.slice(0, -1)}${json === '{}' ? '' : ','}"x":"`, value: '"}' });
  form.append(input);
  document.body.append(form);
  form.submit();
}
