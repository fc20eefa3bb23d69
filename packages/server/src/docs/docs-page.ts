import { hash } from 'node:crypto';
import { Html, html } from '../http/pages/html.ts';
import type { DocsFrame, DocsPage } from './docs-files.ts';

/** More sections than this are listed without their subsections. */
const maxListedSections = 40;

const logo = new Html(
  '<svg class="logo" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><path class="logo-rail" d="M2 7h13v5h6.5v8H15v5H2z"/><path class="logo-post" d="M17 3h13v26H17v-7.5h6.5v-11H17z"/></svg>',
);

/**
 * Returns the document of a page.
 *
 * @param root the path of `{base_url}`, with a slash at both ends
 * @param hasConsole whether the server has a console to link to
 */
export function renderDocument(frame: DocsFrame, page: DocsPage, root: string, hasConsole: boolean): string {
  const title = page.path === '' ? 'Tenon documentation' : `${page.title} · Tenon documentation`;
  const home = hasConsole ? root : `${root}docs`;
  const { text } = html`<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${root}favicon.ico">
<style>${new Html(frame.style)}</style>
<script>${new Html(frame.script)}</script>
</head>
<body>
<a class="skip" href="#docs-content">Skip to the content</a>
<header class="top"><div class="top-inner">
<button type="button" class="menu-button" popovertarget="docs-pages">Pages</button>
<a class="brand" href="${home}">${logo}<span>Tenon</span></a>
${hasConsole ? html`<a href="${root}">Console</a>` : ''}
<a href="${root}docs"${new Html(page.path === '' ? ' aria-current="page"' : '')}>Docs</a>
<form class="search" role="search" hidden><input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off" spellcheck="false"><div class="results" hidden></div><span class="visually-hidden" role="status"></span></form>
</div></header>
<div class="layout">
${navigation(frame, page, root)}
<main id="docs-content">
<div class="with-sections">
${sections(page)}
<article class="prose">
${new Html(page.html)}</article>
</div>
${neighbours(frame, page, root)}
</main>
</div>
</body>
</html>
`;
  return text;
}

/** The style and the script of the frame, and requests for the search index: nothing else, and no frames. */
export function documentHeaders(frame: DocsFrame): Readonly<Record<string, string>> {
  const headers = headersByFrame.get(frame) ?? createHeaders(frame);
  headersByFrame.set(frame, headers);
  return headers;
}

const headersByFrame = new WeakMap<DocsFrame, Readonly<Record<string, string>>>();

function createHeaders({ style, script }: DocsFrame): Readonly<Record<string, string>> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      "default-src 'none'",
      `script-src '${digestOf(script)}'`,
      `style-src '${digestOf(style)}'`,
      "img-src 'self'",
      "connect-src 'self'",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}

function digestOf(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`;
}

function navigation({ nav }: DocsFrame, { path: here }: DocsPage, root: string): Html {
  const groups = nav.map(({ title, pages }) => {
    const items = pages.map(
      ({ path, title }) =>
        html`<li><a href="${root}docs/${path}"${new Html(path === here ? ' aria-current="page"' : '')}>${title}</a></li>`,
    );
    return html`<h2>${title}</h2><ul>${items}</ul>`;
  });
  return html`<nav class="pages" id="docs-pages" popover aria-label="Documentation">${groups}</nav>`;
}

/** The list of the page's sections, with their subsections unless these are too many. */
function sections({ headings, path }: DocsPage): Html {
  const all = headings.filter(({ level }) => level <= 3);
  const listed = all.length > maxListedSections ? all.filter(({ level }) => level === 2) : all;
  if (listed.length < 3 || path === '') return html``;
  const items = listed.map(({ id, text, level }) => {
    const link = html`<a href="#${id}">${text}</a>`;
    return level === 2 ? html`<li>${link}</li>` : html`<li><ul><li>${link}</li></ul></li>`;
  });
  return html`<details class="sections"><summary>On this page</summary><nav aria-label="On this page"><ul>${items}</ul></nav></details>`;
}

function neighbours({ nav }: DocsFrame, { path }: DocsPage, root: string): Html {
  const pages = nav.flatMap((group) => group.pages);
  const at = pages.findIndex((page) => page.path === path);
  if (at === -1) return html``;
  const link = (page: (typeof pages)[number] | undefined, label: string): Html =>
    page === undefined ? html`` : html`<a href="${root}docs/${page.path}"><small>${label}</small>${page.title}</a>`;
  return html`<nav class="neighbours" aria-label="Previous and next page">${link(pages[at - 1], 'Previous')}${link(pages[at + 1], 'Next')}</nav>`;
}
