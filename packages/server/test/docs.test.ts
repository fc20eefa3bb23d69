import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { readDocs } from '../src/docs/docs-files.ts';
import { assertProblem, openService, type ServiceOptions, type TestService } from './helpers/service.ts';

const page = (path: string, title: string, html: string) => ({ path, title, html, headings: [] });
const long = '<p>A paragraph that is long enough to be smaller when it is compressed.</p>'.repeat(30);

const sections = (text: string) => [{ path: 'how-to/log-in', page: 'Log in', title: '', text }];

/** A build of three pages. */
const built = {
  style: 'body { color: red }',
  script: 'console.log("a frame")',
  nav: [{ title: 'Guides', pages: [{ path: 'how-to/log-in', title: 'Log in' }] }],
  pages: [
    page('', 'Documentation', '<h1>Documentation</h1>'),
    page('how-to/log-in', 'Log in', `<h1>Log in</h1><code>https://plugins.example.org/packages</code>${long}`),
    page('decisions', 'Decisions', '<h1>Decisions</h1>'),
  ],
  images: ['images/a-0011.webp', 'images/b-2233.svg'],
};

describe('/docs', () => {
  let folder: string;
  let service: TestService;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-docs-'));
    mkdirSync(join(folder, 'a-build', 'images'), { recursive: true });
    writeFileSync(join(folder, 'current'), 'a-build\n');
    writeFileSync(join(folder, 'secret.webp'), 'outside');
    writeFileSync(join(folder, 'a-build', 'images', 'a-0011.webp'), 'a picture');
    writeFileSync(join(folder, 'a-build', 'images', 'b-2233.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    writeFileSync(join(folder, 'a-build', 'docs.json'), JSON.stringify(built));
    writeFileSync(join(folder, 'a-build', 'search.json'), JSON.stringify(sections('https://plugins.example.org')));
    service = await openWith({ config: { publicReadsPerMinute: 1000 } });
  });
  after(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  const openWith = (options: ServiceOptions) =>
    openService({ replace: () => ({ docs: readDocs(folder) }), ...options });
  const get = (path: string, headers: Record<string, string> = {}) => service.call('GET', path, { headers });

  it('shows pages in a frame, with a policy that allows only its own script and style', async () => {
    for (const [path, title] of [
      ['/docs', 'Tenon documentation'],
      ['/docs/how-to/log-in', 'Log in · Tenon documentation'],
    ] as const) {
      const { statusCode, headers, payload } = await get(path);
      assert.equal(statusCode, 200);
      assert.equal(headers['content-type'], 'text/html; charset=utf-8');
      assert.equal(headers['cache-control'], 'public, max-age=300');
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.match(
        String(headers['content-security-policy']),
        /^default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-/,
      );
      assert.doesNotMatch(String(headers['content-security-policy']), /unsafe|\*/);
      assert.ok(payload.includes(`<title>${title}</title>`), path);
      assert.ok(
        payload.includes(`<style>${built.style}</style>`) && payload.includes(`<script>${built.script}</script>`),
      );
      assert.ok(payload.includes('<a href="/docs/how-to/log-in"'));
    }
    assert.ok(
      (await get('/docs/how-to/log-in')).payload.includes('<a href="/docs/how-to/log-in" aria-current="page">'),
    );
  });

  it("uses the server's own URL in examples, and below the path of its public URL", async () => {
    assert.ok((await get('/docs/how-to/log-in')).payload.includes('<code>http://localhost:8366/packages</code>'));
    assert.deepEqual((await get('/docs/search.json')).json(), sections('http://localhost:8366'));
    const behind = await openWith({ config: { publicUrl: 'https://tenon.example/x' } });
    try {
      const { payload } = await behind.call('GET', '/docs/how-to/log-in');
      assert.ok(payload.includes('<code>https://tenon.example/x/packages</code>'));
      assert.ok(payload.includes('href="/x/docs/how-to/log-in"') && payload.includes('data-root="/x/"'));
      assert.equal((await behind.call('GET', '/x/docs/decisions/')).headers.location, '/x/docs/decisions');
    } finally {
      await behind.close();
    }
  });

  it('compresses pages, and does not send unchanged ones again', async () => {
    const { headers, rawPayload } = await get('/docs/how-to/log-in', { 'accept-encoding': 'br' });
    assert.equal(headers['content-encoding'], 'br');
    assert.equal(headers.vary, 'accept-encoding');
    assert.equal(brotliDecompressSync(rawPayload).toString(), (await get('/docs/how-to/log-in')).payload);
    const etag = String(headers.etag);
    const unchanged = await get('/docs/how-to/log-in', { 'accept-encoding': 'br', 'if-none-match': etag });
    assert.equal(unchanged.statusCode, 304);
    assert.equal(unchanged.payload, '');
    assert.notEqual((await get('/docs/how-to/log-in')).headers.etag, etag);
    assertProblem(await get('/docs/how-to/log-in', { 'if-match': '"other"' }), 412, 'precondition_failed');
    const head = await service.call('HEAD', '/docs');
    assert.equal(head.statusCode, 200);
    assert.equal(head.payload, '');
  });

  it('serves images forever, and no other file', async () => {
    const { headers, payload } = await get('/docs/images/a-0011.webp');
    assert.equal(payload, 'a picture');
    assert.equal(headers['content-type'], 'image/webp');
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.match(String((await get('/docs/images/b-2233.svg')).headers['content-security-policy']), /sandbox$/);
    for (const path of [
      'docs.json',
      '..%2Fsecret.webp',
      '../secret.webp',
      'images/%2e%2e/docs.json',
      'current',
      'images/',
    ]) {
      const { statusCode, payload } = await get(`/docs/${path}`);
      assert.equal(statusCode, 404, path);
      assert.doesNotMatch(payload, /outside/);
    }
  });

  it('redirects the names of the source files, and shows a page for unknown ones', async () => {
    for (const [path, location] of [
      ['/docs/', '/docs'],
      ['/docs/README.md', '/docs'],
      ['/docs/how-to/log-in.md', '/docs/how-to/log-in'],
      ['/docs/how-to/log-in/', '/docs/how-to/log-in'],
      ['/docs/decisions/README.md', '/docs/decisions'],
    ] as const) {
      const { statusCode, headers } = await get(path);
      assert.equal(statusCode, 308, path);
      assert.equal(headers.location, location);
    }
    for (const path of [
      '/docs/nothing',
      '/docs/how-to',
      '/docs/__proto__',
      '/docs/%3Cscript%3E',
      '/docs//evil.example',
      `/docs/${'/'.repeat(8000)}x`,
    ]) {
      const { statusCode, headers, payload } = await get(path);
      assert.equal(statusCode, 404, path);
      assert.equal(headers['cache-control'], 'no-store');
      assert.ok(payload.includes('<h1>Page not found</h1>'));
    }
    assertProblem(await service.call('POST', '/docs', {}), 405, 'method_not_allowed');
  });

  it('shows the reference of errors in the same frame', async () => {
    const { payload } = await get('/reference/errors');
    assert.ok(payload.includes('<section id="not_found">'));
    assert.ok(payload.includes('<a href="/docs"') && payload.includes(built.script));
    const bare = await openService({ replace: () => ({ docs: undefined }) });
    try {
      assert.ok((await bare.call('GET', '/reference/errors')).payload.includes('<section id="not_found">'));
      const { statusCode, payload } = await bare.call('GET', '/docs');
      assert.equal(statusCode, 503);
      assert.match(payload, /npm run setup/);
    } finally {
      await bare.close();
    }
  });

  it('limits the requests of an address, together with those for packages', async () => {
    const limited = await openWith({ config: { publicReadsPerMinute: 3 } });
    try {
      for (const path of ['/docs', '/docs/search.json', '/packages']) {
        assert.equal((await limited.call('GET', path)).statusCode, 200, path);
      }
      for (const path of ['/docs', '/docs/nothing', '/packages']) {
        assertProblem(await limited.call('GET', path), 429, 'rate_limited');
      }
      assert.equal((await limited.call('GET', '/reference/errors')).statusCode, 200);
    } finally {
      await limited.close();
    }
  });

  it('has no build in a folder without one', () => assert.equal(readDocs(join(folder, 'nowhere')), undefined));
});

describe('the documentation', () => {
  it('has no dead link on a server: pages, anchors, images, and other routes', async () => {
    const service = await openService({ config: { publicReadsPerMinute: 10_000 } });
    try {
      const documents = new Map<string, string>();
      const queue = ['/docs', '/reference/errors'];
      const links: { readonly from: string; readonly url: URL }[] = [];
      for (const path of queue) {
        const { statusCode, headers, payload } = await service.call('GET', path, { headers: { accept: 'text/html' } });
        assert.equal(statusCode, 200, `${path}, linked from ${links.find(({ url }) => url.pathname === path)?.from}`);
        if (!String(headers['content-type']).startsWith('text/html')) continue;
        documents.set(path, payload);
        if (!/^\/(?:docs|reference)\b/.test(path)) continue; // a page of the console
        for (const [, target = ''] of payload.matchAll(/\b(?:href|src)="([^"]*)"/g)) {
          const url = new URL(target.replaceAll('&amp;', '&'), `http://localhost:8366${path}`);
          if (url.origin !== 'http://localhost:8366') continue;
          links.push({ from: path, url });
          if (!queue.includes(url.pathname)) queue.push(url.pathname);
        }
      }
      for (const { from, url } of links) {
        const id = decodeURIComponent(url.hash.slice(1));
        if (id === '') continue;
        assert.ok(documents.get(url.pathname)?.includes(` id="${id}"`), `${from} links to ${url.pathname}${url.hash}`);
      }
      const { docs } = service.services;
      assert.ok(docs !== undefined && docs.paths.length > 80, 'the documentation is built');
      for (const path of docs.paths) {
        const url = path === '' ? '/docs' : `/docs/${path}`;
        assert.ok(documents.has(url), `no page links to ${url}`);
        const document = documents.get(url) ?? '';
        assert.equal(document.split('<h1').length, 2, `${url} has one first heading`);
        const ids = [...document.matchAll(/ id="([^"]*)"/g)].map((match) => match[1]);
        assert.equal(new Set(ids).size, ids.length, `${url} uses each id once`);
      }
      const sections: readonly { readonly path: string }[] = (await service.call('GET', '/docs/search.json')).json();
      for (const { path } of sections) {
        const [page = '', id] = path.split('#');
        const document = documents.get(page === '' ? '/docs' : `/docs/${page}`);
        assert.ok(document !== undefined && (id === undefined || document.includes(` id="${id}"`)), path);
      }
    } finally {
      await service.close();
    }
  });
});
