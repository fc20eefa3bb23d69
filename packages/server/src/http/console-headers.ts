import type { Parts } from './parts.ts';

/** `page` is any page of the console; `trace` the one that runs modules, in workers of its own. */
export type DocumentKind = 'page' | 'trace';

type Headers = Readonly<Record<string, string>>;

/** What the console's document may do and who may look into it, beside what it is. */
export function documentHeaders(addresses: Parts['addresses'], kind: DocumentKind): Headers {
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
function pagePolicy(addresses: Parts['addresses']): string {
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
