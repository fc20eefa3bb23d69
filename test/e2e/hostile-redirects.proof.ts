import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { noBrowser, openStageApart, type StageApart, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { type Program, startProgram } from './helpers/oauth.ts';
import { fillInSignIn } from './helpers/pages.ts';

/** Redirect targets of an attacker. */
const elsewhere = [
  'https://evil.example/',
  '//evil.example/',
  String.raw`/\evil.example/`,
  String.raw`\\evil.example`,
  'javascript:document.title="hit"',
  ' javascript:document.title="hit"',
  'data:text/html,<title>hit</title>',
  '%2f%2fevil.example',
];

describe('addresses that would lead elsewhere', { skip: noBrowser }, () => {
  let stage: StageApart;
  let email: string;
  let password: string;
  let program: Program;
  before(async () => {
    stage = await openStageApart();
    ({ TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart);
    program = await startProgram();
  });
  after(async () => {
    await stage.close(); // fails on a request to another host
    program.close();
  });

  async function signedIn(): Promise<Visitor> {
    const visitor = await stage.visitor();
    await visitor.open('/');
    await visitor.signIn(email, password);
    return visitor;
  }

  it('are no answer of the server to any path', async () => {
    const paths = [
      ...elsewhere.map((target) => `/${target}`),
      '//evil.example',
      '//evil.example/%2e%2e',
      '/evil.example//..',
      '/sign-in//evil.example',
      '/.//evil.example',
      '/assets//evil.example/',
      '/apps//evil.example/',
      ...['next', 'return', 'return_to', 'redirect', 'redirect_uri', 'url', 'continue'].flatMap((name) =>
        elsewhere.map((target) => `/sign-in?${name}=${encodeURIComponent(target)}`),
      ),
    ];
    for (const path of paths) {
      const response = await fetch(stage.url + encodeURI(path), { redirect: 'manual' });
      const location = response.headers.get('location');
      const isHere = location === null || new URL(location, stage.url).origin === new URL(stage.url).origin;
      assert.ok(isHere, `${path} leads to ${location}`);
      assert.equal(response.headers.get('refresh'), null);
    }
  });

  it('are not followed after signing in, creating an account or opening a link', async () => {
    const names = ['next', 'return_to', 'redirect_uri', 'continue'];
    const query = names.flatMap((name) => elsewhere.map((target) => `${name}=${encodeURIComponent(target)}`)).join('&');
    const visitor = await stage.visitor();
    const { page } = visitor;
    await visitor.open(`/sign-in?${query}#//evil.example/`);
    await fillInSignIn(page, email, password);
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
    assert.equal(page.url(), `${stage.url}/`);
    for (const path of [
      '/sign-in',
      '/sign-up',
      '/set-up',
      '/accept-invite',
      '/reset-password',
      '/device',
      '/account',
    ]) {
      await visitor.open(`${path}?${query}#//evil.example/`);
      await page.waitForLoadState('networkidle');
      assert.equal(new URL(page.url()).origin, new URL(stage.url).origin);
      assert.notEqual(await page.title(), 'hit');
    }
    await visitor.close();
  });

  it('are followed from no page whose path looks like another host', async () => {
    const visitor = await signedIn();
    const { page } = visitor;
    for (const path of [
      '//evil.example',
      '//evil.example/sign-in',
      String.raw`/\evil.example`,
      '/apps//evil.example',
      '/apps/%2f%2fevil.example',
    ]) {
      await page.goto(stage.url + path).catch(() => undefined);
      await page.waitForLoadState('networkidle');
      const origins = await page.evaluate(() =>
        [...document.querySelectorAll('a')].map(({ href }) => new URL(href).origin),
      );
      assert.deepEqual(
        origins.filter((origin) => origin !== new URL(stage.url).origin),
        [],
        path,
      );
      assert.equal(new URL(page.url()).origin, new URL(stage.url).origin);
    }
    await visitor.close();
  });

  it('get no code of a login, nor an error: its answer goes to a port of this machine alone', async () => {
    const visitor = await signedIn();
    const { page } = visitor;
    const { port } = new URL(program.redirectUri);
    for (const redirectUri of [
      ...elsewhere,
      'https://evil.example/callback',
      `https://127.0.0.1:${port}/callback`,
      `http://127.0.0.1:${port}/`,
      `http://127.0.0.1:${port}/callback/..`,
      `http://127.0.0.1:${port}/callback/`,
      `http://127.0.0.1:${port}/callback?x=1`,
      `http://127.0.0.1:${port}/callback#x`,
      `http://127.0.0.1:${port}@evil.example/callback`,
      `http://evil.example@127.0.0.1:${port}/callback`,
      `http://127.0.0.1.evil.example:${port}/callback`,
      `http://localhost:${port}/callback`,
      `http://localhost.evil.example:${port}/callback`,
      `http://[::ffff:127.0.0.1]:${port}/callback`,
      `http://127.1:${port}/callback`,
      `http://2130706433:${port}/callback`,
      `http://0.0.0.0:${port}/callback`,
      'http://127.0.0.1/callback',
      `HTTP://127.0.0.1:${port}/callback`,
      `${program.redirectUri}\n`,
      ` ${program.redirectUri}`,
    ]) {
      for (const scope of ['read', 'everything']) {
        const path = program.page({ redirect_uri: redirectUri, scope });
        await page.goto(stage.url + path);
        await page.getByRole('heading', { name: 'This login link isn’t valid' }).waitFor();
        assert.equal(page.url(), stage.url + path, redirectUri);
      }
    }
    await page.goto(
      `${stage.url}${program.page()}&redirect_uri=${encodeURIComponent('https://evil.example/callback')}`,
    );
    await page.getByRole('heading', { name: 'This login link isn’t valid' }).waitFor();
    assert.deepEqual(program.answers, []);
    await visitor.open(program.page({ redirect_uri: `http://[::1]:${port}/callback` }));
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await visitor.close();
  });
});
