import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CurlResult, curl } from './helpers/curl.ts';
import { type RunningServer, root, startServer } from './helpers/server.ts';

const sample = join(root, 'packages', 'server', 'sample', 'greet.wasm');

// Each step builds on the ones before it, as the README tells it.
describe('the whole story, by curl alone', () => {
  let server: RunningServer;
  let token: string[];
  let apiKey: string[];
  let api: string;
  let instrumentUrl: string;
  let bindings: string;
  let link: URL;
  let list: CurlResult;

  before(async () => {
    server = await startServer();
    const { TENON_URL, TENON_TOKEN, TENON_API_KEY, TENON_EXTENSION_POINT_ID } = server.quickstart;
    api = `${TENON_URL}/api/v1`;
    instrumentUrl = `${TENON_URL}/instrument`;
    token = ['-H', `authorization: Bearer ${TENON_TOKEN}`];
    apiKey = ['-H', `Authorization: Bearer ${TENON_API_KEY}`];
    bindings = `${api}/extension-points/${TENON_EXTENSION_POINT_ID}/bindings`;
  });
  after(() => server.stop());

  it('invites a guest', async () => {
    const answer = await run(
      ...token,
      ...json({ deliveryMethod: 'link', guestKey: 'acme/läden' }),
      `${api}/apps/${server.quickstart.TENON_APP_ID}/guests`,
    );
    assert.equal(answer.status, 200);
    const { status, link: text, ...rest } = parse(answer) as { status: string; link: string };
    assert.equal(status, 'ok');
    assert.deepEqual(rest, {});
    link = new URL(text);
    assert.equal(`${link.origin}${link.pathname}`, `${server.quickstart.TENON_URL}/accept-invite`);
  });

  it('opens the link, which changes nothing, and accepts', async () => {
    const page = await run(link.href);
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);

    const code = link.searchParams.get('code');
    const accepted = await run(...token, ...json({ code }), `${api}/invitations/accept`);
    assert.equal(accepted.status, 200);
    assert.equal((parse(accepted) as { status: string }).status, 'accepted');

    const again = await run(...token, ...json({ code }), `${api}/invitations/accept`);
    assert.equal(again.status, 410);
    assert.equal((parse(again) as { code: string }).code, 'invitation_used');
  });

  it('lists nothing for the guest until something is published', async () => {
    const answer = await run(...token, `${bindings}/${encodeURIComponent('acme/läden')}`);
    assert.equal(answer.status, 200);
    assert.equal(answer.body.toString(), '{}');
  });

  it('publishes a plugin as a form and as a raw body', async () => {
    const { TENON_EXTENSION_POINT_ID, TENON_USER_ID } = server.quickstart;
    const artifacts = `${api}/artifacts/${TENON_EXTENSION_POINT_ID}/plugin/${TENON_USER_ID}`;
    const form = await run(...token, '-X', 'PUT', '-F', `artifact=@${sample}`, `${artifacts}/hello`);
    assert.ok(form.status === 200 || form.status === 201, `${form.status} ${form.body}`);
    const plugin = parse(form) as Record<string, string>;
    assert.equal(plugin.id, `${TENON_EXTENSION_POINT_ID}/plugin/${TENON_USER_ID}/hello`);
    assert.equal(plugin.extensionPointId, TENON_EXTENSION_POINT_ID);
    assert.equal(plugin.name, 'hello');
    for (const time of [plugin.createdAt, plugin.updatedAt]) assert.match(time ?? '', isoTime);

    const raw = await run(...token, '-T', sample, '-H', 'content-type: application/wasm', `${artifacts}/constructor`);
    assert.ok(raw.status === 200 || raw.status === 201, `${raw.status} ${raw.body}`);
  });

  it('lists what is bound, with the guest key in both forms of the path, and 304 while it is unchanged', async () => {
    list = await run(...token, `${bindings}/${encodeURIComponent('acme/läden')}`);
    assert.equal(list.status, 200);
    const entries = parse(list) as Record<string, Record<string, string>>;
    assert.deepEqual(Object.keys(entries), ['constructor', 'hello']);
    for (const entry of Object.values(entries)) {
      assert.deepEqual(Object.keys(entry).sort(), ['contentAddress', 'id', 'updatedAt']);
      assert.match(entry.updatedAt ?? '', isoTime);
    }
    const raw = await run(...token, `${bindings}/acme/läden`);
    assert.deepEqual(raw.body, list.body);

    const etag = list.headers.get('etag') ?? '';
    assert.match(etag, /^"[^"]+"$/);
    const unchanged = await run(...token, '-H', `if-none-match: ${etag}`, `${bindings}/acme/läden`);
    assert.equal(unchanged.status, 304);
    assert.equal(unchanged.body.length, 0);
    assert.equal(unchanged.headers.get('etag'), etag);

    const stranger = await run('-H', `if-none-match: ${etag}`, `${bindings}/acme/läden`);
    assert.equal(stranger.status, 401, 'a condition is not looked at before the credentials');
  });

  it('fetches the plugin, whose bytes are those of its address', async () => {
    const { hello } = parse(list) as { hello: { contentAddress: string } };
    const answer = await run(...token, '--fail', '-o', 'plugin.wasm', `${api}/c/${hello.contentAddress}`);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/wasm');
    assert.match(answer.headers.get('cache-control') ?? '', /immutable/);
    const bytes = readFileSync(join(server.folder, 'plugin.wasm'));
    assert.equal(createHash('sha256').update(bytes).digest('base64url'), hello.contentAddress);
    assert.deepEqual(bytes, readFileSync(sample));
  });

  it('instruments every function without a configuration', async () => {
    const answer = await instrument('traced.wasm', '-F', 'wasm=@plugin.wasm');
    assert.equal(answer.headers.get('content-type'), 'application/wasm');
    assert.deepEqual(await observeImports('traced.wasm'), ['enter', 'exit']);
    assert.ok(Number(answer.headers.get('instrumented-functions')) > 2);
  });

  const config = '{"allowed":["greet"]}';
  const forms: [name: string, ...args: string[]][] = [
    ['an inline string', '-F', 'wasm=@plugin.wasm', '-F', `config=${config}`],
    ['an inline string before the module', '-F', `config=${config}`, '-F', 'wasm=@plugin.wasm'],
    ['a file', '-F', 'wasm=@plugin.wasm', '-F', 'config=@config.json'],
    ['a file before the module', '-F', 'config=@config.json', '-F', 'wasm=@plugin.wasm'],
    ["a file's content without its name", '-F', 'wasm=@plugin.wasm', '-F', 'config=<config.json'],
    ['a file of a type of its own', '-F', 'wasm=@plugin.wasm;type=x/y', '-F', 'config=@config.json;type=text/plain'],
  ];
  for (const [name, ...args] of forms) {
    it(`instruments with a configuration sent as ${name}`, async () => {
      writeFileSync(join(server.folder, 'config.json'), config);
      const answer = await instrument('greet-only.wasm', ...args);
      assert.equal(answer.headers.get('instrumented-functions'), '1');
      assert.deepEqual(await observeImports('greet-only.wasm'), ['enter', 'exit']);
    });
  }

  it('leaves out what a configuration bans', async () => {
    const all = await instrument('traced.wasm', '-F', 'wasm=@plugin.wasm');
    const some = await instrument('banned.wasm', '-F', 'wasm=@plugin.wasm', '-F', 'config={"banned":["greet"]}');
    const count = (answer: CurlResult) => Number(answer.headers.get('instrumented-functions'));
    assert.equal(count(some), count(all) - 1);
  });

  const failures: [name: string, status: number, code: string, ...args: string[]][] = [
    ['bytes that are no module', 422, 'not_wasm', '-F', 'wasm=@config.json'],
    [
      'both lists in a configuration',
      422,
      'invalid_config',
      '-F',
      'wasm=@plugin.wasm',
      '-F',
      'config={"allowed":[],"banned":[]}',
    ],
    ['a module that is instrumented already', 422, 'already_instrumented', '-F', 'wasm=@traced.wasm'],
  ];
  for (const [name, status, code, ...args] of failures) {
    it(`writes no output file for ${name} with --fail`, async () => {
      const answer = await run(...apiKey, '--fail', '-o', 'none.wasm', ...args, instrumentUrl);
      assert.equal(answer.exitCode, 22);
      assert.equal(answer.status, status);
      assert.equal(existsSync(join(server.folder, 'none.wasm')), false);

      const problem = await run(...apiKey, ...args, instrumentUrl);
      assert.match(problem.headers.get('content-type') ?? '', /^application\/problem\+json/);
      assert.equal((parse(problem) as { code: string }).code, code);
    });
  }

  it('writes no output file for a wrong key, or for content that is not there, with --fail', async () => {
    const wrongKind = await run(...token, '--fail', '-o', 'none.wasm', '-F', 'wasm=@plugin.wasm', instrumentUrl);
    assert.deepEqual([wrongKind.exitCode, wrongKind.status], [22, 401]);
    const missing = await run(...token, '--fail', '-o', 'none.wasm', `${api}/c/${'A'.repeat(43)}`);
    assert.deepEqual([missing.exitCode, missing.status], [22, 404]);
    assert.equal(existsSync(join(server.folder, 'none.wasm')), false);
  });

  function run(...args: string[]): Promise<CurlResult> {
    return curl(server.folder, ...args);
  }

  async function instrument(output: string, ...args: string[]): Promise<CurlResult> {
    const answer = await run(...apiKey, '--fail', '-o', output, ...args, instrumentUrl);
    assert.deepEqual([answer.exitCode, answer.status], [0, 200]);
    return answer;
  }

  async function observeImports(file: string): Promise<string[]> {
    const module = await WebAssembly.compile(readFileSync(join(server.folder, file)));
    return WebAssembly.Module.imports(module)
      .filter((entry) => entry.module === 'dylibso:observe/instrument')
      .map((entry) => entry.name)
      .sort();
  }
});

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function json(value: object): string[] {
  return ['-H', 'content-type: application/json', '-d', JSON.stringify(value)];
}

function parse(answer: CurlResult): unknown {
  return JSON.parse(answer.body.toString());
}
