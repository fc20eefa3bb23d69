import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Span } from '@tenon/trace';
import { chromeTrace, foldedStacks, speedscope } from '@tenon/trace/formats';
import type { Browser } from 'playwright-core';
import { openChromium, whyNoChromium } from '../../../test/helpers/chromium.ts';
import { makeSpan, smallTrace } from './support/make-span.ts';

const viewerFolder = join(
  dirname(createRequire(import.meta.url).resolve('speedscope/package.json')),
  'dist',
  'release',
);

/** speedscope itself, in a browser, reads what is written for it and for others. */
describe('speedscope reads', { skip: whyNoChromium() ?? false }, () => {
  let browser: Browser;
  let server: Server;
  let origin: string;
  const profiles = new Map<string, string>();

  before(async () => {
    const opened = await openChromium();
    if (typeof opened === 'string') throw new Error(opened);
    browser = opened;
    server = createServer(async (request, response) => {
      const name = basename(new URL(request.url ?? '', 'http://localhost').pathname) || 'index.html';
      const type = name.endsWith('.html') ? 'text/html' : name.endsWith('.js') ? 'text/javascript' : 'text/plain';
      const body = profiles.get(name) ?? (await readFile(join(viewerFolder, name)).catch(() => undefined));
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    await browser?.close();
    server?.close();
  });

  /** What speedscope shows as a table, in nanoseconds: total and self time by name, and what it took the profile for. */
  async function read(file: string, profile: string) {
    profiles.set(file, profile);
    const page = await browser.newPage();
    try {
      const said: string[] = [];
      page.on('console', (message) => said.push(message.text()));
      await page.goto(`${origin}/#profileURL=${encodeURIComponent(`${origin}/${file}`)}&view=sandwich&title=t`);
      await page.getByText('Symbol Name').waitFor();
      const rows = await page.locator('tr').allInnerTexts();
      const kind = said.find((text) => text.startsWith('Importing as '));
      return { kind, rows: rows.slice(1).map((row) => row.replaceAll(/\s+/g, ' ').trim()) };
    } finally {
      await page.close();
    }
  }

  it('its own format', async () => {
    const { kind, rows } = await read('own.json', speedscope(smallTrace()));
    assert.equal(kind, 'Importing as speedscope json file');
    assert.deepEqual(rows.sort(), [
      '1.00ms (7.8%) 1.00ms (7.8%) parse(int)',
      '11.80ms (92%) 11.80ms (92%) run',
      '12.80ms (100%) 3.07µs (0.02%) _start',
      '12.80ms (>99%) 1.41µs (0.01%) main',
    ]);
  });

  it('a trace of Chrome, whose arguments it shows with the name', async () => {
    const { kind, rows } = await read('chrome.json', chromeTrace(smallTrace()));
    assert.equal(kind, 'Importing as Trace Event Format profile');
    assert.deepEqual(rows.map((row) => row.replace(/ \{.*/, '')).sort(), [
      '100.00µs (0.78%) 100.00µs (0.78%) parse(int)',
      '11.80ms (92%) 11.80ms (92%) run',
      '12.80ms (100%) 3.07µs (0.02%) _start',
      '12.80ms (>99%) 1.41µs (0.01%) main',
      '400.00µs (3.1%) 400.00µs (3.1%) parse(int)',
      '500.00µs (3.9%) 500.00µs (3.9%) parse(int)',
    ]);
    assert.ok(rows.some((row) => row.includes('"wasm.function.raw_name":"_Z5parsei"')));
  });

  it('folded stacks', async () => {
    const { kind, rows } = await read('folded.txt', foldedStacks(smallTrace()));
    assert.equal(kind, 'Importing as collapsed stack format');
    assert.deepEqual(rows.sort(), [
      '1,000,000 (7.8%) 1,000,000 (7.8%) parse(int)',
      '11,795,518 (92%) 11,795,518 (92%) run',
      '12,796,930 (>99%) 1,412 (0.01%) main',
      '12,800,000 (100%) 3,070 (0.02%) _start',
    ]);
  });

  it('hostile names, calls without duration, and calls that overlap', async () => {
    const { rows } = await read('hostile.json', speedscope(hostileTrace()));
    assert.ok(
      rows.some((row) => row.endsWith('</script><script>alert(1)</script>')),
      rows.join('\n'),
    );
    const chrome = await read('hostile-chrome.json', chromeTrace(hostileTrace()));
    assert.ok(chrome.rows.length > 0);
  });
});

/** Five calls of which some begin and end in the same nanosecond, and one goes on after the one that began it. */
function hostileTrace(): Span[] {
  return [
    makeSpan({ id: 1, start: 0, end: 5_000, name: '</script><script>alert(1)</script>' }),
    makeSpan({ id: 2, parent: 1, start: 0, end: 0, name: '__proto__' }),
    makeSpan({ id: 3, parent: 2, start: 0, end: 0, name: 'constructor' }),
    makeSpan({ id: 4, parent: 1, start: 4_000, end: 9_000, name: '"}]' }),
    makeSpan({ id: 5, parent: 1, start: 4_500, end: 5_000, name: '' }),
  ];
}
