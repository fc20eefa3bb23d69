// Takes the documentation's picture of a flame graph: `docs/images/flame-graph.webp`, at twice its display size.
// It takes clang with the linker for WebAssembly.
//
//   node test/e2e/flame-graph-image.ts
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { compileWords, makeText } from '../../packages/cli/test/helpers/words.ts';
import { openChromium } from '../helpers/chromium.ts';
import { root, tenon } from '../helpers/server.ts';

const maxBytes = 150_000;
const target = join(root, 'docs', 'images', 'flame-graph.webp');
const folder = await mkdtemp(join(tmpdir(), 'tenon-flame-graph-'));
const browser = await openChromium();
assert.ok(typeof browser !== 'string', String(browser));
try {
  const module = await compileWords(folder);
  const page = join(folder, 'words.html');
  // What the engine compiles only when it is first called would fill the picture: the last run is warm.
  const args = ['trace', module, '--repeat', '60', '--format', 'html', '-o', page, '--min-duration', '0us'];
  const { status, stderr } = spawnSync(process.execPath, [tenon, ...args], {
    input: makeText(24).text,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const tab = await browser.newPage({
    viewport: { width: 1120, height: 480 },
    deviceScaleFactor: 2,
    colorScheme: 'light',
  });
  await tab.goto(pathToFileURL(page).href);
  await tab.getByRole('application').waitFor();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await tab.keyboard.press(key);
  await tab.evaluate('document.querySelector("#flame-graph > div").shadowRoot.activeElement?.blur()');
  const devTools = await tab.context().newCDPSession(tab);
  const { data } = await devTools.send('Page.captureScreenshot', { format: 'webp', quality: 85 });
  const bytes = Buffer.from(data, 'base64');
  assert.ok(bytes.length <= maxBytes, `${bytes.length} bytes`);
  await writeFile(target, bytes);
  console.log(`flame-graph.webp: ${(bytes.length / 1000).toFixed(0)} kB`);
} finally {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
}
