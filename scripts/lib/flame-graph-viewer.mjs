// Makes one script of the flame graph's viewer, for the pages that flameGraphHtml() writes: these load nothing.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { build } from 'esbuild-wasm';
import { root } from './workspace.mjs';

const folder = join(root, 'packages', 'trace', 'src', 'flame-graph');

/** Where it is kept: the package has to run without being built, and whatever bundles its users take. */
export const viewerBundlePath = join(folder, 'viewer-bundle.ts');

/** The text of that file. */
export async function bundleViewer() {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'viewer', 'page.ts')],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    legalComments: 'none',
  });
  const script = outputFiles[0]?.text.trim() ?? '';
  if (/<\/script|<!--/i.test(script)) throw new Error('The script can not stand in a page.');
  const { pageStyles } = await import(join(folder, 'page-styles.ts'));
  return `// Made of what is in ./viewer and ./page-styles.ts by \`node scripts/write-flame-graph-viewer.mjs\`; a test holds them equal.
// biome-ignore-all format: it is not for reading
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: its templates are the script's

/** Shows the data that the page holds. */
export const viewerScript = ${JSON.stringify(script)};

/** Digests as a Content-Security-Policy has them: https://www.w3.org/TR/CSP3/#grammardef-hash-source */
export const viewerScriptHash = '${digest(script)}';
export const pageStylesHash = '${digest(pageStyles)}';
`;
}

/** @param {string} text */
function digest(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
