import { docsSection, errorCodes } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { createApi } from './api.ts';
import { CliError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import { printable } from './text.ts';
import type { Target } from './transport.ts';

/** A page of the server's documentation. */
export interface DocsPage {
  /** Below `/docs/`; empty for the index. */
  readonly path: string;
  readonly title: string;
}

/** How many pages an error lists. */
const maxListed = 20;

/** Reads the list of pages from the server. */
export async function readDocsPages(target: Target): Promise<readonly DocsPage[]> {
  const sections = await createApi(target).get('/docs/search.json', Type.Array(docsSection));
  return sections
    .filter(({ path, title }) => title === '' && /^[\w./-]*$/.test(path))
    .map(({ path, page }) => ({ path, title: page }));
}

/** The name by which `tenon docs` takes a page: the last part of its path. A page whose name another one has takes its whole path. */
export function topicsOf(pages: readonly DocsPage[]): ReadonlyMap<string, DocsPage> {
  const topics = new Map<string, DocsPage>();
  for (const page of pages) {
    const name = nameOf(page);
    if (name !== '') topics.set(topics.has(name) ? page.path : name, page);
  }
  return topics;
}

function nameOf({ path }: DocsPage): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * The path of the page that a topic means: an error code, `openapi`, or a page by its name, its path, or words of its title.
 *
 * @throws CliError with the pages that come close, unless there is one
 */
export function pathOfTopic(pages: readonly DocsPage[], topic: string): string {
  const wanted = topic.trim().toLowerCase();
  if (Object.hasOwn(errorCodes, wanted)) return `/reference/errors#${wanted}`;
  if (wanted === 'openapi') return '/openapi.json';
  const exact = topicsOf(pages).get(wanted) ?? pages.find(({ path }) => path === wanted);
  if (exact !== undefined) return `/docs/${exact.path}`;
  const words = wanted.split(/\s+/).filter(Boolean);
  const close = pages.filter(({ path, title }) =>
    words.every((word) => `${path.slice(path.lastIndexOf('/') + 1)} ${title}`.toLowerCase().includes(word)),
  );
  const guides = close.filter(({ path }) => !path.startsWith('decisions/'));
  const [only, second] = guides.length > 0 ? guides : close;
  if (only !== undefined && second === undefined) return `/docs/${only.path}`;
  throw new CliError(
    'not_found',
    `${second === undefined ? 'No page is' : 'Several pages are'} about "${printable(topic)}".`,
    {
      exitCode: exitCodes.notFound,
      hint:
        second === undefined
          ? 'To search the documentation, open it: tenon docs'
          : [
              'Name one of:',
              ...guides.slice(0, maxListed).map(({ path, title }) => `  ${path}  ${printable(title)}`),
            ].join('\n'),
    },
  );
}
