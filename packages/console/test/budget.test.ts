import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';

/** The maximum size of a page's scripts, compressed. */
const maxBytes = 60 * 1024;

/** These have the editor, which counts apart. */
const pagesWithEditor = [
  'src/pages/simulations/simulation-form.tsx',
  'src/pages/team/extension-point-edit.tsx',
  'src/pages/team/extension-point-new.tsx',
];

/** As Vite writes it: what each source became, and what that imports. */
type Manifest = Readonly<Record<string, { readonly file: string; readonly imports?: readonly string[] }>>;

const builds = join(import.meta.dirname, '..', 'dist');
const folder = join(builds, readFileSync(join(builds, 'current'), 'utf8').trim());
const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;

/** Everything that is loaded for some sources: them, and what they import, once each. */
function filesFor(sources: readonly string[]): string[] {
  const seen = new Set<string>();
  const open = [...sources];
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    const chunk = manifest[source];
    assert.ok(chunk, `${source} is in no build`);
    if (seen.has(chunk.file)) continue;
    seen.add(chunk.file);
    open.push(...(chunk.imports ?? []));
  }
  return [...seen];
}

describe('the scripts of a page', () => {
  const pages = Object.keys(manifest).filter((source) => source.startsWith('src/pages/'));

  it('are those of many pages here', () => assert.ok(pages.length > 20, pages.join()));

  for (const page of pages.filter((source) => !pagesWithEditor.includes(source))) {
    it(`are small for ${page}`, (test) => {
      const files = filesFor(['index.html', page]);
      assert.ok(files.length > 1 && files.every((file) => file.endsWith('.js')), files.join());
      const bytes = files
        .map((file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length)
        .reduce((sum, length) => sum + length, 0);
      test.diagnostic(`${(bytes / 1024).toFixed(1)} KiB gzip of ${maxBytes / 1024}, in ${files.length} files`);
      assert.ok(bytes < maxBytes, `${bytes} bytes`);
    });
  }

  it('holds nothing of the schema library, which only its types are taken from', () => {
    const mark = '~kind'; // the member by which that library knows its own schemas
    const library = dirname(createRequire(import.meta.url).resolve('typebox'));
    const isMarked = (path: string) => readFileSync(path, 'utf8').includes(mark);
    const sources = readdirSync(library, { recursive: true, encoding: 'utf8' }).filter((name) => /\.m?js$/.test(name));
    assert.ok(
      sources.some((name) => isMarked(join(library, name))),
      'the library has another mark now',
    );
    const assets = readdirSync(join(folder, 'assets')).filter((name) => name.endsWith('.js'));
    assert.deepEqual(
      assets.filter((name) => isMarked(join(folder, 'assets', name))),
      [],
    );
  });
});
