import type { SessionId } from '@tenon/protocol';
import { record } from './audit/record.ts';
import { sessionActor, sessionTarget } from './audit/session-actor.ts';
import type { Context } from './context.ts';
import { DomainError } from './errors.ts';
import { requirePassword, requireUnchangedPassword } from './passwords.ts';
import type { Queries } from './ports.ts';
import type { SessionRecord } from './records.ts';

/** For how long entering the password lets a session do what reaches far. */
const confirmationLifetimeMs = 15 * 60 * 1000;

/**
 * Notes that whoever sits before the browser knows the password.
 *
 * @throws what {@link requirePassword} and {@link requireUnchangedPassword} throw; DomainError `not_signed_in` when the session ended
 *   meanwhile
 */
export async function confirmSession(context: Context, session: SessionRecord, password: string): Promise<void> {
  const verified = await requirePassword(context, sessionActor(session), password);
  await context.store.write(async (tx) => {
    await requireSession(tx, session.id);
    await requireUnchangedPassword(tx, verified);
    await tx.confirmSession(session.id, context.clock());
    await record(context, tx, sessionActor(session), { action: 'session.confirm', target: sessionTarget(session) });
  });
}

/**
 * Requires, for a token that belongs to a browser's session, that the password was entered there recently. A program's token
 * needs none: a token with `manage` was itself granted with the password.
 *
 * @param queries the transaction, inside of one
 * @throws DomainError `password_required`
 */
export async function requireRecentPassword(
  context: Pick<Context, 'store' | 'clock'>,
  sessionId: SessionId | null,
  queries: Pick<Queries, 'session'> = context.store.read,
): Promise<void> {
  if (sessionId === null) return;
  const session = await queries.session(sessionId);
  if (session !== undefined && session.confirmedAtMs + confirmationLifetimeMs > context.clock()) return;
  throw new DomainError('password_required', 'This reaches far: enter the password again, then repeat it.');
}

/**
 * Requires that a session still exists: verifying a password takes a while, and the session may have ended meanwhile. Call it in
 * the transaction that makes the change.
 *
 * @throws DomainError `not_signed_in`
 */
export async function requireSession(tx: Queries, sessionId: SessionId): Promise<void> {
  if ((await tx.session(sessionId)) !== undefined) return;
  throw new DomainError('not_signed_in', 'You were signed out meanwhile. Sign in again.');
}
