import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { stripVTControlCharacters } from 'node:util';
import type { BindingList, SessionState } from '@tenon/protocol';
import { start } from '../../packages/cli/test/helpers/binary.ts';
import { newMachine } from '../../packages/cli/test/helpers/machine.ts';
import { noBrowser, openStageApart, type StageApart, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { root } from '../helpers/server.ts';
import { type Front, startFront } from './helpers/front.ts';
import {
  createAccount,
  createApp,
  createExtensionPoint,
  createToken,
  dropFile,
  emailOf,
  fillInSignIn,
  invite,
  password,
} from './helpers/pages.ts';

const greet = join(root, 'packages', 'server', 'sample', 'greet.wasm');
const prefix = '/tools/tenon';

describe('a server behind TLS and below a path', { skip: noBrowser || whyNoOpenssl() }, () => {
  const trusted = getCACertificates('default');
  let folder: string;
  let front: Front;
  let stage: StageApart;
  let owner: Visitor;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-test-'));
    front = await startFront(folder, prefix);
    setDefaultCACertificates([...trusted, front.certificate]);
    stage = await openStageApart({
      args: ['--no-demo'],
      settings: {
        TENON_PORT: String(front.serverPort),
        TENON_PUBLIC_URL: front.publicUrl,
        TENON_TRUSTED_PROXIES: '127.0.0.1',
      },
    });
    assert.equal(stage.url, front.publicUrl);
    owner = await stage.visitor({ ignoreHTTPSErrors: true });
    watchPaths(owner);
    const setUpLink = await stage.server.says(/https:\S+\/set-up#code=\S+(?=\s)/);
    await owner.page.goto(setUpLink);
    await createAccount(owner.page, 'Olive Owner');
    await owner.page.getByRole('heading', { name: 'No applications yet' }).waitFor();
  });
  after(async () => {
    await stage.close();
    front.close();
    setDefaultCACertificates(trusted);
    await rm(folder, { recursive: true, force: true });
  });

  /** Each request of a page is below the path; other paths belong to other sites. */
  function watchPaths({ page, faults }: Visitor): void {
    page.on('request', (request) => {
      const url = request.url();
      const isBelow = url.startsWith(`${stage.url}/`) || /^(?:data|blob):/.test(url);
      if (!isBelow) faults.push(`a request beside ${prefix}: ${url}`);
    });
  }

  it('keeps its cookies from plain http, from siblings and from scripts', async () => {
    const cookies = await owner.page.context().cookies();
    assert.deepEqual(
      cookies.map(({ name, secure, httpOnly, sameSite, path, domain }) => ({
        name,
        secure,
        httpOnly,
        sameSite,
        path,
        domain,
      })),
      ['__Host-tenon-session', '__Host-tenon-browser'].map((name) => ({
        name,
        secure: true,
        httpOnly: true,
        sameSite: 'Lax',
        path: '/',
        domain: 'localhost',
      })),
    );
    assert.equal(await owner.page.evaluate(() => document.cookie), '');
    const session = cookies.find(({ name }) => name === '__Host-tenon-session')?.value ?? '';
    for (const [name, isKnown] of [
      ['__Host-tenon-session', true],
      ['tenon-session', false],
      [`tenon-session-${new URL(stage.url).port}`, false],
    ] as const) {
      const answer = await fetch(`${stage.url}/session`, { headers: { cookie: `${name}=${session}` } });
      assert.equal(((await answer.json()) as SessionState).account !== null, isKnown, name);
    }
  });

  it('has a console that works from the application to the plugin that a host gets', async () => {
    const { page } = owner;
    const appId = await createApp(page, 'Acme Spreadsheet');
    const pointId = await createExtensionPoint(
      page,
      'Greetings',
      'version: v1-draft\nexports:\n  greet: {}\n  count_vowels: {}\n',
    );
    await page.reload();
    await page.getByRole('heading', { name: 'Greetings', level: 1 }).waitFor();
    await owner.open(`/apps/${appId}/guests`);
    const link = await invite(page, 'customers/globex');
    assert.ok(link.startsWith(`${stage.url}/accept-invite?code=`), link);

    const guest = await stage.visitor({ ignoreHTTPSErrors: true });
    watchPaths(guest);
    await guest.page.goto(link);
    await guest.page.getByRole('button', { name: 'Create account' }).click();
    await createAccount(guest.page, 'Gustav Guest');
    await guest.page.getByRole('button', { name: 'Accept' }).click();
    await guest.page.getByRole('link', { name: 'Go to Acme Spreadsheet' }).click();
    await guest.page.getByRole('link', { name: 'Greetings' }).click();
    await dropFile(guest.page, greet);
    await guest.page.getByRole('button', { name: 'Publish', exact: true }).click();
    await guest.page.getByText('Version 1 of greet is published').waitFor();

    await owner.open('/account/tokens');
    const authorization = `Bearer ${await createToken(page, 'host')}`;
    const path = `/api/v1/extension-points/${pointId}/bindings/customers%2Fglobex`;
    const list = (await (await fetch(stage.url + path, { headers: { authorization } })).json()) as BindingList;
    assert.deepEqual(Object.keys(list), ['greet']);
    await owner.open('/account/tokens');
    await page.getByRole('row').filter({ hasText: '203.0.113.7' }).first().waitFor(); // whom the front named
    await guest.close();
  });

  it('traces modules in a document of its own, isolated and with the workers that lie below the path', async () => {
    const { page } = owner;
    await owner.open('/');
    await page.getByRole('link', { name: 'Trace' }).click();
    await page.getByRole('heading', { name: 'Trace a module' }).waitFor();
    await dropFile(page, greet);
    await page.getByLabel('Input').fill('Ada');
    await page.getByRole('button', { name: 'Run', exact: true }).press('Enter');
    await page.getByText('Hello, Ada!').waitFor();
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    await page.getByRole('link', { name: 'Applications' }).click();
    await page.getByRole('heading', { name: 'Applications', exact: true }).waitFor();
    assert.equal(await page.evaluate(() => crossOriginIsolated), false);
  });

  it('lets the command line in', async (t) => {
    const machine = await newMachine(t);
    const environment = { ...machine.environment, NODE_EXTRA_CA_CERTS: front.certificateFile, DISPLAY: ':0' };
    const { ended } = start(['login', '--server', stage.url], { environment });
    const visitor = await stage.visitor({ ignoreHTTPSErrors: true });
    await visitor.page.goto(await machine.opened());
    await fillInSignIn(visitor.page, emailOf('Olive Owner'), password);
    await Promise.all([
      visitor.page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/callback/),
      visitor.page.getByRole('button', { name: 'Approve' }).click(),
    ]);
    assert.equal(await visitor.page.locator('h1').innerText(), 'Approved');
    visitor.faults.splice(
      0,
      Infinity,
      ...visitor.faults.filter((fault) => !/another host: http:\/\/127\.0\.0\.1:/.test(fault)),
    );
    const { exitCode, stdout, stderr } = await ended;
    assert.equal(exitCode, 0, stderr);
    assert.match(stripVTControlCharacters(stdout), /you are +Olive Owner/);
    const whoami = await start(['whoami', '--json'], { environment }).ended;
    assert.equal(JSON.parse(whoami.stdout).server, stage.url);
    await visitor.close();
  });
});

function whyNoOpenssl(): string | false {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'there is no openssl here to make a certificate with';
  }
}
