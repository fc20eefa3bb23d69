import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A rendered page of the documentation. */
export interface DocsPage {
  /** Below `/docs/`; empty for the index. */
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly { readonly id: string; readonly text: string; readonly level: number }[];
}

/** What all pages share. */
export interface DocsFrame {
  readonly style: string;
  readonly script: string;
  readonly nav: readonly { readonly title: string; readonly pages: readonly Pick<DocsPage, 'path' | 'title'>[] }[];
}

/** The built documentation, in memory: less than 2 MB. */
export type DocsFiles = NonNullable<ReturnType<typeof readDocs>>;

/** The output folder of `scripts/build-docs.mjs`: a folder for each build, and a file `current` with the name of one. */
export const defaultDocsBuilds = join(import.meta.dirname, '..', '..', 'docs');

/** Stands for the server's URL in the sources. */
const placeholder = 'https://plugins.example.org';

/**
 * Reads the current build of the documentation.
 *
 * @returns `undefined` if there is no build
 */
export function readDocs(builds: string) {
  const current = join(builds, 'current');
  if (!existsSync(current)) return undefined;
  const folder = join(builds, readFileSync(current, 'utf8').trim());
  const {
    pages,
    images,
    ...frame
  }: DocsFrame & { readonly pages: readonly DocsPage[]; readonly images: readonly string[] } = JSON.parse(
    readFileSync(join(folder, 'docs.json'), 'utf8'),
  );
  const search = readFileSync(join(folder, 'search.json'), 'utf8');
  const pagesByPath = new Map(pages.map((page) => [page.path, page]));
  const imagesByPath = new Map(images.map((path) => [path, readFileSync(join(folder, path))]));
  return {
    frame: frame as DocsFrame,
    paths: pages.map(({ path }) => path),
    page: (path: string): DocsPage | undefined => pagesByPath.get(path),
    /** The search index: an array of sections, as JSON. */
    search,
    /** Returns a page's HTML or the index with the server's URL in its examples. */
    withUrl: (text: string, serverUrl: string): string => text.replaceAll(placeholder, () => serverUrl),
    /** Returns an image, whose name contains a hash of its content. */
    image: (path: string): Buffer | undefined => imagesByPath.get(path),
  };
}
