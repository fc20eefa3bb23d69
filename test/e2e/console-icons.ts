// Draws the icons that browsers ask for by name, `favicon.ico` and `apple-touch-icon.png`, from the console's `favicon.svg`.
//
//   node test/e2e/console-icons.ts
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openChromium } from '../helpers/chromium.ts';
import { root } from '../helpers/server.ts';

const folder = join(root, 'packages', 'console');
const svg = await readFile(join(folder, 'src', 'assets', 'favicon.svg'), 'utf8');
const browser = await openChromium();
if (typeof browser === 'string') assert.fail(browser);
try {
  const page = await browser.newPage();
  const draw = async (size: number, padding: number, background: string): Promise<Buffer> => {
    await page.setViewportSize({ width: size, height: size });
    const style = `<style>body { margin: 0; padding: ${padding}px; background: ${background} } svg { display: block }</style>`;
    await page.setContent(style + svg.replace('<svg ', `<svg width="${size - 2 * padding}" `));
    return page.screenshot({ omitBackground: true });
  };
  // A home screen shows no transparency, and rounds the corners itself.
  await writeFile(join(folder, 'public', 'apple-touch-icon.png'), await draw(180, 26, '#f7f5f0'));
  await writeFile(join(folder, 'public', 'favicon.ico'), ico(await draw(32, 0, 'transparent'), 32));
} finally {
  await browser.close();
}

/** An icon file with one PNG in it: https://learn.microsoft.com/windows/win32/menurc/newheader */
function ico(png: Buffer, size: number): Buffer {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2); // an icon
  head.writeUInt16LE(1, 4); // one image
  head.writeUInt8(size, 6);
  head.writeUInt8(size, 7);
  head.writeUInt16LE(1, 10); // planes
  head.writeUInt16LE(32, 12); // bits a pixel
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}
