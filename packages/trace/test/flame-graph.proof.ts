import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { flameGraphHtml } from '@tenon/trace/flame-graph';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { openChromium, whyNoChromium } from '../../../test/helpers/chromium.ts';
import type { Span } from '../src/span.ts';
import { makeSpan, smallTrace } from './support/make-span.ts';

/** Names that modules may have, and that would do something in a page that is not careful. */
const hostileNames = [
  '</script><script>window.pwned = 1</script>',
  '<!--<script>',
  '<img src=x onerror="window.pwned = 1">',
  '"><svg onload=window.pwned=1>',
  '{{constructor.constructor("window.pwned=1")()}}',
  '\u202egnp.exe',
  '\u2028\u2029\u0000\u001b[2J',
  '__proto__',
  'constructor',
  '\ud800 half of a pair',
  'x'.repeat(100_000),
];

function hostileTrace(): Span[] {
  const root = makeSpan({ id: 1, name: hostileNames[0] as string, start: 0, end: 1_000_000 });
  const calls = hostileNames.map((name, at) =>
    makeSpan({
      id: at + 2,
      parent: 1,
      name,
      start: at * 80_000,
      end: at * 80_000 + 70_000,
      status: { code: 'error', message: name },
      attributes: new Map([[name, name]]),
    }),
  );
  return [root, ...calls];
}

/** `count` calls, each of which calls a few others, down to those of a microsecond. */
function largeTrace(count: number): Span[] {
  const spans = [makeSpan({ id: 1, name: '_start', start: 0, end: 60_000_000_000 })];
  for (let parent = 0; spans.length < count; parent++) {
    const { startTimeUnixNano: start, endTimeUnixNano: end } = spans[parent] as Span;
    const step = (end - start) / 6n;
    for (let at = 0n; at < 5n && spans.length < count; at++) {
      const made = makeSpan({
        id: spans.length + 1,
        parent: parent + 1,
        name: `function_${spans.length % 300}`,
        start: 0,
        end: 0,
      });
      spans.push({
        ...made,
        startTimeUnixNano: start + at * step,
        endTimeUnixNano: start + at * step + (step * 9n) / 10n,
      });
    }
  }
  return spans;
}

