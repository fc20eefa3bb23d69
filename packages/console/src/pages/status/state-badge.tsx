import type { ProcessState } from '@tenon/protocol';
import { Badge } from '../../components/badge.tsx';

const words = {
  ready: ['good', 'ready'],
  not_ready: ['bad', 'not ready'],
  stopping: ['waiting', 'stopping'],
} as const satisfies Record<ProcessState, readonly [string, string]>;

/** A process state. */
export function StateBadge({ state }: { readonly state: ProcessState }) {
  const [kind, word] = words[state];
  return <Badge kind={kind}>{word}</Badge>;
}

export function NodeBadge({ isLost }: { readonly isLost: boolean }) {
  return <Badge kind={isLost ? 'bad' : 'good'}>{isLost ? 'lost' : 'running'}</Badge>;
}

export function ReachBadge({ isReachable }: { readonly isReachable: boolean }) {
  return <Badge kind={isReachable ? 'good' : 'bad'}>{isReachable ? 'reachable' : 'unreachable'}</Badge>;
}
