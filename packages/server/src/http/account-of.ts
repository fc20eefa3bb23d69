import type { UserId } from '@tenon/protocol';
import type { Admission } from './route.ts';

/** Whose account a caller uses, whichever of its tokens, keys and sessions they came with; `undefined` where nobody had to say. */
export function accountOf(admission: Admission): UserId | undefined {
  if ('actor' in admission) return admission.actor.userId;
  if ('apiKey' in admission) return admission.apiKey.userId;
  return 'session' in admission ? admission.session.userId : undefined;
}
