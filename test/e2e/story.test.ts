import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { BindingList, SessionToken } from '@tenon/protocol';
import { quiet } from '../../packages/console/test/helpers/quiet.ts';
import { noBrowser, openStageApart } from '../../packages/console/test/helpers/stage.ts';
import { root } from '../helpers/server.ts';
import {
  createAccount,
  createApp,
  createExtensionPoint,
  createToken,
  dropFile,
  emailOf,
  invite,
  password,
} from './helpers/pages.ts';
import { formsOf, watch } from './helpers/witness.ts';

const greet = join(root, 'packages', 'server', 'sample', 'greet.wasm');
const schema = `version: v1-draft
exports:
  greet:
    description: Greets the person in the input.
    input: { type: string, contentType: text/plain; charset=utf-8 }
    output: { type: string, contentType: text/plain; charset=utf-8 }
  count_vowels:
    description: Counts the vowels of the input.
`;

describe('Tenon, from an empty server to a plugin that a host loads', { skip: noBrowser }, () => {
  it('is set up, invites, lets a guest in, takes a plugin, and never tells the guest its key', async () => {
    const stage = await openStageApart({ args: ['--no-demo'], settings: { TENON_LOG_LEVEL: 'trace' } });
    const guestKey = 'customers/zq7-globex';
    try {
      // The first owner, through the link that the server's start has shown.
      const setUpLink = await stage.server.says(/http:\S+\/set-up#code=\S+(?=\s)/);
      const owner = await stage.visitor();
      await owner.page.goto(setUpLink);
      await createAccount(owner.page, 'Olive Owner');
      await owner.page.getByRole('heading', { name: 'No applications yet' }).waitFor();
      const appId = await createApp(owner.page, 'Acme Spreadsheet');
      const pointId = await createExtensionPoint(owner.page, 'Cell functions', schema);
      await owner.open(`/apps/${appId}/guests`);
      const link = await invite(owner.page, guestKey);
      await owner.page.getByRole('link', { name: guestKey }).waitFor();
      await owner.open('/account/tokens');
      const hostToken = await createToken(owner.page, 'spreadsheet host');

      // A guest, in a browser that knows nothing, with a file of their own.
      const guest = await stage.visitor();
      const { page } = guest;
      const witness = watch(page);
      await page.goto(link);
      await page.getByRole('heading', { name: 'Acme Spreadsheet invites you' }).waitFor();
      await witness.look();
      await page.getByRole('button', { name: 'Create account' }).click();
      await createAccount(page, 'Gustav Guest');
      await page.getByText('You are signed in as Gustav Guest').waitFor();
      await witness.look();
      await page.getByRole('button', { name: 'Accept' }).click();
      await page.getByRole('heading', { name: 'You are a guest of Acme Spreadsheet' }).waitFor();
      await witness.look();
      await page.getByRole('link', { name: 'Go to Acme Spreadsheet' }).click();
      await page.getByRole('link', { name: 'Cell functions' }).click();
      await page.getByText('Greets the person in the input.').waitFor();
      await witness.look();
      await dropFile(page, greet);
      await page
        .getByRole('list', { name: 'Exports that the application expects' })
        .getByText('count_vowels')
        .waitFor();
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      await page.getByText('Version 1 of greet is published').waitFor();
      await witness.look();
      for (const path of ['/', `/apps/${appId}/my-plugins`, '/account', '/account/tokens']) {
        await guest.open(path);
        await quiet(page);
        await witness.look();
      }

      // The host: two calls with its token, and the bytes are those of the guest's file.
      const authorization = `Bearer ${hostToken}`;
      const read = (path: string) => fetch(`${stage.url}/api/v1/${path}`, { headers: { authorization } });
      const listPath = `extension-points/${pointId}/bindings/${encodeURIComponent(guestKey)}`;
      const list = (await (await read(listPath)).json()) as BindingList;
      assert.deepEqual(Object.keys(list), ['greet']);
      const { contentAddress = '' } = list.greet ?? {};
      const content = Buffer.from(await (await read(`c/${contentAddress}`)).arrayBuffer());
      assert.deepEqual(content, await readFile(greet));
      assert.equal(createHash('sha256').update(content).digest('base64url'), contentAddress);
      assert.ok(await WebAssembly.compile(content));

      // The team sees it too.
      await owner.open(`/apps/${appId}/guests`);
      await owner.page.getByRole('link', { name: guestKey }).click();
      const row = owner.page.getByRole('table', { name: 'Plugins' }).getByRole('row').nth(1);
      assert.match(await row.innerText(), /greet[\s\S]+Gustav Guest/);

      // Nothing that came to the guest held the key, nor anything that the server has written down of it all.
      const reported = await witness.everything();
      assert.ok(reported.includes(appId) && reported.includes('Gustav Guest'), 'the witness looked');
      const guestAnswers = await asGuest(stage.url, { listPath, appId, guestKey });
      for (const form of [...formsOf(guestKey), 'zq7']) {
        assert.ok(!reported.includes(form), `the guest saw ${form}`);
        assert.ok(!guestAnswers.includes(form), `an answer held ${form}`);
        assert.ok(!stage.server.output().includes(form), `the log holds ${form}`);
      }
      assert.match(stage.server.output(), /bindings\/\*/, 'the log has the routes');
    } finally {
      await stage.close();
    }
  });
});

/** What a guest's own token gets where the key is part of the question, or of what the team sees. */
async function asGuest(
  url: string,
  { listPath, appId, guestKey }: { readonly listPath: string; readonly appId: string; readonly guestKey: string },
): Promise<string> {
  const headers = { 'content-type': 'application/json', origin: url };
  const post = (path: string, body: unknown, cookie: string) =>
    fetch(url + path, { method: 'POST', headers: { ...headers, cookie }, body: JSON.stringify(body) });
  const signedIn = await post('/session', { email: emailOf('Gustav Guest'), password }, '');
  const cookie = signedIn.headers
    .getSetCookie()
    .map((field) => field.split(';')[0])
    .join('; ');
  const { accessToken } = (await (await post('/session/token', {}, cookie)).json()) as SessionToken;
  const answers = [];
  for (const [method, path, status] of [
    ['GET', listPath, 403],
    ['GET', `${listPath}-not`, 403],
    ['GET', `apps/${appId}/guests`, 403],
    ['GET', `apps/${appId}/invitations`, 403],
    ['GET', `apps/${appId}`, 200],
    ['GET', 'apps', 200],
    ['GET', 'me', 200],
    ['POST', `apps/${appId}/guests`, 403],
  ] as const) {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${accessToken}` },
      ...(method === 'POST' ? { body: JSON.stringify({ deliveryMethod: 'link', guestKey }) } : {}),
    });
    assert.equal(response.status, status, path);
    answers.push(JSON.stringify([...response.headers]), await response.text());
  }
  return answers.join('\n');
}
