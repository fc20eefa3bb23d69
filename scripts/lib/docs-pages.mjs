// Renders the documentation as the pages that the server shows below /docs.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, extname, join, posix } from 'node:path';
import { Marked } from 'marked';
import { anchors, slugger } from './markdown.mjs';
import { findFiles } from './workspace.mjs';

/**
 * @typedef {{ id: string, text: string, level: number }} Heading
 * @typedef {{ path: string, title: string, html: string, headings: Heading[] }} Page `path` is the URL's below `/docs/`; '' is the index
 * @typedef {{ title: string, pages: { path: string, title: string }[] }} NavGroup
 * @typedef {{ path: string, page: string, title: string, text: string }} SearchEntry a section of a page; `path` includes its anchor
 * @typedef {{ pages: Page[], nav: NavGroup[], images: Map<string, string>, search: SearchEntry[] }} Docs
 *   `images` has the files, by their paths below `/docs/`
 */

/** Pages from outside docs/, with their paths below `/docs/`. */
export const otherPages = new Map([
  ['README.md', 'tenon'],
  ['CHANGELOG.md', 'changelog'],
  ['SECURITY.md', 'security-policy'],
  ['examples/extism-host/README.md', 'examples/extism-host'],
  ['examples/web-host/README.md', 'examples/web-host'],
]);

const indexFile = 'docs/README.md';
const decisions = 'decisions';

/**
 * @param {string} root
 * @returns {Docs}
 * @throws {Error} if the index doesn't list a page
 */
export function renderDocs(root) {
  const files = [...findFiles(['docs/**/*.md'], root).sort(), ...otherPages.keys()];
  const paths = new Map(files.map((file) => [file, pathOf(file)]));
  /** @type {Map<string, string>} */
  const images = new Map();
  const pages = files.map((file) => renderPage({ root, file, paths, images }));
  const titles = new Map(pages.map(({ path, title }) => [path, title]));
  const nav = readNav(readFileSync(join(root, indexFile), 'utf8'), titles);
  const listed = new Set(nav.flatMap((group) => group.pages.map(({ path }) => path)));
  for (const { path } of pages) {
    if (path !== '' && !path.startsWith(`${decisions}/`) && !listed.has(path)) {
      throw new Error(`${indexFile} has no link to the page ${path}`);
    }
  }
  for (const page of pages) {
    if (page.path === '') page.html = withContents(page.html, nav);
    if (page.path === decisions) page.html += listOf(pages.filter(({ path }) => path.startsWith(`${decisions}/`)));
  }
  return { pages, nav, images, search: pages.flatMap(searchEntries) };
}

/** @param {string} file */
function pathOf(file) {
  const other = otherPages.get(file);
  if (other !== undefined) return other;
  return file.slice('docs/'.length).replace(/(?:^|\/)README\.md$|\.md$/, '');
}

/**
 * The relative URL of the server's root on a page.
 *
 * @param {string} path
 */
export function toRoot(path) {
  return path === '' ? '' : '../'.repeat(path.split('/').length);
}

/** @param {{ root: string, file: string, paths: Map<string, string>, images: Map<string, string> }} source @returns {Page} */
function renderPage({ root, file, paths, images }) {
  const path = pathOf(file);
  /** @type {Heading[]} */
  const headings = [];
  const markdown = readFileSync(join(root, file), 'utf8');
  const slug = slugger();
  const taken = anchors(markdown);
  let title = '';

  /**
   * @param {string} target
   * @returns {string | undefined} a URL; `undefined` for files that the server doesn't have
   */
  const resolve = (target) => {
    if (/^(?:[a-z][a-z0-9+.-]*:|#)/i.test(target)) return target;
    const [, name = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(target) ?? [];
    const at = posix.join(posix.dirname(file), decodeURIComponent(name)).replace(/\/$/, '');
    const page = paths.get(at) ?? paths.get(`${at}/README.md`);
    if (page !== undefined) return `${toRoot(path)}${page === '' ? 'docs' : `docs/${page}`}${anchor}`;
    return at.startsWith('docs/images/') ? `${toRoot(path)}docs/${addImage(images, root, at)}` : undefined;
  };

  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const inner = this.parser.parseInline(tokens);
        const id = slug(text);
        if (depth === 1) {
          title = toText(inner);
          return `<h1 id="${id}" tabindex="-1">${inner}</h1>\n`;
        }
        headings.push({ id, text: toText(inner), level: depth });
        const label = inner.includes('<a ') ? inner : `<a href="#${id}">${inner}</a>`;
        return `<h${depth} id="${id}">${label}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const url = resolve(href);
        const inner = this.parser.parseInline(tokens);
        if (url === undefined)
          return `<span title="${escapeHtml(`${href.replace(/^(?:\.\.?\/)+/, '')} in Tenon's source`)}">${inner}</span>`;
        return `<a href="${escapeHtml(url)}">${inner}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escapeHtml(resolve(href) ?? href)}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      html({ text }) {
        const withSources = text.replace(
          /\bsrc="([^"]*)"/g,
          (_, src) => `src="${escapeHtml(resolve(src) ?? src)}" loading="lazy"`,
        );
        return withSources.replace(/\bhref="([^"]*)"/g, (_, href) => `href="${escapeHtml(resolve(href) ?? href)}"`);
      },
      code({ text, lang }) {
        const language = /^\w+/.exec(lang ?? '')?.[0] ?? '';
        const code = language === 'console' ? prompts(text) : escapeHtml(text);
        return `<pre><code${language === '' ? '' : ` class="language-${language}"`}>${code}\n</code></pre>\n`;
      },
      table(token) {
        const cells = (/** @type {typeof token.header} */ row, /** @type {string} */ tag) =>
          row
            .map((cell) =>
              cell.text === '' ? '<td></td>' : `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`,
            )
            .join('');
        const rows = token.rows.map((row) => `<tr${rowAnchor(row[0]?.text ?? '', taken)}>${cells(row, 'td')}</tr>\n`);
        const head = token.header.every(({ text }) => text === '')
          ? ''
          : `<thead><tr>${cells(token.header, 'th')}</tr></thead>\n`;
        return `<div class="table"><table>\n${head}<tbody>\n${rows.join('')}</tbody>\n</table></div>\n`;
      },
    },
  });
  const html = /** @type {string} */ (marked.parse(markdown));
  return { path, title, html, headings };
}

