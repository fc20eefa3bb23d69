import { html } from '../http/pages/html.ts';
import { sendPage } from '../http/pages/layout.ts';
import { errorHeaders } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Router } from '../http/router.ts';
import type { Services } from '../services.ts';

/** Answers the console's document, which no one keeps, frames, or learns the address of. */
export function sendDocument(services: Services, reply: Reply, status: number, kind: DocumentKind = 'page'): Reply {
  const { console: files, addresses } = services;
  if (files === undefined) return sendPage(reply, 503, notBuilt);
  return reply
    .code(status)
    .headers({ 'content-type': 'text/html; charset=utf-8', ...documentHeaders(addresses, kind) })
    .send(files.document(basePathOf(services)));
}

const notBuilt = {
  title: 'The console is not built',
  body: html`<h1>The console is not built</h1>
<p>The server runs, and its interface works, but the files of its pages are missing. In the folder of Tenon, run</p>
<p><code>npm run setup</code></p>
<p>and start the server again.</p>`,
};

/**
 * Answers a browser that was led to an address where nothing is: with the page without the slash at its end, if there is one, else with
 * the console's own page that says so. Programs, and addresses of the API, get no page.
 *
 * @returns whether it answered
 */
export function respondNotFound(services: Services, router: Router, request: Request, reply: Reply): boolean {
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  const [path = '', query] = router.pathOf(request.target).split(/\?(.*)/s, 2);
  // A page at `//name` would take links that are relative to it for links to the host of that name.
  const isForPrograms = /^\/(?:api\/|\/)/.test(path);
  if (!isReading || isForPrograms || !wantsHtml(request.headers.accept) || services.console === undefined) return false;
  reply.headers({ ...errorHeaders, 'x-request-id': request.id, vary: 'accept' });
  const trimmed = path.replace(/\/+$/, '');
  if (trimmed !== path && router.pathInfo(trimmed)?.isPage === true) {
    const location = basePathOf(services) + trimmed.slice(1) + (query === undefined ? '' : `?${query}`);
    reply.code(308).headers({ location, 'referrer-policy': 'no-referrer' }).send();
  } else sendDocument(services, reply, 404);
  return true;
}

/** Whether `accept` names HTML, as it does when a browser opens an address: programs don't, and scripts take anything. */
function wantsHtml(accept: string | undefined): boolean {
  return /(?:^|,)\s*text\/html\s*(?:[;,]|$)(?!\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accept ?? '');
}

/** The path of `{base_url}`, with a slash at both ends. */
function basePathOf({ addresses }: Services): string {
  return `${new URL(addresses.base()).pathname.replace(/\/+$/, '')}/`;
}

/** `page` is any page of the console; `trace` the one that runs modules, in workers of its own. */
export type DocumentKind = 'page' | 'trace';

type Headers = Readonly<Record<string, string>>;

/** What the console's document may do and who may look into it, beside what it is. */
export function documentHeaders(addresses: Services['addresses'], kind: DocumentKind): Headers {
  return {
    'content-security-policy': kind === 'trace' ? tracePolicy : pagePolicy(addresses),
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    // Together with the opener policy it makes the page cross-origin isolated, and only then are clocks fine enough for spans of
    // microseconds: https://www.w3.org/TR/hr-time-3/#clock-resolution
    ...(kind === 'trace' ? { 'cross-origin-embedder-policy': 'require-corp' } : {}),
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  };
}

/** What an asset needs beside its type. */
export function assetHeaders(name: string, contentType: string): Headers {
  const resource = { 'cross-origin-resource-policy': 'same-origin' };
  // An image that is opened by itself is a document.
  if (contentType === 'image/svg+xml') return { ...resource, 'content-security-policy': "default-src 'none'; sandbox" };
  // A worker goes by the headers of its own script, not by its page's: https://www.w3.org/TR/CSP3/#initialize-global-object-csp
  if (isWorker.test(name)) {
    return { ...resource, 'content-security-policy': workerPolicy, 'cross-origin-embedder-policy': 'require-corp' };
  }
  return resource;
}

/** As the build names what sources called `*.worker.ts` become. */
const isWorker = /\.worker-[^/]+\.js$/;

/** What every page may do: its own scripts and styles, its own server, and the one that instruments where that is another. */
function pagePolicy(addresses: Services['addresses']): string {
  const base = new URL(addresses.base()).origin;
  const instrument = new URL(addresses.instrument()).origin;
  const servers = instrument === base ? "'self'" : `'self' ${instrument}`;
  return policy({ 'connect-src': servers, 'worker-src': "'none'", 'trusted-types': "'none'" });
}

/** The page that runs modules starts workers, by the one policy that knows their addresses. It runs nothing of a module itself. */
const tracePolicy = policy({ 'connect-src': "'self'", 'worker-src': "'self'", 'trusted-types': 'tenon-workers' });

function policy(own: Readonly<Record<'connect-src' | 'worker-src' | 'trusted-types', string>>): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${own['connect-src']}`,
    `worker-src ${own['worker-src']}`,
    "form-action 'none'",
    "base-uri 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${own['trusted-types']}`,
  ].join('; ');
}

/** Workers compile WebAssembly, and do nothing else: no request goes out of them, and they load no further script. */
const workerPolicy = [
  "default-src 'none'",
  "script-src 'wasm-unsafe-eval'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
