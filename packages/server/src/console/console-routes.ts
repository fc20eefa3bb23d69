import { Type } from '@tenon/protocol/type';
import { readInvitationStatus } from '../apps/invitations.ts';
import { withCodeTries } from '../auth/code-attempts.ts';
import { evaluateConditions } from '../http/conditions.ts';
import { chooseEncoding } from '../http/content-encoding.ts';
import { DomainError, TooManyAttemptsError } from '../http/domain-errors.ts';
import { HttpError } from '../http/http-error.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { type Route, routeTagged } from '../http/route.ts';
import type { Services } from '../services.ts';
import { type Asset, type WellKnownName, wellKnownFiles } from './console-files.ts';
import { assetHeaders, sendDocument } from './console-page.ts';
import { readPageStart } from './page-start.ts';

const route = routeTagged('Pages');

/**
 * The console's pages. They share one document, whose script renders the page of the URL. Only `/trace` has a document of its own, with
 * other permissions (see `sendDocument()`).
 */
const pages: readonly (readonly [path: string, id: string, summary: string])[] = [
  ['/', 'showHome', "The console's home page: your applications"],
  ['/sign-in', 'showSignIn', 'The sign-in page'],
  ['/sign-up', 'showSignUp', 'The sign-up page'],
  ['/set-up', 'showSetUp', "The page of an operator's link that creates an account"],
  ['/reset-password', 'showResetPassword', "The page of an operator's link that resets a password"],
  ['/account', 'showAccount', 'The page of your account'],
  ['/account/activity', 'showActivity', "The page of your account's audit trail"],
  ['/account/tokens', 'showTokens', 'The page of sessions, access tokens and API keys'],
  ['/status', 'showStatus', "The operators' page of the server's status"],
  ['/users', 'showUsers', "The operators' page of the server's users"],
  ['/users/:userId', 'showUser', "The operators' page of a user"],
  ['/quotas', 'showQuotas', "The operators' page of quotas of one account or application"],
  ['/oauth/authorize', 'showAuthorization', "The page to approve a program's login (RFC 6749 §3.1)"],
  ['/device', 'showDevice', "The page to approve a login by a device's code (RFC 8628 §3.3)"],
  ['/trace', 'showTrace', 'The page that instruments and runs a module in the browser'],
  ['/apps/*', 'showApp', 'The pages of an application'],
];

const invitationQuery = Type.Object({
  // Without a maximum length, so that a garbled link opens a page instead of an error document.
  code: Type.Optional(Type.String({ description: 'the invitation code' })),
});

const wellKnownIds = {
  'favicon.ico': 'readFavicon',
  'apple-touch-icon.png': 'readTouchIcon',
  'robots.txt': 'readRobots',
} as const satisfies Record<WellKnownName, string>;

export const consoleRoutes: readonly Route[] = [
  ...pages.map(([path, id, summary]) => pageRoute(path, id, summary)),
  /**
   * The page of an invitation link. A GET changes nothing, because link previews open links too; the person decides with a button.
   * The response status tells programs whether the code is valid.
   */
  route('GET', '/accept-invite', {
    access: { kind: 'public' },
    page: true,
    query: invitationQuery,
    id: 'showInvitation',
    summary: 'The page to accept or decline an invitation',
    responses: {
      200: { description: 'a page', contentType: 'text/html' },
      404: { description: 'a page: no invitation has this code', contentType: 'text/html' },
      410: { description: 'a page: the invitation is used, expired or revoked', contentType: 'text/html' },
      429: { description: 'a page: this address has tried too many unknown codes', contentType: 'text/html' },
    },
    handle: async (services, { request, query }, reply) => {
      const { status, headers } = await checkInvitation(services, request, query.code);
      return sendDocument(services, reply.headers(headers), status);
    },
  }),
  route('GET', '/assets/*', {
    access: { kind: 'public' },
    page: true,
    id: 'readAsset',
    summary: "A file of the console's pages",
    wildcard: { name: 'name', description: 'the file name, which contains a hash of the content' },
    responses: { 200: { description: 'the file; it never changes', contentType: 'text/javascript' } },
    errors: ['not_found', 'precondition_failed'],
    requestHeaders: { 'if-none-match': 'the response is 304 if the file is unchanged' },
    handle(services, { request, params }, reply) {
      const name = (params as { '*': string })['*'];
      const headers = { 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' };
      return sendFile(request, reply, name, services.console?.asset(name), headers);
    },
  }),
  ...Object.entries(wellKnownFiles).map(([name, contentType]) => wellKnownRoute(name as WellKnownName, contentType)),
];

function wellKnownRoute(name: WellKnownName, contentType: string): Route {
  return route('GET', `/${name}`, {
    access: { kind: 'public' },
    page: true,
    id: wellKnownIds[name],
    summary: 'A file that browsers or crawlers request by its well-known name',
    responses: { 200: { description: 'the file', contentType: contentType.split(';', 1)[0] ?? contentType } },
    errors: ['not_found', 'precondition_failed'],
    requestHeaders: { 'if-none-match': 'the response is 304 if the file is unchanged' },
    handle: (services, { request }, reply) =>
      sendFile(request, reply, name, services.console?.wellKnown(name), { 'cache-control': 'public, max-age=86400' }),
  });
}

/** Whether a page shows a user's data, and runs no modules. */
function isForSignedIn(path: string): boolean {
  return path === '/' || path === '/status' || path === '/apps/*' || /^\/(?:account|users)/.test(path);
}

function pageRoute(path: string, id: string, summary: string): Route {
  const wildcard = { name: 'page', description: 'the application id and the page within it' };
  const kind = path === '/trace' ? 'trace' : 'page';
  return route('GET', path, {
    access: { kind: 'public' },
    page: true,
    id,
    summary,
    responses: { 200: { description: 'a page', contentType: 'text/html' } },
    ...(path.endsWith('*') ? { wildcard } : {}),
    handle: async (services, { request }, reply) => {
      const start = isForSignedIn(path) ? await readPageStart(services, request) : undefined;
      return sendDocument(services, reply, 200, kind, start);
    },
  });
}

/** Returns the response status for an invitation code. A URL without a code is valid: the page remembers the code from before. */
async function checkInvitation(services: Services, request: Request, code: string | undefined) {
  if (code === undefined) return { status: 200, headers: {} };
  try {
    const status = await withCodeTries(services, request, () => readInvitationStatus(services.deps, code));
    return { status: status === 'pending' ? 200 : 410, headers: {} };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.code === 'not_found') return { status: 404, headers: {} };
    if (error instanceof TooManyAttemptsError) {
      return { status: 429, headers: { 'retry-after': String(error.retryAfterSeconds) } };
    }
    throw error;
  }
}

function sendFile(
  request: Request,
  reply: Reply,
  name: string,
  file: Asset | undefined,
  headers: Readonly<Record<string, string>>,
): Reply {
  if (file === undefined) throw new HttpError('not_found', 'The console has no such file.');
  const encoding = chooseEncoding(request.headers['accept-encoding'], file.bytes.keys());
  const etag = file.etag(encoding);
  const outcome = evaluateConditions(request.headers, etag);
  if (outcome === 'precondition_failed') {
    throw new HttpError('precondition_failed', '"if-match" names another entity tag.');
  }
  reply.headers({ ...headers, etag, ...assetHeaders(name, file.contentType) });
  if (outcome === 'not_modified') return reply.code(304).send();
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.header('content-type', file.contentType).send(file.bytes.get(encoding));
}
