import { hash } from 'node:crypto';
import { extname } from 'node:path';
import { docsSection } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { basePathOf } from '../console/console-page.ts';
import { evaluateConditions } from '../http/conditions.ts';
import { compress, encodedEtag, encodingFor } from '../http/content-encoding.ts';
import { HttpError } from '../http/http-error.ts';
import { limitPublicReads } from '../http/limits/public-reads.ts';
import { html } from '../http/pages/html.ts';
import { sendPage } from '../http/pages/layout.ts';
import { errorReferencePath } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { json, type Route, routeTagged } from '../http/route.ts';
import type { Services } from '../services.ts';
import type { DocsFiles, DocsPage } from './docs-files.ts';
import { documentHeaders, renderDocument } from './docs-page.ts';
import { errorPage } from './error-page.ts';

const route = routeTagged('Documentation');

const changing = 'public, max-age=300';
/** The name of an image contains a hash of its content. */
const immutable = 'public, max-age=31536000, immutable';
const imageTypes: Readonly<Record<string, string>> = {
  '.webp': 'image/webp',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** Longer paths are of no page. */
const maxPathLength = 200;

const conditional = { 'if-none-match': 'the response is 304 if the page is unchanged' };

const example = {
  path: 'how-to/log-in#several-servers',
  page: 'Log in from the command line',
  title: 'Several servers',
  text: 'Each login has a name.',
};

export const docsRoutes: readonly Route[] = [
  route('GET', '/docs', {
    access: { kind: 'public' },
    area: 'both',
    page: true,
    id: 'showDocs',
    summary: 'The index of this documentation',
    requestHeaders: conditional,
    responses: { 200: { description: 'a page', contentType: 'text/html' }, 304: { description: 'not modified' } },
    errors: ['precondition_failed', 'rate_limited'],
    handle: (services, { request }, reply) => sendDocs(services, request, reply, ''),
  }),
  route('GET', '/docs/search.json', {
    access: { kind: 'public' },
    area: 'both',
    page: true,
    id: 'readDocsIndex',
    summary: 'The sections of this documentation, for the search on its pages',
    requestHeaders: conditional,
    responses: {
      200: json('the sections', Type.Array(docsSection), [example]),
      304: { description: 'not modified' },
    },
    errors: ['not_found', 'precondition_failed', 'rate_limited'],
    handle(services, { request }, reply) {
      limitPublicReads(services, request);
      const { docs, addresses } = services;
      if (docs === undefined) throw new HttpError('not_found', 'The documentation is not built.');
      reply.header('content-type', 'application/json; charset=utf-8');
      const index = cached(docs, 'search.json', () => docs.withUrl(docs.search, addresses.base()));
      return sendCached(request, reply, index, changing);
    },
  }),
  route('GET', '/docs/*', {
    access: { kind: 'public' },
    area: 'both',
    page: true,
    id: 'showDocsPage',
    summary: 'A page of this documentation, or an image',
    wildcard: { name: 'page', description: 'the path of the page, such as `reference/http-api`' },
    requestHeaders: conditional,
    responses: {
      200: { description: 'a page', contentType: 'text/html' },
      304: { description: 'not modified' },
      308: { description: 'the page has another path' },
      404: { description: 'a page: the documentation has no such page', contentType: 'text/html' },
    },
    errors: ['precondition_failed', 'rate_limited'],
    handle: (services, { request, params }, reply) =>
      sendDocs(services, request, reply, (params as { '*': string })['*']),
  }),
  route('GET', errorReferencePath, {
    access: { kind: 'public' },
    area: 'both',
    page: true,
    id: 'readErrorReference',
    summary: "The reference page on errors, to which an error's `type` links",
    requestHeaders: conditional,
    responses: { 200: { description: 'a page', contentType: 'text/html' }, 304: { description: 'not modified' } },
    errors: ['precondition_failed'],
    // Not limited, since the errors of limited requests link here.
    handle: (services, { request }, reply) => {
      const { title, body } = errorPage;
      const { docs } = services;
      if (docs === undefined) return sendPage(reply, 200, { title, body, wide: true });
      const page = documentOf(services, docs, { ...errorPage, html: body.text }, 'errors');
      return sendCached(request, reply.headers(documentHeaders(docs.frame)), page, changing);
    },
  }),
];

function sendDocs(services: Services, request: Request, reply: Reply, path: string): Reply | Promise<Reply> {
  limitPublicReads(services, request);
  const { docs } = services;
  if (docs === undefined) return sendPage(reply, 503, notBuilt);
  const isIndexWithSlash = path === '' && request.route?.path !== '/docs';
  const page = isIndexWithSlash ? undefined : docs.page(path);
  if (page !== undefined) {
    return sendCached(request, reply.headers(documentHeaders(docs.frame)), documentOf(services, docs, page), changing);
  }
  const image = docs.image(path);
  if (image !== undefined) {
    reply.headers({
      'content-type': imageTypes[extname(path)] ?? 'application/octet-stream',
      'cross-origin-resource-policy': 'same-origin',
    });
    if (extname(path) === '.svg')
      reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    return sendCached(request, reply, image, immutable);
  }
  if (path.length > maxPathLength) return sendDocument(services, docs, reply, 404, notFound);
  const renamed = path
    .replace(/\/+$/, '')
    .replace(/\.md$/, '')
    .replace(/(?:^|\/)README$/, '');
  if ((renamed !== path || isIndexWithSlash) && docs.page(renamed) !== undefined) {
    const location = `${basePathOf(services)}docs${renamed === '' ? '' : `/${renamed}`}`;
    return reply.code(308).headers({ location, 'referrer-policy': 'no-referrer' }).send();
  }
  return sendDocument(services, docs, reply, 404, notFound);
}

const notBuilt = {
  title: 'The documentation is not built',
  body: html`<h1>The documentation is not built</h1>
<p>In the folder of Tenon, run <code>npm run setup</code>, and start the server again.</p>`,
};

const notFound: DocsPage = {
  path: '404',
  title: 'Page not found',
  headings: [],
  html: '<h1>Page not found</h1>\n<p>The documentation has no page at this address. Search above, or open the list of pages.</p>\n',
};

/** Sends a page that changes with each build and is not cached. */
function sendDocument(services: Services, docs: DocsFiles, reply: Reply, status: number, page: DocsPage): Reply {
  const text = renderDocument(docs.frame, page, basePathOf(services), services.console !== undefined);
  return reply.code(status).headers(documentHeaders(docs.frame)).send(text);
}

function documentOf(services: Services, docs: DocsFiles, page: DocsPage, key = page.path): Buffer {
  return cached(docs, `${key}#`, () => {
    const html = docs.withUrl(page.html, services.addresses.base());
    return renderDocument(docs.frame, { ...page, html }, basePathOf(services), services.console !== undefined);
  });
}

/** Rendered pages and the index, for as long as the documentation is in memory. */
const rendered = new WeakMap<DocsFiles, Map<string, Buffer>>();

function cached(docs: DocsFiles, key: string, render: () => string): Buffer {
  const documents = rendered.get(docs) ?? new Map<string, Buffer>();
  rendered.set(docs, documents);
  const found = documents.get(key) ?? Buffer.from(render());
  documents.set(key, found);
  return found;
}

/** The entity tags of what was sent. */
const tags = new WeakMap<Buffer, string>();

/** @throws HttpError `precondition_failed` */
async function sendCached(request: Request, reply: Reply, bytes: Buffer, cacheControl: string): Promise<Reply> {
  const isText = !String(reply.fields['content-type']).startsWith('image/');
  const encoding = isText ? encodingFor(request, bytes.length) : 'identity';
  const tag = tags.get(bytes) ?? `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`;
  tags.set(bytes, tag);
  const etag = encodedEtag(tag, encoding);
  const outcome = evaluateConditions(request.headers, etag);
  if (outcome === 'precondition_failed') {
    throw new HttpError('precondition_failed', '"if-match" names another entity tag.');
  }
  reply.headers({ etag, 'cache-control': cacheControl });
  if (isText) reply.header('vary', 'accept-encoding');
  if (outcome === 'not_modified') return reply.code(304).send();
  if (encoding === 'identity') return reply.send(bytes);
  return reply.header('content-encoding', encoding).send(await compress(bytes, encoding));
}
