import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { PageStart } from '@tenon/protocol';
import { type ContentEncoding, encodedEtag } from '../http/content-encoding.ts';

export interface Asset {
  readonly contentType: string;
  /** The available encodings: always `identity`, others if they are smaller. */
  readonly bytes: ReadonlyMap<ContentEncoding, Buffer>;
  /** Returns the quoted entity tag of an encoding. */
  readonly etag: (encoding: ContentEncoding) => string;
}

/** The built console, in memory: a few hundred kilobytes. */
export type ConsoleFiles = NonNullable<ReturnType<typeof readConsole>>;

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};

/** Files that browsers and crawlers request at the root, with their content types. */
export const wellKnownFiles = {
  'favicon.ico': 'image/vnd.microsoft.icon',
  'apple-touch-icon.png': 'image/png',
  'robots.txt': 'text/plain; charset=utf-8',
} as const;
export type WellKnownName = keyof typeof wellKnownFiles;

/** The output folder of the console's build: a folder for each build, and a file `current` with the name of one. */
export const defaultConsoleBuilds = join(import.meta.dirname, '..', '..', '..', 'console', 'dist');

/**
 * Reads the current build of the console.
 *
 * @param builds the output folder of `scripts/build-console.mjs`
 * @returns `undefined` if there is no build
 */
export function readConsole(builds: string) {
  const current = join(builds, 'current');
  if (!existsSync(current)) return undefined;
  const folder = join(builds, readFileSync(current, 'utf8').trim());
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const head = page.indexOf('<head>') + '<head>'.length;
  const assets = readFiles(join(folder, 'assets'), (name) => contentTypes[extname(name)]);
  const wellKnown = readFiles(folder, (name) =>
    Object.hasOwn(wellKnownFiles, name) ? wellKnownFiles[name as WellKnownName] : undefined,
  );
  return {
    /**
     * Returns the HTML document of all pages.
     *
     * @param basePath the path of `{base_url}`, with a slash at both ends
     * @param start data for the page's script
     */
    document: (basePath: string, start?: PageStart): string =>
      `${page.slice(0, head)}<base href="${escapeAttribute(basePath)}">${dataBlock(start)}${page.slice(head)}`,
    /** Returns an asset by its name below `/assets/`. It never changes, because its name contains a hash of its content. */
    asset: (name: string): Asset | undefined => assets.get(name),
    wellKnown: (name: WellKnownName): Asset | undefined => wellKnown.get(name),
  };
}

function readFiles(folder: string, typeOf: (name: string) => string | undefined): ReadonlyMap<string, Asset> {
  const names = new Set(readdirSync(folder));
  const assets = new Map<string, Asset>();
  for (const name of names) {
    const contentType = typeOf(name);
    if (contentType === undefined) continue; // such as `.br` and `.gz`
    const identity = readFileSync(join(folder, name));
    const bytes = new Map<ContentEncoding, Buffer>([['identity', identity]]);
    if (names.has(`${name}.br`)) bytes.set('br', readFileSync(join(folder, `${name}.br`)));
    if (names.has(`${name}.gz`)) bytes.set('gzip', readFileSync(join(folder, `${name}.gz`)));
    const digest = hash('sha256', identity, 'base64url').slice(0, 22);
    assets.set(name, { contentType, bytes, etag: (encoding) => encodedEtag(`"${digest}"`, encoding) });
  }
  return assets;
}

/** Browsers don't execute a script of this type, so the content security policy allows it. */
function dataBlock(start: PageStart | undefined): string {
  if (start === undefined) return '';
  const json = JSON.stringify(start).replaceAll('<', '\\u003c'); // a name may contain `</script>`
  return `<script type="application/json" id="page-start">${json}</script>`;
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
