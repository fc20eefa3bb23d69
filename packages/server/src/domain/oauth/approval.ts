import type { SessionId, TokenScope, UserId } from '@tenon/protocol';
import { requireRecentPassword } from '../confirmation.ts';
import type { Context } from '../context.ts';
import { DomainError } from '../errors.ts';
import { requirePassword } from '../passwords.ts';
import type { Queries } from '../ports.ts';
import { narrowScopes } from './scopes.ts';

/** Who decides on a login: somebody who is signed in. */
export interface Approver {
  readonly userId: UserId;
  readonly sessionId: SessionId;
}

/** What was decided, as the page sends it. */
export interface LoginDecision {
  readonly decision: 'approve' | 'deny';
  /** What of the scopes that were asked for is granted; all of it when nothing is said. */
  readonly scopes?: readonly TokenScope[] | undefined;
  readonly password?: string | undefined;
  /** Who decides, as the page showed it. */
  readonly userId?: string | undefined;
}

/**
 * Demands that who decides is whom the page showed: meanwhile somebody else may have signed in in another tab, whom the
 * login would then be for.
 *
 * @throws DomainError `conflict`
 */
export function requireSameUser(approver: Approver, { userId = approver.userId }: LoginDecision): void {
  if (userId === approver.userId) return;
  throw new DomainError('conflict', 'Somebody else is signed in in this browser by now. Load the page again.');
}

/**
 * Demands what an approval takes: scopes that were asked for, and the password, for `manage` each time and else a short while
 * ago, as any new token does.
 *
 * @returns the scopes that are granted
 * @throws DomainError `invalid_field`, `password_required`, `invalid_credentials`, `rate_limited`
 */
export async function grantScopes(
  context: Context,
  approver: Approver,
  { scopes, password }: LoginDecision,
  asked: readonly TokenScope[],
): Promise<readonly TokenScope[]> {
  const granted = narrowScopes(asked, scopes);
  if (!granted.includes('manage')) {
    await requireRecentPassword(context, approver.sessionId);
    return granted;
  }
  if (password === undefined) {
    throw new DomainError('password_required', 'To let a program manage applications takes your password again.');
  }
  await requirePassword(context, approver, password);
  return granted;
}

/** Whether the session that approved a login still stands: a login approved in a session ends with it until its token is fetched. */
export async function isSessionOpen(
  { clock }: Pick<Context, 'clock'>,
  queries: Queries,
  sessionId: SessionId | null,
): Promise<boolean> {
  const session = sessionId === null ? undefined : await queries.session(sessionId);
  return session !== undefined && session.expiresAtMs > clock();
}
