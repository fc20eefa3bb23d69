// Takes pictures of every page of the console, with data as a team would have it, in light, in dark and as wide as a phone.
//
//   node test/e2e/screenshots.ts <folder> [names of pages …]
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { openStage, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { furnish, moduleThatSays, password } from './helpers/acme.ts';
import { acmeNames } from './helpers/acme-names.ts';
import { everyPage, show } from './helpers/every-page.ts';
import { startProgram } from './helpers/oauth.ts';
import { signUp } from './helpers/person.ts';

const looks = [
  { look: 'light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { look: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { look: 'phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const;

const [folder, ...wanted] = process.argv.slice(2);
if (folder === undefined) throw new Error('Say where the pictures go.');
await mkdir(folder, { recursive: true });
const stage = await openStage({ args: ['--no-demo'], settings: { TENON_SIGN_UP: 'open' } });
try {
  const acme = await furnish(stage.url, acmeNames);
  const newcomer = await signUp(stage.url, 'Nell Newcomer', 'nell@acme.example', password);
  const program = await startProgram();
  const wasmFile = join(stage.server.folder, 'amortization.wasm');
  await writeFile(wasmFile, await moduleThatSays('amortization'));
  const visitors = new Map<string, Visitor>();
  for (const page of await everyPage(stage.url, acme, program, wasmFile)) {
    if (wanted.length > 0 && !wanted.includes(page.name)) continue;
    const visitor = visitors.get(page.as) ?? (await stage.visitor());
    if (!visitors.has(page.as) && page.as !== 'nobody') {
      await visitor.open('/');
      await visitor.signIn({ owner: acme.owner, guest: acme.guest, newcomer }[page.as].email, password);
    }
    visitors.set(page.as, visitor);
    for (const { look, colorScheme, viewport } of looks) {
      await visitor.page.emulateMedia({ colorScheme });
      await visitor.page.setViewportSize(viewport);
      await show(visitor.page, stage.url, page);
      await visitor.page.screenshot({
        path: join(folder, `${page.name}.${look}.png`),
        fullPage: !(await visitor.page.locator('dialog[open]').isVisible()),
      });
    }
    console.log(page.name);
  }
  program.close();
} finally {
  await stage.close();
}
