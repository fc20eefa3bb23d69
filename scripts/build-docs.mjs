// Builds the documentation for the server, unless the present sources are built already.
//
//   node scripts/build-docs.mjs            into packages/server/docs
//
// Set-up calls it, so that a running server needs no Markdown library.
import './lib/require-node.mjs';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'vite';
import { renderDocs } from './lib/docs-pages.mjs';
import { keepBuild } from './lib/keep-build.mjs';
import { docsBuild } from './lib/kept-build.mjs';
import { root } from './lib/workspace.mjs';

await keepBuild(docsBuild, async (folder) => {
  const { pages, nav, images, search } = renderDocs(root);
  for (const [path, file] of images) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(file, join(folder, path));
  }
  const { script, style } = await buildFrame();
  writeFileSync(join(folder, 'search.json'), JSON.stringify(search));
  writeFileSync(
    join(folder, docsBuild.mark),
    JSON.stringify({ style, script, nav, pages, images: [...images.keys()] }),
  );
});

/** The script and the style sheet of the pages, with the console's colours. */
async function buildFrame() {
  const built = await build({
    root: join(root, 'packages', 'console'),
    configLoader: 'native',
    logLevel: 'warn',
    publicDir: false,
    build: {
      write: false,
      cssCodeSplit: false, // a file, not a part of the script
      manifest: false,
      rolldownOptions: {
        input: join(root, 'packages', 'console', 'src', 'docs', 'main.ts'),
        output: { format: 'iife' },
      },
    },
  });
  if (!('output' in built)) throw new Error('the frame of the documentation was not built');
  const script = built.output.flatMap((each) => (each.type === 'chunk' ? each.code : []))[0];
  const style = built.output.flatMap((each) => (each.type === 'asset' ? each.source : []))[0];
  if (script === undefined || style === undefined) throw new Error('the frame of the documentation is incomplete');
  return { script, style: String(style) };
}
