import type { InvitationStatus } from '@tenon/protocol';
import { Badge } from '../../components/badge.tsx';

const kinds = { pending: 'waiting', accepted: 'good', declined: 'bad', revoked: 'plain', expired: 'plain' } as const;

/** The state of an invitation. */
export function InvitationBadge({ status }: { readonly status: InvitationStatus }) {
  return <Badge kind={kinds[status]}>{status}</Badge>;
}
