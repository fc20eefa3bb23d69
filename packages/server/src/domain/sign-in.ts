import { hash } from 'node:crypto';
import { type AttemptLimit, checkPassword } from './attempts.ts';
import type { Context } from './context.ts';
import { normalizeEmail } from './emails.ts';
import { DomainError } from './errors.ts';
import { passwordEnteredTooOften, preparePassword } from './passwords.ts';
import type { IdentityRecord } from './records.ts';
import { type Browser, isKnownBrowser, type StartedSession, startSession } from './sessions.ts';

/**
 * Signs somebody in by e-mail address and password. One password is looked at whatever comes, so that neither the answer nor
 * its time tells whether the address has an account.
 *
 * @throws DomainError `invalid_credentials`; `rate_limited` after too many wrong ones
 * @throws UnavailableError when too many passwords wait to be looked at
 */
export async function signIn(
  context: Context,
  fields: { readonly email: string; readonly password: string },
  browser: Browser,
): Promise<StartedSession> {
  const subject = normalizeEmail(fields.email);
  const password = preparePassword(fields.password);
  const identity = await context.store.read.identity('password', subject);
  const counts = await attemptLimits(context, subject, identity, browser);
  const isRight = await checkPassword(counts, () => context.passwords.verify(password, identity?.secret));
  if (identity === undefined || !isRight) throw invalidCredentials();

  const isOutdated = context.passwords.isOutdated(identity.secret);
  const secret = isOutdated ? await context.passwords.hash(password) : identity.secret;
  return context.store.write(async (tx) => {
    // The password may have been changed, or the account deleted, while this one was looked at.
    const current = await tx.identity('password', subject);
    if (current?.id !== identity.id || current.secret !== identity.secret) throw invalidCredentials();
    if (isOutdated) await tx.updateIdentity(identity.id, { secret, updatedAtMs: context.clock() });
    return startSession(context, tx, identity.userId, browser);
  });
}

async function attemptLimits(
  context: Context,
  subject: string,
  identity: IdentityRecord | undefined,
  browser: Browser,
): Promise<AttemptLimit[]> {
  const { rates } = context;
  const { browserSecret, network } = browser;
  const correctPasswords: AttemptLimit[] =
    identity === undefined
      ? []
      : [{ limiter: rates.correctPasswords, key: identity.userId, counts: 'right', message: passwordEnteredTooOften }];
  if (browserSecret !== undefined && (await isKnownBrowser(context, identity?.userId, browserSecret))) {
    return [{ limiter: rates.byKnownBrowser, key: browserSecret }, ...correctPasswords];
  }
  // As a hash: what people take for their address may be long, and need not be kept.
  const account = hash('sha256', subject, 'base64url');
  return [{ limiter: rates.byAddress, key: network }, { limiter: rates.byAccount, key: account }, ...correctPasswords];
}

function invalidCredentials(): DomainError {
  return new DomainError('invalid_credentials', 'No account has this e-mail address and this password.');
}
