import type { User } from '@tenon/protocol';
import { Badge } from '../../components/badge.tsx';
import { useAccount } from '../../state/services.ts';

export function UserBadges({ user: { id, isOperator, suspendedAt } }: { readonly user: User }) {
  const account = useAccount();
  return (
    <>
      {id === account.id ? <Badge kind="good">you</Badge> : null}
      {isOperator ? <Badge>operator</Badge> : null}
      {suspendedAt === null ? null : <Badge kind="bad">suspended</Badge>}
    </>
  );
}
