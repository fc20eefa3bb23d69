import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { readConsole } from '../src/console/console-files.ts';
import { assertProblem, openService, type ServiceOptions, type TestService } from './helpers/service.ts';

const script = 'console.log("a script that is long enough to be smaller when it is packed");'.repeat(20);
const page = '<!doctype html>\n<html lang="en">\n<head><title>Planted</title></head><body></body></html>\n';

describe('the console', () => {
  let folder: string;
  let service: TestService;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-console-'));
    const assets = join(folder, 'a-build', 'assets');
    mkdirSync(assets, { recursive: true });
    writeFileSync(join(folder, 'current'), 'a-build\n');
    writeFileSync(join(folder, 'a-build', 'index.html'), page);
    writeFileSync(join(folder, 'a-build', 'favicon.ico'), 'an icon');
    writeFileSync(join(folder, 'a-build', 'apple-touch-icon.png'), 'a picture');
    writeFileSync(join(folder, 'a-build', 'robots.txt'), 'User-agent: *\nDisallow: /\n');
    writeFileSync(join(folder, 'secret.js'), 'outside');
    writeFileSync(join(assets, 'main-abc.js'), script);
    writeFileSync(join(assets, 'main-abc.js.br'), brotliCompressSync(script));
    writeFileSync(join(assets, 'main-abc.js.gz'), gzipSync(script));
    writeFileSync(join(assets, 'run.worker-789.js'), 'onmessage = () => undefined;');
    writeFileSync(join(assets, 'look-def.css'), 'body{}');
    writeFileSync(join(assets, 'mark-123.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    writeFileSync(join(assets, 'notes.txt'), 'not an asset');
    service = await openWith({});
  });
  after(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  const openWith = (options: ServiceOptions) =>
    openService({ replace: () => ({ console: readConsole(folder) }), ...options });
  const get = (path: string, headers: Record<string, string> = {}) => service.call('GET', path, { headers });

  it('has one document for all its pages', async () => {
    for (const path of ['/', '/sign-in', '/sign-up', '/set-up', '/reset-password', '/account', '/device']) {
      const { statusCode, payload, headers } = await get(path);
      assert.equal(statusCode, 200, path);
      assert.equal(payload, page.replace('<head>', '<head><base href="/">'), path);
      assert.equal(headers['content-type'], 'text/html; charset=utf-8');
      assert.equal(headers['cache-control'], 'no-store');
    }
    for (const path of ['/oauth/authorize?client_id=x', '/apps/app_x', '/apps/app_x/no/such/page', '/apps/']) {
      assert.equal((await get(path)).statusCode, 200, path);
    }
    for (const path of ['/apps', '/sign-in/', '/nothing']) assertProblem(await get(path), 404, 'not_found');
  });

  it('carries data for its script, which no name in it can end', () => {
    const account = { id: 'usr_x', name: '</script><script>alert(1)</script><!--', email: null } as never;
    const start = { session: { account } as never, accessToken: 'tnn_x' };
    const document = readConsole(folder)?.document('/tenon/', start) ?? '';
    const [, json = ''] = /^<script type="application\/json" id="page-start">([^<]*)<\/script>$/m.exec(
      document.replace('<base href="/tenon/">', '\n').replace('<title>', '\n'),
    ) ?? [document];
    assert.deepEqual(JSON.parse(json), start);
    assert.equal(document.split('<script').length, 2);
  });

  it('shows browsers a page for unknown URLs, and sends programs a problem document', async () => {
    const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8' };
    const { headers: ofPages } = await get('/');
    for (const path of ['/nothing', '/apps', '/documents?page=2', '/sign-up/now', '/index.php/', '/oauth/nothing']) {
      const { statusCode, payload, headers } = await get(path, browser);
      assert.equal(statusCode, 404, path);
      assert.equal(payload, page.replace('<head>', '<head><base href="/">'), path);
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers.vary, 'accept');
      assert.ok(headers['x-request-id']);
      for (const name of ['content-type', 'content-security-policy', 'x-frame-options', 'x-content-type-options']) {
        assert.equal(headers[name], ofPages[name], `${path}: ${name}`);
      }
    }
    const head = await service.call('HEAD', '/nothing', { headers: browser });
    assert.equal(head.statusCode, 404);
    assert.equal(head.payload, '');
    for (const accept of [
      '*/*',
      'application/json',
      'application/json, text/plain, */*',
      'text/html;q=0',
      'text/htmlx',
    ]) {
      assertProblem(await get('/nothing', { accept }), 404, 'not_found');
    }
    for (const path of ['/api/v1/nothing', '//evil.example/', '/assets/none.js']) {
      assertProblem(await get(path, browser), 404, 'not_found');
    }
    assertProblem(await service.call('POST', '/nothing', { headers: browser }), 404, 'not_found');
  });

  it('redirects a URL with a trailing slash', async () => {
    const browser = { accept: 'text/html' };
    const behind = await openWith({ config: { publicUrl: 'https://tenon.example/plugins' } });
    try {
      for (const [path, location] of [
        ['/sign-in/', 'sign-in'],
        ['/account//', 'account'],
        ['/account/tokens/', 'account/tokens'],
        ['/trace/?x=1', 'trace?x=1'],
        ['/accept-invite/?code=a%2Fb?c', 'accept-invite?code=a%2Fb?c'],
        ['/reference/errors/', 'reference/errors'],
      ] as const) {
        for (const [from, base, prefix] of [
          [service, '/', ''],
          [behind, '/plugins/', ''],
          [behind, '/plugins/', '/plugins'],
        ] as const) {
          const { statusCode, headers } = await from.call('GET', prefix + path, { headers: browser });
          assert.equal(statusCode, 308, path);
          assert.equal(headers.location, base + location);
          assert.equal(headers['cache-control'], 'no-store');
        }
      }
    } finally {
      await behind.close();
    }
    assertProblem(await get('/sign-in/'), 404, 'not_found');
  });

  it('has the files that browsers and crawlers request by name', async () => {
    for (const [path, contentType, content] of [
      ['/favicon.ico', 'image/vnd.microsoft.icon', 'an icon'],
      ['/apple-touch-icon.png', 'image/png', 'a picture'],
      ['/robots.txt', 'text/plain; charset=utf-8', 'User-agent: *\nDisallow: /\n'],
    ] as const) {
      const { statusCode, headers, payload } = await get(path, { accept: 'image/*' });
      assert.equal(statusCode, 200, path);
      assert.equal(payload, content);
      assert.equal(headers['content-type'], contentType);
      assert.equal(headers['cache-control'], 'public, max-age=86400');
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal((await get(path, { 'if-none-match': String(headers.etag) })).statusCode, 304);
    }
    assertProblem(await get('/index.html'), 404, 'not_found');
    assertProblem(await get('/manifest.json'), 404, 'not_found');
  });

  it('allows its pages only what they need', async () => {
    const { headers } = await get('/');
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
        "worker-src 'none'; form-action 'none'; base-uri 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['x-frame-options'], 'DENY');
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.match(String(headers['permissions-policy']), /camera=\(\)/);
    assert.equal(headers['access-control-allow-origin'], undefined);
    assert.equal(headers['cross-origin-embedder-policy'], undefined);
  });

  it('isolates pages that run modules, in workers without network access', async () => {
    const { statusCode, headers, payload } = await get('/trace');
    assert.equal(statusCode, 200);
    assert.equal(payload, (await get('/')).payload);
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
        "worker-src 'self'; form-action 'none'; base-uri 'self'; frame-ancestors 'none'; " +
        "require-trusted-types-for 'script'; trusted-types tenon-workers",
    );
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(headers['cross-origin-embedder-policy'], 'require-corp');
    assert.equal(headers['cache-control'], 'no-store');

    const worker = await get('/assets/run.worker-789.js');
    const revalidated = await get('/assets/run.worker-789.js', { 'if-none-match': String(worker.headers.etag) });
    assert.equal(revalidated.statusCode, 304);
    for (const answer of [worker, revalidated]) {
      assert.equal(
        answer.headers['content-security-policy'],
        "default-src 'none'; script-src 'wasm-unsafe-eval'; require-trusted-types-for 'script'; trusted-types 'none'",
      );
      assert.equal(answer.headers['cross-origin-embedder-policy'], 'require-corp');
      assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin');
    }
  });

  it('is below the path of the public URL, and may connect to a separate instrumentation server', async () => {
    const behind = await openWith({
      config: { publicUrl: 'https://tenon.example/a"b/plugins', instrumentUrl: 'https://wasm.example/x' },
    });
    try {
      const { payload, headers } = await behind.call('GET', '/sign-in');
      assert.ok(payload.includes('<base href="/a%22b/plugins/">'), payload);
      assert.match(String(headers['content-security-policy']), /connect-src 'self' https:\/\/wasm\.example;/);
      // A proxy may pass requests on with the prefix or without it.
      assert.equal((await behind.call('GET', '/a%22b/plugins/sign-in')).payload, payload);
      assert.equal((await behind.call('GET', '/a%22b/plugins/assets/main-abc.js')).payload, script);
    } finally {
      await behind.close();
    }
  });

  it('serves immutable files, each with its content type', async () => {
    const expected = {
      'main-abc.js': 'text/javascript; charset=utf-8',
      'look-def.css': 'text/css; charset=utf-8',
      'mark-123.svg': 'image/svg+xml',
    };
    for (const [name, contentType] of Object.entries(expected)) {
      const { statusCode, headers } = await get(`/assets/${name}`);
      assert.equal(statusCode, 200, name);
      assert.equal(headers['content-type'], contentType);
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers.vary, 'accept-encoding');
      assert.equal(headers['access-control-allow-origin'], undefined);
    }
    assert.match(String((await get('/assets/mark-123.svg')).headers['content-security-policy']), /sandbox/);
  });

  it('compresses its files as the browser accepts', async () => {
    const fetchAs = async (acceptEncoding?: string) => {
      const headers = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding };
      const { rawPayload, headers: sent } = await get('/assets/main-abc.js', headers);
      return { rawPayload, encoding: sent['content-encoding'], etag: sent.etag, length: sent['content-length'] };
    };
    const brotli = await fetchAs('gzip, deflate, br, zstd');
    const gzip = await fetchAs('gzip, br;q=0');
    const plain = await fetchAs();
    assert.equal(brotli.encoding, 'br');
    assert.equal(brotliDecompressSync(brotli.rawPayload).toString(), script);
    assert.equal(gzip.encoding, 'gzip');
    assert.equal(gunzipSync(gzip.rawPayload).toString(), script);
    assert.equal(plain.encoding, undefined);
    assert.equal(plain.rawPayload.toString(), script);
    assert.equal(new Set([brotli.etag, gzip.etag, plain.etag]).size, 3, 'each is a representation of its own');
    for (const { length, rawPayload } of [brotli, gzip, plain]) assert.equal(Number(length), rawPayload.length);
    // What has no smaller form goes out as it is.
    assert.equal(
      (await get('/assets/look-def.css', { 'accept-encoding': 'br' })).headers['content-encoding'],
      undefined,
    );
  });

  it('supports conditional requests and HEAD', async () => {
    const first = await get('/assets/main-abc.js', { 'accept-encoding': 'br' });
    const etag = String(first.headers.etag);
    const again = await get('/assets/main-abc.js', { 'accept-encoding': 'br', 'if-none-match': `"x", W/${etag}` });
    assert.equal(again.statusCode, 304);
    assert.equal(again.payload, '');
    for (const name of ['etag', 'vary', 'cache-control']) assert.equal(again.headers[name], first.headers[name]);
    assert.equal((await get('/assets/main-abc.js', { 'if-none-match': etag })).statusCode, 200, 'of another encoding');
    const other = await get('/assets/main-abc.js', { 'if-match': '"x"' });
    assertProblem(other, 412, 'precondition_failed');
    assert.equal(other.headers['cache-control'], 'no-store');

    const head = await service.call('HEAD', '/assets/main-abc.js', { headers: { 'accept-encoding': 'br' } });
    assert.equal(head.payload, '');
    for (const name of ['etag', 'content-type', 'content-encoding', 'content-length']) {
      assert.equal(head.headers[name], first.headers[name], name);
    }
  });

  it('serves only built files, for any path', async () => {
    const base = await service.listen();
    for (const path of [
      '/assets/',
      '/assets/none.js',
      '/assets/main-abc.js.br',
      '/assets/notes.txt',
      '/assets/../../../../etc/passwd',
      '/assets/..%2f..%2fsecret.js',
      '/assets/%2e%2e/%2e%2e/secret.js',
      '/assets/..\\..\\secret.js',
      '/assets//etc/passwd',
      '/assets/main-abc.js%00',
      '/assets/constructor',
      '/assets/__proto__',
    ]) {
      const { statusCode = 0, text } = await rawGet(base, path);
      assert.equal(statusCode, 404, path);
      assert.doesNotMatch(text, /outside|root:/, path);
    }
    assert.equal((await rawGet(base, '/assets/%zz')).statusCode, 400);
    assert.equal((await rawGet(base, '/assets/main%2Dabc.js')).statusCode, 200, 'the same name, escaped');
  });

  it('explains how to build it if it is not built', async () => {
    const without = await openService({ replace: () => ({ console: readConsole(join(folder, 'nowhere')) }) });
    try {
      const { statusCode, payload, headers } = await without.call('GET', '/');
      assert.equal(statusCode, 503);
      assert.equal(headers['content-type'], 'text/html; charset=utf-8');
      assert.match(payload, /<code>npm run setup<\/code>/);
      assertProblem(await without.call('GET', '/assets/main-abc.js'), 404, 'not_found');
    } finally {
      await without.close();
    }
  });

  it('is absent on a server with only the instrumentation endpoint', async () => {
    const alone = await openWith({ config: { only: 'instrument' } });
    try {
      for (const path of ['/', '/sign-in', '/assets/main-abc.js']) {
        assertProblem(await alone.call('GET', path), 404, 'not_found');
      }
    } finally {
      await alone.close();
    }
  });
});

describe('the built console', () => {
  it('is served with all files that its document refers to', async () => {
    const service = await openService();
    try {
      const { payload, statusCode } = await service.call('GET', '/');
      assert.equal(statusCode, 200);
      const names = [...payload.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name = '']) => name);
      assert.ok(names.length >= 3, payload);
      for (const name of names) assert.equal((await service.call('GET', `/${name}`)).statusCode, 200, name);
      assert.doesNotMatch(payload, /<script(?![^>]* src=)|<style|\son\w+=|https?:/, 'nothing that the policy forbids');
    } finally {
      await service.close();
    }
  });
});

/** Sends a path as it is: URL parsers take away what is dangerous in it. */
async function rawGet(base: string, path: string): Promise<{ statusCode: number | undefined; text: string }> {
  const { hostname, port } = new URL(base);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ hostname, port, path }, resolve).on('error', reject).end();
  });
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { statusCode: response.statusCode, text };
}