describe('flameGraphHtml()', () => {
  it('is one text that names nothing to be loaded, and whose policy forbids it', () => {
    const html = flameGraphHtml(smallTrace());
    assert.doesNotMatch(html, /\b(?:src|href|url)\s*[=(]|@import|https?:/i);
    assert.match(html, /content="default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}=';/);
  });

  it('has no tag that a name brings', () => {
    const html = flameGraphHtml(hostileTrace(), { title: hostileNames[2] });
    assert.equal(html.match(/<script/g)?.length, 2);
    assert.equal(html.match(/<\/script/g)?.length, 2);
    assert.doesNotMatch(html, /<img|<svg|<!--/);
  });

  it('says so when there is no span', () => {
    assert.match(flameGraphHtml([]), /<p>No span\.<\/p>/);
  });
});

describe('the flame graph in a browser', { skip: whyNoChromium() ?? false }, () => {
  let browser: Browser;
  let folder: string;
  before(async () => {
    const opened = await openChromium();
    if (typeof opened === 'string') throw new Error(opened);
    browser = opened;
    folder = await mkdtemp(join(tmpdir(), 'tenon-flame-graph-'));
  });
  after(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  interface Opened {
    readonly page: Page;
    /** What the page reported: errors, breaches of its policy, requests. */
    readonly faults: string[];
    /** What is said of the chosen call. */
    readonly details: () => Promise<string>;
    readonly close: () => Promise<void>;
  }

  async function open(spans: readonly Span[], colorScheme: 'light' | 'dark' = 'light', width = 1_000): Promise<Opened> {
    const path = join(folder, `${crypto.randomUUID()}.html`);
    await writeFile(path, flameGraphHtml(spans, { initialPages: 17 }));
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 700 } });
    const faults: string[] = [];
    const url = pathToFileURL(path).href;
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => faults.push(message.text()));
    page.on('request', (request) => {
      if (request.url() !== url) faults.push(request.url());
    });
    await page.goto(url);
    await page.getByRole('application').waitFor();
    const details = async () => (await page.locator('.details').innerText()).replaceAll(/\s+/g, ' ');
    return { page, faults, details, close: () => page.close() };
  }

  it('shows hostile names as they are, and nothing of them happens', async () => {
    const { page, faults, details, close } = await open(hostileTrace());
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.match(await details(), /<\/script><script>window\.pwned = 1<\/script>.*failed: <\/script>/);
    await page.getByRole('button', { name: 'Functions' }).click();
    const names = await page.locator('tbody th').allInnerTexts();
    assert.ok(names.includes('\\u{202e}gnp.exe'), 'what turns writing round is shown');
    assert.ok(names.includes('__proto__') && names.includes('<img src=x onerror="window.pwned = 1">'));
    assert.equal(await page.evaluate('window.pwned'), undefined);
    assert.deepEqual(faults, []);
    await close();
  });

  it('zooms and chooses by click and by key, and shows the way to the call', async () => {
    const { page, faults, details, close } = await open(smallTrace());
    const chart = await page.getByRole('application').boundingBox();
    assert.ok(chart);
    const whole = page.getByRole('button', { name: 'Show all' });
    assert.equal(await whole.isDisabled(), true);
    // `run` is the long one in the third row, below the axis and the track of memory.
    await page.mouse.click(chart.x + chart.width / 2, chart.y + 22 + 56 + 2 * 20 + 8);
    assert.match(await details(), /^run time 11\.8 ms \(92\.2 %\).*failed: unreachable/);
    assert.deepEqual(await page.getByRole('navigation').getByRole('button').allInnerTexts(), [
      'all',
      '_start',
      'main',
      'run',
    ]);
    assert.equal(await whole.isDisabled(), false);
    await page.keyboard.press('Escape');
    assert.equal(await whole.isDisabled(), true);
    await page.keyboard.press('ArrowLeft');
    assert.match(await details(), /^parse\(int\) time 100 µs .*in the module _Z5parsei/);
    await page.keyboard.press('ArrowLeft');
    assert.match(await details(), /too short for spans 340 calls, 321 µs/);
    await page.keyboard.press('ArrowUp');
    assert.match(await details(), /^main .*memory \+192 KiB/);
    await page.keyboard.press('Enter');
    assert.equal(await whole.isDisabled(), false);
    await page.getByRole('navigation').getByRole('button', { name: 'all' }).click();
    assert.equal(await whole.isDisabled(), true);
    assert.match(await details(), /^6 spans of 4 functions\./);
    assert.deepEqual(faults, []);
    await close();
  });

  it('zooms around the pointer with Ctrl and the wheel, and moves by dragging without choosing anything', async () => {
    const { page, faults, details, close } = await open(smallTrace());
    const box = await page.getByRole('application').boundingBox();
    assert.ok(box);
    const y = box.y + 22 + 56 + 10;
    const whole = page.getByRole('button', { name: 'Show all' });
    await page.mouse.move(box.x + box.width - 100, y);
    await page.keyboard.down('Control');
    for (let turn = 0; turn < 20; turn++) await page.mouse.wheel(0, -400);
    await page.keyboard.up('Control');
    assert.equal(await whole.isDisabled(), false);
    const before = await details();
    await page.mouse.down();
    await page.mouse.move(box.x + 100, y, { steps: 5 });
    await page.mouse.up();
    assert.equal(await details(), before, 'nothing is chosen');
    // Far right there is but the end of `run`; the left third of the whole would be other calls.
    await page.mouse.click(box.x + box.width / 2, y + 2 * 20);
    assert.match(await details(), /^run /);
    assert.deepEqual(faults, []);
    await close();
  });

  it('searches, says what share of the time was found, and goes from one to the next', async () => {
    const { page, faults, details, close } = await open(smallTrace());
    await page.getByRole('application').press('/');
    await page.keyboard.type('PARSE');
    assert.equal(await page.locator('output').innerText(), '3 spans, 7.8 % of the time');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    assert.match(await details(), /begins at 402 µs/);
    await page.keyboard.press('Shift+Enter');
    assert.match(await details(), /begins at 2\.00 µs/);
    await page.getByRole('button', { name: 'Left heavy' }).click();
    assert.equal(await page.locator('output').innerText(), '3 spans, 7.8 % of the time');
    await page.keyboard.press('Tab');
    await page.getByRole('searchbox').fill('no such function');
    assert.equal(await page.locator('output').innerText(), '0 spans, 0.0 % of the time');
    assert.equal(await page.getByRole('button', { name: 'The next one' }).isDisabled(), true);
    assert.deepEqual(faults, []);
    await close();
  });

  it('has the functions as a table, sorted by what one chooses, which leads back to the flame graph', async () => {
    const { page, faults, details, close } = await open(smallTrace());
    await page.getByRole('button', { name: 'Functions' }).click();
    const names = () => page.locator('tbody th').allInnerTexts();
    assert.deepEqual(await names(), ['run', 'parse(int)', '_start', 'main']);
    await page.getByRole('columnheader', { name: 'Spans' }).getByRole('button').click();
    assert.equal((await names())[0], 'parse(int)');
    await page.getByRole('columnheader', { name: 'Function' }).getByRole('button').click();
    assert.deepEqual(await names(), ['_start', 'main', 'parse(int)', 'run']);
    await page.getByRole('button', { name: 'parse(int)' }).click();
    assert.match(await details(), /^parse\(int\) calls 3 calls/);
    assert.deepEqual(faults, []);
    await close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has nothing that axe-core finds wrong, in ${colorScheme} colours`, async () => {
      const { page, close } = await open(smallTrace(), colorScheme);
      await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
      await page.getByRole('searchbox').fill('parse');
      for (const view of ['Time order', 'Left heavy', 'Functions']) {
        await page.getByRole('button', { name: view }).click();
        const { violations } = await page.evaluate<AxeResults>('axe.run()');
        assert.deepEqual(
          violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => String(target))]),
          [],
          view,
        );
      }
      await close();
    });
  }

  it('has room on a phone', async () => {
    const { page, close } = await open(smallTrace(), 'light', 360);
    for (const view of ['Time order', 'Left heavy', 'Functions']) {
      await page.getByRole('button', { name: view }).click();
      assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 360, view);
    }
    await close();
  });

  it('repaints a hundred thousand spans with work for the pixels, and not for the spans', async () => {
    const { page, faults, details, close } = await open(largeTrace(100_000));
    assert.match(await details(), /^100,000 spans of 301 functions/);
    // How many boxes the canvas is asked for in one painting.
    await page.evaluate(`{
      const { prototype } = CanvasRenderingContext2D;
      const { fillRect } = prototype;
      globalThis.boxes = 0;
      prototype.fillRect = function (...box) { globalThis.boxes += 1; return fillRect.apply(this, box); };
    }`);
    const boxesOf = async (act: () => Promise<unknown>) => {
      await page.evaluate('globalThis.boxes = 0');
      await act();
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      return page.evaluate<number>('globalThis.boxes');
    };
    for (const act of [
      () => page.getByRole('button', { name: 'Zoom in' }).click(),
      () => page.getByRole('searchbox').fill('function_7'),
      () => page.getByRole('application').press('Escape'),
    ]) {
      const boxes = await boxesOf(act);
      assert.ok(boxes > 100 && boxes < 3 * 25 * 1_000, `${boxes} boxes`);
    }
    assert.deepEqual(faults, []);
    await close();
  });
});
