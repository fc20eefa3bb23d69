import { isExpiryNear } from '@tenon/protocol/credential-expiry';
import { Badge } from '../../components/badge.tsx';
import { Time } from '../../components/time.tsx';

/** When a token or a key expires or expired. Says so if it is soon. */
export function Expiry({ at, createdAt }: { readonly at: string; readonly createdAt: string }) {
  const [endMs, nowMs] = [Date.parse(at), Date.now()];
  if (endMs <= nowMs) return <Badge kind="bad">expired</Badge>;
  return (
    <>
      <Time at={at} />
      {isExpiryNear(Date.parse(createdAt), endMs, nowMs) ? (
        <>
          {' '}
          <Badge kind="waiting">soon</Badge>
        </>
      ) : null}
    </>
  );
}
