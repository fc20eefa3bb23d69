import type { PasskeyAssertion, SessionConfirmation, SessionId } from '@tenon/protocol';
import { record, sessionActor, sessionTarget } from '../audit/record.ts';
import type { SessionRecord } from '../db/records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, invalidField } from '../http/domain-errors.ts';
import type { RelyingParty } from './passkeys/relying-party.ts';
import { hasPasskey, storePasskeyUse, verifyAssertion } from './passkeys/verify-assertion.ts';
import { requirePassword, requireUnchangedPassword } from './passwords/passwords.ts';

/** How long after the user proved to be present a session may make sensitive changes. */
const confirmationLifetimeMs = 5 * 60 * 1000;

/**
 * Verifies a passkey in a signed-in browser, or the password of an account without one, and stores the time, for {@link requireStepUp}.
 *
 * @throws PasskeyRefusedError; DomainError as {@link requirePassword} and {@link requireUnchangedPassword}; `conflict` for the password of
 *   an account with a passkey; `invalid_field` for neither or both; `not_signed_in` if the session has ended
 */
export async function confirmSession(
  deps: Deps,
  rp: RelyingParty,
  session: SessionRecord,
  { password, passkey }: SessionConfirmation,
): Promise<void> {
  if ((password === undefined) === (passkey === undefined)) {
    throw invalidField('/password', 'send either the password or the response of a passkey');
  }
  if (passkey !== undefined) await confirmWithPasskey(deps, rp, session, passkey);
  if (password !== undefined) await confirmWithPassword(deps, session, password);
}

async function confirmWithPasskey(
  deps: Deps,
  rp: RelyingParty,
  session: SessionRecord,
  assertion: PasskeyAssertion,
): Promise<void> {
  const verified = await verifyAssertion(deps, rp, assertion, { purpose: 'confirm', holder: session.id });
  await deps.store.write(async (tx) => {
    await requireSession(tx, session.id);
    const { id } = await storePasskeyUse(deps, tx, verified);
    await tx.confirmSession(session.id, deps.clock(), id);
    await recordConfirmation(deps, tx, session, 'passkey');
  });
}

async function confirmWithPassword(deps: Deps, session: SessionRecord, password: string): Promise<void> {
  await requireNoPasskey(deps.store.read, session);
  const verified = await requirePassword(deps, sessionActor(session), password);
  await deps.store.write(async (tx) => {
    await requireSession(tx, session.id);
    await requireUnchangedPassword(tx, verified);
    await requireNoPasskey(tx, session);
    await tx.confirmSession(session.id, deps.clock());
    await recordConfirmation(deps, tx, session, 'password');
  });
}

async function requireNoPasskey(queries: Queries, { userId }: SessionRecord): Promise<void> {
  if (!(await hasPasskey(queries, userId))) return;
  throw new DomainError('conflict', 'Your account has a passkey. Confirm with the passkey instead of the password.');
}

async function recordConfirmation(
  deps: Deps,
  tx: Transaction,
  session: SessionRecord,
  means: 'passkey' | 'password',
): Promise<void> {
  const target = sessionTarget(session);
  await record(deps, tx, sessionActor(session), { action: 'session.confirm', target, details: { means } });
}

/**
 * Requires, for the token of a browser's session, that the user signed in or confirmed the session there within
 * {@link confirmationLifetimeMs}. A program's token needs none, because it got its scopes with step-up.
 *
 * @param sessionId the actor's session; `null` for a program's token
 * @param queries the current transaction, if there is one
 * @throws DomainError `step_up_required`
 */
export async function requireStepUp(
  deps: Pick<Deps, 'store' | 'clock' | 'isDryRun'>,
  sessionId: SessionId | null,
  queries: Pick<Queries, 'session'> = deps.store.read,
): Promise<void> {
  if (await isConfirmed(deps, sessionId, queries)) return;
  throw new DomainError(
    'step_up_required',
    'This change is sensitive. Confirm with your passkey or password, then repeat the request.',
  );
}

/** Whether {@link requireStepUp} would succeed. */
export async function isConfirmed(
  deps: Pick<Deps, 'store' | 'clock' | 'isDryRun'>,
  sessionId: SessionId | null,
  queries: Pick<Queries, 'session'> = deps.store.read,
): Promise<boolean> {
  if (sessionId === null || deps.isDryRun === true) return true;
  const session = await queries.session(sessionId);
  return session !== undefined && session.confirmedAtMs + confirmationLifetimeMs > deps.clock();
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
