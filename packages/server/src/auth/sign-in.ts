import { hash as digest } from 'node:crypto';
import type { PasswordRecord } from '../db/records.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import { type AttemptLimit, checkPassword } from './attempts.ts';
import { normalizeEmail } from './emails.ts';
import { type PendingSignIn, startSessionOrAsk } from './passkeys/second-factor.ts';
import { passwordEnteredTooOften, preparePassword, requirePasswordSignIn } from './passwords/passwords.ts';
import { recordingRefusal } from './refusals.ts';
import { type Browser, isKnownBrowser, type StartedSession } from './sessions.ts';

/**
 * Signs a user in by e-mail address and password, or asks for the second factor. It always verifies one password, so that neither the
 * response nor its timing reveals whether the address has an account.
 *
 * @throws DomainError `password_sign_in_off`, `invalid_credentials`, `rate_limited` after too many wrong passwords
 * @throws UnavailableError if too many passwords wait to be verified
 */
export async function signIn(
  deps: Deps,
  fields: { readonly email: string; readonly password: string },
  browser: Browser,
): Promise<StartedSession | PendingSignIn> {
  requirePasswordSignIn(deps);
  const email = normalizeEmail(fields.email);
  const password = preparePassword(fields.password);
  const found = await deps.store.read.passwordByEmail(email);
  return recordingRefusal(deps, { address: browser.address, accountId: found?.userId }, () =>
    signInWith(deps, { email, password, found }, browser),
  );
}

async function signInWith(
  deps: Deps,
  attempt: { readonly email: string; readonly password: string; readonly found: PasswordRecord | undefined },
  browser: Browser,
): Promise<StartedSession | PendingSignIn> {
  const { email, password, found } = attempt;
  const limits = await attemptLimits(deps, email, found, browser);
  const isCorrect = await checkPassword(limits, () => deps.passwords.verify(password, found?.hash));
  if (found === undefined || !isCorrect) throw invalidCredentials();

  const { userId } = found;
  const isOutdated = deps.passwords.isOutdated(found.hash);
  const hash = isOutdated ? await deps.passwords.hash(password) : found.hash;
  return deps.store.write(async (tx) => {
    // During the verification, the password may have been changed or the account deleted.
    const current = await tx.passwordByEmail(email);
    if (current?.userId !== userId || current.hash !== found.hash) throw invalidCredentials();
    if (isOutdated) await tx.putPassword({ userId, hash, updatedAtMs: deps.clock() });
    return startSessionOrAsk(deps, tx, userId, browser, 'password');
  });
}

async function attemptLimits(
  deps: Deps,
  email: string,
  found: PasswordRecord | undefined,
  browser: Browser,
): Promise<AttemptLimit[]> {
  const { rates } = deps;
  const { browserSecret, network } = browser;
  const ofAccount: AttemptLimit[] =
    found === undefined
      ? []
      : [{ limiter: rates.correctPasswords, key: found.userId, counts: 'right', message: passwordEnteredTooOften }];
  const { read } = deps.store;
  if (browserSecret !== undefined && (await isKnownBrowser(read, found?.userId, browserSecret, deps.clock()))) {
    return [{ limiter: rates.byKnownBrowser, key: browserSecret }, ...ofAccount];
  }
  // Hashed, because the text may be long, and the limiter need not keep e-mail addresses.
  const account = digest('sha256', email, 'base64url');
  return [{ limiter: rates.byAddress, key: network }, { limiter: rates.byAccount, key: account }, ...ofAccount];
}

function invalidCredentials(): DomainError {
  return new DomainError('invalid_credentials', 'Incorrect e-mail or password.');
}
