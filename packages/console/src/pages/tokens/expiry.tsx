import { Badge } from '../../components/badge.tsx';
import { Time } from '../../components/time.tsx';

/** When a token or a key expires or expired. */
export function Expiry({ at }: { readonly at: string }) {
  return Date.parse(at) <= Date.now() ? <Badge kind="bad">expired</Badge> : <Time at={at} />;
}
