import type { SessionId, TokenScope, UserId } from '@tenon/protocol';
import type { Queries } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { DomainError } from '../../http/domain-errors.ts';
import { requireStepUp } from '../confirmation.ts';
import { narrowScopes } from './scopes.ts';

/** A signed-in user who decides on a login. */
export interface BrowserActor {
  readonly userId: UserId;
  readonly sessionId: SessionId;
}

/** The user's decision, as the approval page sends it. */
export interface LoginDecision {
  readonly decision: 'approve' | 'deny';
  /** The granted scopes. Default: all requested scopes. */
  readonly scopes?: readonly TokenScope[] | undefined;
  /** The user that the page showed as signed in. */
  readonly userId?: string | undefined;
}

/**
 * Requires that the page showed the user who is signed in. Another user may have signed in in another tab, and must not approve the
 * login by mistake.
 *
 * @throws DomainError `conflict`
 */
export function requireSameUser(actor: BrowserActor, { userId = actor.userId }: LoginDecision): void {
  if (userId === actor.userId) return;
  throw new DomainError('conflict', 'Another user has signed in in this browser. Load the page again.');
}

/**
 * Checks an approval. The granted scopes must have been requested, and the session needs step-up.
 *
 * @param requested the scopes that the login requested
 * @returns the granted scopes
 * @throws DomainError `invalid_field`, `step_up_required`
 */
export async function grantScopes(
  deps: Deps,
  actor: BrowserActor,
  { scopes }: LoginDecision,
  requested: readonly TokenScope[],
): Promise<readonly TokenScope[]> {
  const granted = narrowScopes(requested, scopes);
  await requireStepUp(deps, actor.sessionId);
  return granted;
}

/** Whether the session that approved a login still exists. If it ends before the program fetches the token, the login is void. */
export async function isSessionOpen(
  { clock }: Pick<Deps, 'clock'>,
  queries: Queries,
  sessionId: SessionId | null,
): Promise<boolean> {
  const session = sessionId === null ? undefined : await queries.session(sessionId);
  return session !== undefined && session.expiresAtMs > clock();
}
