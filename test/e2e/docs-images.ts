// Takes the documentation's screenshots of the console: `docs/images/*.webp`, at twice their display size.
//
//   node test/e2e/docs-images.ts
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { root } from '../helpers/server.ts';
import { show } from './helpers/every-page.ts';
import { openGallery } from './helpers/gallery.ts';

const maxBytes = 150_000;

interface Picture {
  /** Of which page. */
  readonly name: string;
  /** Of the file, without `.webp`. */
  readonly file: string;
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
  /** So much of it is shown; all of it by default. */
  readonly height?: number;
  readonly prepare?: (page: Page) => Promise<unknown>;
}

const pictures: readonly Picture[] = [
  { name: 'extension-point-edit', file: 'schema-editor', colorScheme: 'light', width: 1200, height: 900 },
  { name: 'guest', file: 'guest', colorScheme: 'light', width: 1120, height: 1280 },
  { name: 'guest-publish-file', file: 'publish', colorScheme: 'light', width: 1120, height: 880 },
  { name: 'plugin', file: 'plugin-versions', colorScheme: 'dark', width: 1120, height: 780 },
  { name: 'trace-run', file: 'trace-module', colorScheme: 'light', width: 1120, height: 960, prepare: toTop },
  { name: 'invitation-signed-in', file: 'invitation', colorScheme: 'light', width: 760, height: 820 },
  {
    name: 'approve',
    file: 'approve-login',
    colorScheme: 'light',
    width: 760,
    height: 1010,
    // As a login asks by default.
    prepare: (page) => page.getByLabel('Manage your applications and account').uncheck(),
  },
];

/** What was done there may have scrolled it. */
async function toTop(page: Page): Promise<void> {
  await page.evaluate(() => scrollTo(0, 0));
}

const folder = join(root, 'docs', 'images');
await mkdir(folder, { recursive: true });
const gallery = await openGallery({ deviceScaleFactor: 2 });
try {
  for (const { name, file, colorScheme, width, height = 800, prepare } of pictures) {
    const page = gallery.pages.find((other) => other.name === name) ?? assert.fail(`There is no page ${name}`);
    const { page: tab } = await gallery.visitorFor(page);
    await tab.emulateMedia({ colorScheme });
    await tab.setViewportSize({ width, height });
    await show(tab, gallery.url, page);
    await prepare?.(tab);
    await tab.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    const devTools = await tab.context().newCDPSession(tab);
    const { data } = await devTools.send('Page.captureScreenshot', { format: 'webp', quality: 85 });
    const bytes = Buffer.from(data, 'base64');
    assert.ok(bytes.length <= maxBytes, `${file} has ${bytes.length} bytes`);
    await writeFile(join(folder, `${file}.webp`), bytes);
    console.log(`${file}.webp: ${(bytes.length / 1000).toFixed(0)} kB`);
  }
} finally {
  await gallery.close();
}
