import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Browser } from 'playwright-core';
import { openChromium, whyNoChromium } from '../../../test/helpers/chromium.ts';
import { type CoverageReport, coveragePages, type FileCoverage } from '../src/coverage/index.ts';

const hostile = '"><img src=x onerror="window.pwned=1"></pre><script>window.pwned=1</script>\u202e';

const file = (path: string, unit: FileCoverage['unit']): FileCoverage => ({
  path,
  unit,
  lines: [
    { line: 1, count: 12 },
    { line: 3, count: 0 },
    { line: 4, count: 0 },
    { line: 5, count: 1 },
    { line: 6, count: 0 },
  ],
  functions: [
    { name: 'main', line: 1, count: 1, blocks: { total: 3, covered: 2 } },
    { name: hostile, line: 6, count: 0, blocks: { total: 1, covered: 0 } },
  ],
});
const share = { total: 4, covered: 1 };
const report = (...files: FileCoverage[]): CoverageReport => ({
  files,
  totals: { lines: share, functions: share, blocks: share },
  functionsWithoutLines: 2,
});
const text = `int main() {\n\n\tmissed();\n\tmissed();\n}\n${hostile.repeat(5)}\n`;

const cases = {
  'with lines': report(
    file('src/main.c', 'line'),
    file(`${'long-folder/'.repeat(20)}a.c`, 'line'),
    file(hostile, 'line'),
  ),
  'with offsets': report(file('tool.wasm', 'offset')),
};

describe('pages of coverage', { skip: whyNoChromium() ?? false }, () => {
  let browser: Browser;
  let folder: string;
  before(async () => {
    const opened = await openChromium();
    browser = typeof opened === 'string' ? assert.fail(opened) : opened;
    folder = await mkdtemp(join(tmpdir(), 'tenon-coverage-'));
  });
  after(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [what, made] of Object.entries(cases)) {
    it(`${what} run nothing, load nothing, and have nothing that axe-core finds wrong`, async () => {
      const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
      for (const [name, html] of coveragePages(made, {
        title: hostile,
        sourceOf: (path) => (path.endsWith('wasm') ? undefined : text),
      })) {
        const path = join(folder, name);
        await writeFile(path, html);
        for (const colorScheme of ['light', 'dark'] as const) {
          for (const width of [1100, 320]) {
            const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
            const requests: string[] = [];
            page.on('request', (request) => requests.push(request.url()));
            await page.goto(pathToFileURL(path).href);
            await page.evaluate(axe);
            const { violations } = await page.evaluate<AxeResults>('axe.run()');
            const found = violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => String(target))]);
            assert.deepEqual(found, [], `${name} ${colorScheme} ${width}`);
            assert.equal(await page.evaluate('window.pwned'), undefined);
            assert.ok(
              (await page.evaluate<number>('document.documentElement.scrollWidth')) <= width,
              `${name} ${width}`,
            );
            assert.deepEqual(requests, [pathToFileURL(path).href]);
            await page.close();
          }
        }
      }
    });
  }

  it('lead from one uncovered line to the next by the keyboard', async () => {
    const [, page1] = [...coveragePages(cases['with lines'], { title: 'tool', sourceOf: () => text })];
    const path = join(folder, 'keyboard.html');
    await writeFile(path, page1?.[1] ?? '');
    const page = await browser.newPage();
    await page.goto(pathToFileURL(path).href);
    await page.getByRole('link', { name: 'First uncovered line' }).press('Enter');
    assert.equal(new URL(page.url()).hash, '#L3');
    await page.locator('#L3').getByRole('link').press('Enter');
    assert.equal(new URL(page.url()).hash, '#L6');
    await page.locator('#L6').getByRole('link').press('Enter');
    assert.equal(new URL(page.url()).hash, '#L3');
    await page.close();
  });
});
