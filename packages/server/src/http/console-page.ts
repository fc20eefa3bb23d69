import { type DocumentKind, documentHeaders } from './console-headers.ts';
import { html } from './pages/html.ts';
import { sendPage } from './pages/layout.ts';
import type { Parts } from './parts.ts';
import { errorHeaders } from './problem.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';
import type { Router } from './router.ts';

/** Answers the console's document, which no one keeps, frames, or learns the address of. */
export function sendShell(parts: Parts, reply: Reply, status: number, kind: DocumentKind = 'page'): Reply {
  const { console: files, addresses } = parts;
  if (files === undefined) return sendPage(reply, 503, notBuilt);
  return reply
    .code(status)
    .headers({ 'content-type': 'text/html; charset=utf-8', ...documentHeaders(addresses, kind) })
    .send(files.shell(basePathOf(parts)));
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
export function respondLost(parts: Parts, router: Router, request: Request, reply: Reply): boolean {
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  const [path = '', query] = router.pathOf(request.target).split(/\?(.*)/s, 2);
  // A page at `//name` would take links that are relative to it for links to the host of that name.
  const isForPrograms = /^\/(?:api\/|\/)/.test(path);
  if (!isReading || isForPrograms || !wantsHtml(request.headers.accept) || parts.console === undefined) return false;
  reply.headers({ ...errorHeaders, 'x-request-id': request.id, vary: 'accept' });
  const trimmed = path.replace(/\/+$/, '');
  if (trimmed !== path && router.at(trimmed)?.isPage === true) {
    const location = basePathOf(parts) + trimmed.slice(1) + (query === undefined ? '' : `?${query}`);
    reply.code(308).headers({ location, 'referrer-policy': 'no-referrer' }).send();
  } else sendShell(parts, reply, 404);
  return true;
}

/** Whether `accept` names HTML, as it does when a browser opens an address: programs don't, and scripts take anything. */
function wantsHtml(accept: string | undefined): boolean {
  return /(?:^|,)\s*text\/html\s*(?:[;,]|$)(?!\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accept ?? '');
}

/** The path of `{base_url}`, with a slash at both ends. */
function basePathOf({ addresses }: Parts): string {
  return `${new URL(addresses.base()).pathname.replace(/\/+$/, '')}/`;
}
