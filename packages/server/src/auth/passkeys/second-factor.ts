import type { PasskeyAssertion, UserId } from '@tenon/protocol';
import { record } from '../../audit/record.ts';
import type { PasskeyRecord, PendingSignInRecord } from '../../db/passkey-records.ts';
import type { Queries, Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { DomainError } from '../../http/domain-errors.ts';
import { queueNotice } from '../../mail/notices.ts';
import { requireNotSuspended } from '../access.ts';
import { withAttemptLimits } from '../attempts.ts';
import { recordRefusal } from '../refusals.ts';
import { hashSecret, isCode, makeCode } from '../secrets.ts';
import { type Browser, type SessionMeans, type StartedSession, startSession } from '../sessions.ts';
import { challengeLifetimeMs, createChallenge } from './challenges.ts';
import { assertionOptions } from './passkeys.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { recordingRefusals } from './refuse-passkey.ts';
import type { RelyingParty } from './relying-party.ts';
import { storePasskeyUse, verifyAssertion } from './verify-assertion.ts';

/*
 * An account with a passkey needs it, or a recovery code, after the password. Between the two, the browser has a cookie with a secret that
 * opens nothing else.
 */

/** The maximum number of wrong recovery codes after one correct password. */
const maxAttempts = 5;

/** A sign-in that needs a second factor. */
export interface PendingSignIn {
  /** The secret for the browser's cookie. */
  readonly signInSecret: string;
  readonly expiresAtMs: number;
  readonly hasRecoveryCodes: boolean;
}

/**
 * Starts a session after a correct password or password link, or asks for the second factor if the account has a passkey.
 *
 * @throws DomainError `account_suspended`
 */
export async function startSessionOrAsk(
  deps: Deps,
  tx: Transaction,
  userId: UserId,
  browser: Browser,
  means: SessionMeans,
): Promise<StartedSession | PendingSignIn> {
  if ((await tx.passkeysOf(userId)).length === 0) return startSession(deps, tx, userId, browser, { means });
  const user = await tx.user(userId);
  if (user !== undefined) requireNotSuspended(user);
  const signInSecret = makeCode(deps.random);
  const expiresAtMs = deps.clock() + challengeLifetimeMs;
  await tx.deleteExpiredChallenges(deps.clock());
  await tx.insertPendingSignIn({ secretHash: hashSecret(signInSecret), userId, attempts: 0, expiresAtMs });
  return { signInSecret, expiresAtMs, hasRecoveryCodes: (await tx.countRecoveryCodes(userId)) > 0 };
}

/**
 * Returns the options of `navigator.credentials.get()` for a sign-in: with any passkey, or after the password, with one of the account.
 *
 * @returns the options, and the secret for the browser's cookie
 * @throws DomainError `rate_limited`
 */
export async function signInOptions(
  deps: Deps,
  rp: RelyingParty,
  network: string,
  secret: string | undefined,
): Promise<{ readonly options: Awaited<ReturnType<typeof assertionOptions>>; readonly signInSecret: string }> {
  const limit = { limiter: deps.rates.passkeyChallenges, key: network, counts: 'both' } as const;
  const message = 'Too many sign-ins with passkeys were started.';
  return withAttemptLimits([{ ...limit, message }], async () => {
    const signInSecret = secret !== undefined && isCode(secret) ? secret : makeCode(deps.random);
    const holder = hashSecret(signInSecret);
    const pending = await findPending(deps, deps.store.read, signInSecret);
    const passkeys: readonly PasskeyRecord[] =
      pending === undefined ? [] : await deps.store.read.passkeysOf(pending.userId);
    const challenge = await createChallenge(deps, { purpose: 'sign_in', holder, userId: pending?.userId ?? null });
    return { options: await assertionOptions(rp, challenge, passkeys), signInSecret };
  });
}

/**
 * Signs a user in with a passkey.
 *
 * @param secret the secret of the browser's cookie
 * @throws PasskeyRefusedError; DomainError `account_suspended`, `rate_limited`
 */
export function signInWithPasskey(
  deps: Deps,
  rp: RelyingParty,
  assertion: PasskeyAssertion,
  browser: Browser,
  secret: string | undefined,
): Promise<StartedSession> {
  const holder = hashSecret(secret ?? '');
  const limit = {
    limiter: deps.rates.refusedPasskeys,
    key: browser.network,
    message: 'Too many passkeys were refused.',
  };
  const work = async () => {
    const verified = await verifyAssertion(deps, rp, assertion, { purpose: 'sign_in', holder });
    return deps.store.write(async (tx) => {
      const passkey = await storePasskeyUse(deps, tx, verified);
      await tx.deletePendingSignIn(holder);
      return startSession(deps, tx, passkey.userId, browser, { means: 'passkey', passkeyId: passkey.id });
    });
  };
  const ofError = (error: unknown) =>
    error instanceof DomainError && error.code === 'invalid_passkey' ? ('wrong' as const) : ('undecided' as const);
  return recordingRefusals(deps, browser.address, () => withAttemptLimits([limit], work, { ofError }));
}

/**
 * Completes a sign-in with a recovery code, which is used up.
 *
 * @param secret the secret of the browser's cookie
 * @throws DomainError `not_signed_in` if no password was entered before, or too long ago; `invalid_credentials`, `rate_limited`,
 *   `account_suspended`
 */
export async function signInWithRecoveryCode(
  deps: Deps,
  code: string,
  browser: Browser,
  secret: string | undefined,
): Promise<StartedSession> {
  const pending = secret === undefined ? undefined : await findPending(deps, deps.store.read, secret);
  if (pending === undefined) throw passwordNeeded();
  const { userId, secretHash } = pending;
  const limit = { limiter: deps.rates.recoveryCodes, key: userId, message: 'Too many wrong recovery codes.' };
  // The transaction returns `undefined` instead of throwing, because the count of a wrong code must be committed.
  const work = () =>
    deps.store.write(async (tx) => {
      const current = await tx.pendingSignIn(secretHash);
      if (current === undefined) throw passwordNeeded();
      if (!(await useRecoveryCode(deps, tx, userId, code, browser))) {
        if (current.attempts + 1 >= maxAttempts) await tx.deletePendingSignIn(secretHash);
        else await tx.countAttempt(secretHash);
        return undefined;
      }
      await tx.deletePendingSignIn(secretHash);
      return startSession(deps, tx, userId, browser, { means: 'recovery_code' });
    });
  const ofResult = (started: StartedSession | undefined) => (started === undefined ? 'wrong' : 'right');
  const started = await withAttemptLimits([limit], work, { ofResult });
  if (started !== undefined) return started;
  await recordRefusal(deps, {
    means: 'recovery_code',
    reason: 'wrong_code',
    address: browser.address,
    accountId: userId,
  });
  throw new DomainError('invalid_credentials', 'The recovery code is wrong, or was used.');
}

async function useRecoveryCode(
  deps: Deps,
  tx: Transaction,
  userId: UserId,
  code: string,
  { address, userAgent }: Browser,
): Promise<boolean> {
  const codeHash = hashRecoveryCode(code);
  if ((await tx.recoveryCode(codeHash))?.userId !== userId) return false;
  await tx.deleteRecoveryCode(codeHash);
  const remaining = await tx.countRecoveryCodes(userId);
  const target = { id: userId, name: (await tx.user(userId))?.name ?? null };
  const actor = { userId, sessionId: null, address };
  await record(deps, tx, actor, { action: 'recovery_codes.use', target, details: { remaining } });
  const facts = {
    address,
    userAgent: userAgent ?? '',
    at: new Date(deps.clock()).toISOString(),
    remaining: String(remaining),
  };
  await queueNotice(deps, tx, userId, 'signIns', { facts });
  return true;
}

async function findPending(deps: Deps, queries: Queries, secret: string): Promise<PendingSignInRecord | undefined> {
  const pending = await queries.pendingSignIn(hashSecret(secret));
  return pending !== undefined && pending.expiresAtMs > deps.clock() ? pending : undefined;
}

function passwordNeeded(): DomainError {
  return new DomainError('not_signed_in', 'The sign-in has expired. Enter your password again.');
}