/**
 * Rows that describe one setting, error code, or metric can be linked to.
 *
 * @param {string} cell the first one, in Markdown
 * @param {Set<string>} taken the page's anchors
 */
function rowAnchor(cell, taken) {
  const [, name = ''] = /^`([A-Za-z]\w{3,})`$/.exec(cell) ?? [];
  const id = name.toLowerCase();
  if (id === '' || taken.has(id)) return '';
  taken.add(id);
  return ` id="${id}"`;
}

/**
 * Marks the prompts, which readers don't copy.
 *
 * @param {string} text
 */
function prompts(text) {
  return text
    .split('\n')
    .map((line) =>
      line.startsWith('$ ') ? `<span class="prompt">$ </span>${escapeHtml(line.slice(2))}` : escapeHtml(line),
    )
    .join('\n');
}

/**
 * @param {Map<string, string>} images
 * @param {string} root
 * @param {string} file
 */
function addImage(images, root, file) {
  if (!existsSync(join(root, file))) throw new Error(`there is no image ${file}`);
  const digest = createHash('sha256')
    .update(readFileSync(join(root, file)))
    .digest('hex')
    .slice(0, 8);
  const name = `images/${basename(file, extname(file))}-${digest}${extname(file)}`;
  images.set(name, join(root, file));
  return name;
}

/**
 * The groups of the index, each from its bold label to the next one.
 *
 * @param {string} markdown
 * @param {Map<string, string>} titles by path
 * @returns {NavGroup[]}
 */
function readNav(markdown, titles) {
  const [, ...parts] = markdown.split(/^\*\*(.+?)\*\*/m);
  /** @type {NavGroup[]} */
  const groups = [];
  for (let index = 0; index < parts.length; index += 2) {
    const text = (parts[index + 1] ?? '').split(/^## /m)[0] ?? '';
    const files = [...text.matchAll(/\]\(([^)#]+\.md)\)/g)].map((match) => posix.join('docs', match[1] ?? ''));
    const paths = new Set(files.map((file) => pathOf(file)));
    const pages = [...paths].map((path) => ({ path, title: titles.get(path) ?? path }));
    groups.push({ title: parts[index] ?? '', pages });
  }
  return groups;
}

/**
 * The index with its contents as lists.
 *
 * @param {string} html
 * @param {NavGroup[]} nav
 */
function withContents(html, nav) {
  const groups = nav.map(({ title, pages }) => {
    const items = pages.map((page) => `<li><a href="docs/${page.path}">${escapeHtml(page.title)}</a></li>`);
    return `<section><h2>${escapeHtml(title)}</h2><ul>${items.join('')}</ul></section>`;
  });
  const first = html.indexOf('<p><strong>');
  const last = html.indexOf('<h2 id="terms"');
  if (first === -1 || last === -1) throw new Error(`${indexFile} has no groups of links above its terms`);
  const intro = html.slice(0, first);
  const [heading = '', ...rest] = intro.split(/(?<=<\/h1>\n)/);
  const contents = `<div class="contents">${groups.join('')}</div>`;
  return `${heading}${contents}${rest.join('')}${html.slice(last)}`;
}

/** @param {Page[]} pages */
function listOf(pages) {
  const items = pages.map(({ path, title }) => `<li><a href="../docs/${path}">${escapeHtml(title)}</a></li>`);
  return `<ul>${items.join('')}</ul>`;
}

/**
 * @param {Page} page
 * @returns {SearchEntry[]}
 */
function searchEntries({ path, title, html }) {
  const sections = html.split(/(?=<h[23] id=)/);
  return sections.map((section) => {
    const [, id, heading = ''] = /^<h[23] id="([^"]*)">(.*?)<\/h[23]>/s.exec(section) ?? [];
    const text = toText(section.replace(/^<h[1-3].*?<\/h[1-3]>/s, ''));
    if (id === undefined) return { path, page: title, title: '', text };
    return { path: `${path}#${id}`, page: title, title: toText(heading), text };
  });
}

/** @param {string} html */
function toText(html) {
  const entities = /** @type {Record<string, string>} */ ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" });
  return html
    .replace(/<\/?(?:p|td|th|tr|li|pre|div)\b[^>]*>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** @param {string} text */
function escapeHtml(text) {
  return text.replace(/[&<>"]/g, (character) => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }[character]};`);
}
