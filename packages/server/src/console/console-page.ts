import type { PageStart } from '@tenon/protocol';
import { html } from '../http/pages/html.ts';
import { sendPage } from '../http/pages/layout.ts';
import { errorHeaders } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Router } from '../http/router.ts';
import type { Services } from '../services.ts';

/** Sends the console's HTML document, which browsers don't cache or frame, and whose URL they don't send as a referrer. */
export function sendDocument(
  services: Services,
  reply: Reply,
  status: number,
  kind: DocumentKind = 'page',
  start?: PageStart,
): Reply {
  const { console: files, addresses } = services;
  if (files === undefined) return sendPage(reply, 503, notBuilt);
  return reply
    .code(status)
    .headers({ 'content-type': 'text/html; charset=utf-8', ...documentHeaders(addresses, kind) })
    .send(files.document(basePathOf(services), start));
}

const notBuilt = {
  title: 'The console is not built',
  body: html`<h1>The console is not built</h1>
<p>The server runs, and its interface works, but the files of its pages are missing. In the folder of Tenon, run</p>
<p><code>npm run setup</code></p>
<p>and start the server again.</p>`,
};

/**
 * Responds to a browser that opens an unknown path: redirects to the page without a trailing slash, or sends the console's 404 page.
 * Doesn't respond to programs, or to paths of the API.
 *
 * @returns whether it responded
 */
export function respondNotFound(services: Services, router: Router, request: Request, reply: Reply): boolean {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const [path = '', query] = router.pathOf(request.target).split(/\?(.*)/s, 2);
  // On a page at `//name`, relative links would lead to the host of that name.
  const isNoPage = /^\/(?:api\/|\/)/.test(path);
  if (!isRead || isNoPage || !wantsHtml(request.headers.accept) || services.console === undefined) return false;
  reply.headers({ ...errorHeaders, 'x-request-id': request.id, vary: 'accept' });
  const trimmed = path.replace(/\/+$/, '');
  if (trimmed !== path && router.pathInfo(trimmed)?.isPage === true) {
    const location = basePathOf(services) + trimmed.slice(1) + (query === undefined ? '' : `?${query}`);
    reply.code(308).headers({ location, 'referrer-policy': 'no-referrer' }).send();
  } else sendDocument(services, reply, 404);
  return true;
}

/** Whether `accept` names HTML. Browsers do so when they open a URL; programs and scripts don't. */
function wantsHtml(accept: string | undefined): boolean {
  return /(?:^|,)\s*text\/html\s*(?:[;,]|$)(?!\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accept ?? '');
}

/** The path of `{base_url}`, with a slash at both ends. */
export function basePathOf({ addresses }: Services): string {
  return `${new URL(addresses.base()).pathname.replace(/\/+$/, '')}/`;
}

/** `trace` is the page that runs modules in web workers; `page` is any other page. */
export type DocumentKind = 'page' | 'trace';

type Headers = Readonly<Record<string, string>>;

/** Returns the security header fields of the console's document. */
export function documentHeaders(addresses: Services['addresses'], kind: DocumentKind): Headers {
  return {
    'content-security-policy': kind === 'trace' ? tracePolicy : pagePolicy(addresses),
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    // With the opener policy, this makes the page cross-origin isolated. Spans of microseconds need the finer clock of such pages:
    // https://www.w3.org/TR/hr-time-3/#clock-resolution
    ...(kind === 'trace' ? { 'cross-origin-embedder-policy': 'require-corp' } : {}),
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  };
}

/** Returns the security header fields of an asset. */
export function assetHeaders(name: string, contentType: string): Headers {
  const resource = { 'cross-origin-resource-policy': 'same-origin' };
  // A browser that opens an SVG image directly treats it as a document.
  if (contentType === 'image/svg+xml') return { ...resource, 'content-security-policy': "default-src 'none'; sandbox" };
  // A worker has the policy of its own script, not its page's: https://www.w3.org/TR/CSP3/#initialize-global-object-csp
  if (isWorker.test(name)) {
    return { ...resource, 'content-security-policy': workerPolicy, 'cross-origin-embedder-policy': 'require-corp' };
  }
  return resource;
}

/** The build output of `*.worker.ts`. */
const isWorker = /\.worker-[^/]+\.js$/;

/** Allows the page's own scripts and styles, and requests to this server and the instrumentation server. */
function pagePolicy(addresses: Services['addresses']): string {
  const base = new URL(addresses.base()).origin;
  const instrument = new URL(addresses.instrument()).origin;
  const servers = instrument === base ? "'self'" : `'self' ${instrument}`;
  return policy({ 'connect-src': servers, 'worker-src': "'none'", 'trusted-types': "'none'" });
}

/** Also allows workers, through one Trusted Types policy that checks their URLs. The page itself runs no module code. */
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

/** Allows workers to compile WebAssembly only: no requests, no further scripts. */
const workerPolicy = [
  "default-src 'none'",
  "script-src 'wasm-unsafe-eval'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
