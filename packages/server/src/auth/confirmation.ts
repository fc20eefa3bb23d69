import type { SessionId } from '@tenon/protocol';
import { record, sessionActor, sessionTarget } from '../audit/record.ts';
import type { SessionRecord } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import { requirePassword, requireUnchangedPassword } from './passwords/passwords.ts';

/** How long after the password was entered a session may make sensitive changes. */
const confirmationLifetimeMs = 5 * 60 * 1000;

/**
 * Verifies the password again in a signed-in browser, and stores the time, for {@link requireStepUp}.
 *
 * @throws DomainError as {@link requirePassword} and {@link requireUnchangedPassword}; `not_signed_in` if the session has ended
 */
export async function confirmSession(deps: Deps, session: SessionRecord, password: string): Promise<void> {
  const verified = await requirePassword(deps, sessionActor(session), password);
  await deps.store.write(async (tx) => {
    await requireSession(tx, session.id);
    await requireUnchangedPassword(tx, verified);
    await tx.confirmSession(session.id, deps.clock());
    await record(deps, tx, sessionActor(session), { action: 'session.confirm', target: sessionTarget(session) });
  });
}

/**
 * Requires, for the token of a browser's session, that the user entered the password there within
 * {@link confirmationLifetimeMs}. A program's token needs none, because the password was entered when the token got the scope
 * `manage`.
 *
 * @param sessionId the actor's session; `null` for a program's token
 * @param queries the current transaction, if there is one
 * @throws DomainError `step_up_required`
 */
export async function requireStepUp(
  deps: Pick<Deps, 'store' | 'clock'>,
  sessionId: SessionId | null,
  queries: Pick<Queries, 'session'> = deps.store.read,
): Promise<void> {
  if (sessionId === null) return;
  const session = await queries.session(sessionId);
  if (session !== undefined && session.confirmedAtMs + confirmationLifetimeMs > deps.clock()) return;
  throw new DomainError(
    'step_up_required',
    'This change is sensitive. Enter your password again, then repeat the request.',
  );
}

/**
 * Requires that a session still exists, because it may have ended during the slow verification of a password. Call it in the
 * transaction that makes the change.
 *
 * @throws DomainError `not_signed_in`
 */
export async function requireSession(tx: Queries, sessionId: SessionId): Promise<void> {
  if ((await tx.session(sessionId)) !== undefined) return;
  throw new DomainError('not_signed_in', 'You were signed out during the request. Sign in again.');
}
