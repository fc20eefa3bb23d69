import { type InvitationLink, invitationLink } from '@tenon/protocol';
import type { Parts } from '../parts.ts';
import { example } from './examples.ts';

/** What making an invitation answers, of a guest or to the team. */
export const invitationAnswers = {
  200: {
    description: 'the link, which is shown this once',
    schema: invitationLink,
    example: {
      status: 'ok' as const,
      link: 'http://localhost:8366/accept-invite?code=rIpkzGDfBFDFHVAuUYsGZ0YTvXAHvvIkmEFsnfzFh0M',
    },
  },
};

/** What the examples of both kinds of invitation share. */
export const pendingInvitationExample = {
  id: example.invitationId,
  status: 'pending' as const,
  email: null,
  name: 'Ada',
  createdAt: example.time,
  expiresAt: '2026-03-08T12:00:00.000Z',
  settledAt: null,
};

/** The link by which an invitation is accepted. */
export function toInvitationLink({ addresses }: Pick<Parts, 'addresses'>, code: string): InvitationLink {
  return { status: 'ok', link: `${addresses.base()}/accept-invite?code=${code}` };
}
