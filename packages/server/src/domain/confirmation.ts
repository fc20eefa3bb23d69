import type { SessionId } from '@tenon/protocol';
import { bySession, sessionTarget } from './audit/by-session.ts';
import { record } from './audit/record.ts';
import type { Context } from './context.ts';
import { DomainError } from './errors.ts';
import { demandPassword } from './passwords.ts';
import type { SessionRecord } from './records.ts';

/** For how long entering the password lets a session do what reaches far. */
const confirmationLifetimeMs = 15 * 60 * 1000;

/**
 * Notes that whoever sits before the browser knows the password.
 *
 * @throws what {@link demandPassword} throws
 */
export async function confirmSession(context: Context, session: SessionRecord, password: string): Promise<void> {
  await demandPassword(context, bySession(session), password);
  await context.store.write(async (tx) => {
    await tx.confirmSession(session.id, context.clock());
    await record(context, tx, bySession(session), { action: 'session.confirm', target: sessionTarget(session) });
  });
}

/**
 * Demands, of a token that belongs to a browser's session, that the password was entered there a short while ago. Programs'
 * tokens are not asked.
 *
 * @throws DomainError `password_required`
 */
export async function demandConfirmation(context: Context, sessionId: SessionId | null): Promise<void> {
  if (sessionId === null) return;
  const session = await context.store.read.session(sessionId);
  if (session !== undefined && session.confirmedAtMs + confirmationLifetimeMs > context.clock()) return;
  throw new DomainError('password_required', 'This reaches far: enter the password again, then repeat it.');
}
