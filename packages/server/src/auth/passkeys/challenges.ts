import type { ChallengePurpose, PasskeyChallengeRecord } from '../../db/passkey-records.ts';
import type { Deps } from '../../deps.ts';
import { TooManyAttemptsError } from '../../http/domain-errors.ts';
import { makeCode } from '../secrets.ts';

/** How long a challenge can be answered, and a sign-in can wait for its second factor. */
export const challengeLifetimeMs = 5 * 60_000;

/**
 * The maximum number of open challenges for any account's passkey. The rate limit by network keeps one client far below it. A flood of
 * them doesn't prevent second factors and step-ups, which have a limit by account.
 */
const maxChallenges = 20_000;

/** The maximum number of an account's open challenges. */
const maxChallengesOfUser = 200;

/**
 * Creates a challenge for the authenticator of a browser. One response can answer it, on any node.
 *
 * @returns 32 random bytes, as base64url
 * @throws DomainError `rate_limited` if too many are open
 */
export async function createChallenge(
  deps: Deps,
  fields: Pick<PasskeyChallengeRecord, 'purpose' | 'holder' | 'userId'>,
): Promise<string> {
  const challenge = makeCode(deps.random);
  const nowMs = deps.clock();
  // Outside of the transaction, so that concurrent sign-ins don't repeat it on PostgreSQL. The maximum need not be exact.
  const max = fields.userId === null ? maxChallenges : maxChallengesOfUser;
  if (await deps.store.read.hasManyChallenges(fields.userId, max, nowMs)) {
    throw new TooManyAttemptsError('Too many sign-ins with passkeys are in progress.', challengeLifetimeMs / 1000);
  }
  await deps.store.write(async (tx) => {
    await tx.deleteExpiredChallenges(nowMs);
    await tx.insertPasskeyChallenge({ ...fields, challenge, expiresAtMs: nowMs + challengeLifetimeMs });
  });
  return challenge;
}

/**
 * Uses a challenge up. Call it before the response is verified, so that a challenge has one attempt.
 *
 * @returns `undefined` for a challenge that is unknown, expired, used, or of another browser or purpose
 */
export function takeChallenge(
  deps: Deps,
  challenge: string,
  { purpose, holder }: { readonly purpose: ChallengePurpose; readonly holder: string },
): Promise<PasskeyChallengeRecord | undefined> {
  return deps.store.write(async (tx) => {
    const found = await tx.passkeyChallenge(challenge);
    if (found?.purpose !== purpose || found.holder !== holder) return undefined;
    await tx.deletePasskeyChallenge(challenge);
    return found.expiresAtMs > deps.clock() ? found : undefined;
  });
}
