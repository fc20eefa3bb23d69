// Takes pictures of every page of the console, with data as a team would have it, in light, in dark and as wide as a phone.
//
//   node test/e2e/screenshots.ts <folder> [names of pages …]
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { show } from './helpers/every-page.ts';
import { openGallery } from './helpers/gallery.ts';

const looks = [
  { look: 'light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { look: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { look: 'phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const;

const [folder, ...wanted] = process.argv.slice(2);
if (folder === undefined) throw new Error('Say where the pictures go.');
await mkdir(folder, { recursive: true });
const gallery = await openGallery();
try {
  for (const page of gallery.pages) {
    if (wanted.length > 0 && !wanted.includes(page.name)) continue;
    const visitor = await gallery.visitorFor(page);
    for (const { look, colorScheme, viewport } of looks) {
      await visitor.page.emulateMedia({ colorScheme });
      await visitor.page.setViewportSize(viewport);
      await show(visitor.page, gallery.url, page);
      const hasDialog = await visitor.page.locator('dialog[open]').isVisible(); // whose backdrop is as high as the screen
      await visitor.page.screenshot({ path: join(folder, `${page.name}.${look}.png`), fullPage: !hasDialog });
    }
    console.log(page.name);
  }
} finally {
  await gallery.close();
}
