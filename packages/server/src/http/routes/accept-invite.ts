import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { demandScope } from '../../domain/access.ts';
import { authenticateToken } from '../../domain/authenticate.ts';
import { DomainError } from '../../domain/errors.ts';
import { acceptInvitation, declineInvitation, describeInvitation } from '../../domain/invitations.ts';
import { formBody } from '../bodies/form-body.ts';
import { withCodeTries } from '../code-tries.ts';
import {
  acceptedPage,
  declinedPage,
  invitationForm,
  messagePage,
  type Page,
  settledPage,
  unknownPage,
} from '../pages/invitation-page.ts';
import { sendPage } from '../pages/layout.ts';
import type { Parts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { isSameOrigin } from '../same-origin.ts';

const tag = 'Pages';
const codeQuery = Type.Object({
  // Of any length: who opens a link that was garbled gets a page.
  code: Type.Optional(Type.String({ description: 'the invitation code' })),
});

/**
 * The page behind an invitation link. Opening it changes nothing, since programs that show previews of links open them too: the
 * person decides with a button.
 */
export const acceptInviteRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/accept-invite',
    access: { kind: 'public' },
    page: true,
    query: codeQuery,
    doc: {
      id: 'showInvitation',
      tag,
      summary: 'The page on which an invited person accepts or declines',
      answers: {
        200: { description: 'a page with a form', contentType: 'text/html' },
        404: { description: 'a page: no invitation has that code', contentType: 'text/html' },
        410: { description: 'a page: used, expired or revoked', contentType: 'text/html' },
        429: { description: 'a page: too many unknown codes came from this address', contentType: 'text/html' },
      },
    },
    handle: (parts, { request, query }, reply) => withPages(reply, () => showForm(parts, request, query.code ?? '')),
  }),
  route({
    method: 'POST',
    path: '/accept-invite',
    access: { kind: 'public' },
    page: true,
    body: formBody,
    doc: {
      id: 'decideInvitation',
      tag,
      summary: "What the page's buttons send",
      answers: {
        200: { description: 'a page: done', contentType: 'text/html' },
        401: { description: 'the form again: the token is not valid', contentType: 'text/html' },
        403: {
          description: 'a page: the token lacks a scope, or another site sent the form',
          contentType: 'text/html',
        },
        404: { description: 'a page: no invitation has that code', contentType: 'text/html' },
        410: { description: 'a page: used, expired or revoked', contentType: 'text/html' },
        429: { description: 'a page: too many unknown codes came from this address', contentType: 'text/html' },
      },
    },
    handle: (parts, { request, body }, reply) => withPages(reply, () => decide(parts, request, body)),
  }),
];

interface PageAnswer {
  readonly status: number;
  readonly page: Page;
}

async function showForm(parts: Parts, request: FastifyRequest, code: string, fault?: string): Promise<PageAnswer> {
  const { app, status, expiresAtMs } = await withCodeTries(parts, request, () =>
    describeInvitation(parts.context, code),
  );
  if (status !== 'pending') return { status: 410, page: settledPage(status) };
  const form = invitationForm({ appName: app.name, code, expiresAt: new Date(expiresAtMs) }, fault);
  return { status: 200, page: form };
}

async function decide(parts: Parts, request: FastifyRequest, form: URLSearchParams): Promise<PageAnswer> {
  if (!isSameOrigin(request.headers, parts.addresses.base())) {
    return {
      status: 403,
      page: messagePage('Another site sent this form', 'Open the invitation link itself and decide there.'),
    };
  }
  const { context } = parts;
  const code = form.get('code') ?? '';
  const decision = form.get('decision');
  if (decision !== 'accept' && decision !== 'decline') {
    return { status: 400, page: messagePage('Nothing was decided', 'Go back and press one of the two buttons.') };
  }
  try {
    const actor = await authenticateToken(context, (form.get('token') ?? '').trim());
    parts.uses.note(actor.tokenId);
    demandScope(actor, 'publish');
    if (decision === 'accept') {
      const { app } = await withCodeTries(parts, request, () => acceptInvitation(context, actor, code));
      return { status: 200, page: acceptedPage(app.name) };
    }
    const app = await withCodeTries(parts, request, () => declineInvitation(context, actor, code));
    return { status: 200, page: declinedPage(app.name) };
  } catch (error) {
    const status =
      error instanceof DomainError && { invalid_token: 401, insufficient_scope: 403 }[error.code as string];
    if (!status) throw error;
    const again = await showForm(parts, request, code, (error as Error).message);
    return again.status === 200 ? { status, page: again.page } : again;
  }
}

/** Turns what a person can run into into a page that says what to do. */
async function withPages(reply: FastifyReply, answer: () => Promise<PageAnswer>): Promise<FastifyReply> {
  const { status, page } = await answer().catch((error: unknown): PageAnswer => {
    if (!(error instanceof DomainError)) throw error;
    switch (error.code) {
      case 'not_found':
        return { status: 404, page: unknownPage() };
      case 'invitation_used':
        return { status: 410, page: settledPage('accepted') };
      case 'invitation_expired':
        return { status: 410, page: settledPage('expired') };
      case 'invitation_revoked':
        return { status: 410, page: settledPage('revoked') };
      case 'rate_limited':
        reply.header('retry-after', (error as { headers?: Record<string, string> }).headers?.['retry-after'] ?? '60');
        return { status: 429, page: messagePage('Too many tries', error.message) };
      default:
        throw error;
    }
  });
  return sendPage(reply, status, page);
}
