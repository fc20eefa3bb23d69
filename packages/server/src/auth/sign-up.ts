import { newId, type UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import { isMailAddress } from '../config/readers.ts';
import { ConflictError, type Queries, type Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { type AttemptLimit, withAttemptLimits } from './attempts.ts';
import { parseEmail } from './emails.ts';
import { findPendingByHash } from './find-invitation.ts';
import { markEmailVerified } from './mailed-links.ts';
import { findUsableByHash } from './one-time-links.ts';
import { insertFirstOperator } from './operators.ts';
import { requireStrongPassword } from './passwords/password-policy.ts';
import { requirePasswordSignIn } from './passwords/passwords.ts';
import { hashSecret } from './secrets.ts';
import { type Browser, type StartedSession, startSession } from './sessions.ts';

/** A request for a new account. Unless sign-up is open, it needs one of the two codes. */
interface SignUp {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly invitationCode?: string | undefined;
  readonly linkCode?: string | undefined;
}

/** The permission to create one account: an operator's link, an invitation, open sign-up, or a provider's settings. */
export interface Permit {
  readonly means: 'link' | 'invitation' | 'open' | 'provider';
  /** The id of the link or invitation. */
  readonly id?: string;
  readonly inviterId?: UserId;
  /** Marks the link or invitation as used. */
  readonly use: (tx: Transaction, userId: UserId) => Promise<void>;
}

/**
 * Creates an account and signs the user in. It doesn't accept the invitation; the user decides about that afterwards.
 *
 * Hashing is costly. Therefore the password is hashed after all other checks, within rate limits, and one at a time for each link
 * or invitation. Only after the hash does the response reveal whether the e-mail address has an account.
 *
 * @throws DomainError `password_sign_in_off`; `sign_up_closed`; `not_found`, `link_used`, `link_expired`, `invitation_used`, `invitation_expired` or
 *   `invitation_revoked` for a code; `email_taken`, `invalid_field`, `weak_password`, `rate_limited`
 * @throws UnavailableError if too many passwords wait to be hashed
 */
export async function signUp(deps: Deps, input: SignUp, browser: Browser): Promise<StartedSession> {
  requirePasswordSignIn(deps);
  const codes = hashesOf(input);
  const { id } = await findPermit(deps, deps.store.read, codes);
  const email = parseEmail(input.email);
  const password = await requireStrongPassword(deps, input.password, { name: input.name, email }, 'password');
  const hashAndCreate = async (): Promise<StartedSession> => {
    // Again, because another sign-up may have used the link or invitation while this one waited for the mutex.
    const permit = await findPermit(deps, deps.store.read, codes);
    return withAttemptLimits(
      attemptLimits(deps, permit, browser),
      () => createAccount(deps, input, { email, password }, browser),
      {
        ofError: (error) => (error instanceof DomainError ? 'wrong' : 'undecided'),
      },
    );
  };
  return id === undefined ? hashAndCreate() : deps.mutex(id, hashAndCreate);
}

function attemptLimits({ rates }: Deps, { means, id, inviterId }: Permit, { network }: Browser): AttemptLimit[] {
  const limits: AttemptLimit[] = [];
  if (means !== 'link') {
    const message = 'Too many accounts were created from your network address.';
    limits.push({ limiter: rates.signUps, key: network, counts: 'both', message });
  }
  if (inviterId !== undefined) {
    const message = 'Too many accounts were created with invitations of the person who invited you.';
    limits.push({ limiter: rates.inviterSignUps, key: inviterId, counts: 'right', message });
  }
  if (id !== undefined) {
    const message = 'Too many e-mail addresses that already have accounts were tried with this link.';
    limits.push({ limiter: rates.takenEmails, key: id, message });
  }
  return limits;
}

async function createAccount(
  deps: Deps,
  input: SignUp,
  { email, password }: { readonly email: string; readonly password: string },
  browser: Browser,
): Promise<StartedSession> {
  const hash = await deps.passwords.hash(password);
  try {
    return await deps.store.write(async (tx) => {
      const permit = await findPermit(deps, tx, hashesOf(input));
      await requireUnusedEmail(tx, email);
      const userId = newId('user');
      const createdAtMs = deps.clock();
      await tx.insertUser({
        id: userId,
        name: input.name,
        email,
        createdAtMs,
        lastSeenAtMs: 0,
        suspendedAtMs: null,
        deletedAtMs: null,
      });
      await tx.putPassword({ userId, hash, updatedAtMs: createdAtMs });
      const actor = { userId, sessionId: null, address: browser.address };
      const target = { id: userId, name: input.name };
      await record(deps, tx, actor, { action: 'account.create', target, details: { means: permit.means } });
      await permit.use(tx, userId);
      await verifyNewEmail(deps, tx, { userId, email, invitationCode: input.invitationCode });
      return startSession(deps, tx, userId, browser, { means: 'sign_up' });
    });
  } catch (error) {
    throw error instanceof ConflictError ? emailTaken(error) : error;
  }
}

/** The code of a mailed invitation verifies its address. Otherwise, mails a link that does. */
async function verifyNewEmail(
  deps: Deps,
  tx: Transaction,
  of: { readonly userId: UserId; readonly email: string; readonly invitationCode?: string | undefined },
): Promise<void> {
  const { userId, email, invitationCode } = of;
  const mailed = invitationCode === undefined ? undefined : await tx.mailedCode(hashSecret(invitationCode));
  if (mailed !== undefined && (await markEmailVerified(tx, userId, mailed.recipient))) return;
  if (deps.settings.smtp === undefined || !isMailAddress(email)) return;
  await queueMail(deps, tx, { kind: 'verify_email', recipient: email, userId });
}

/** The hashes of the codes of an invitation and of a link. */
export interface PermitHashes {
  readonly invitationHash?: string | undefined;
  readonly linkHash?: string | undefined;
}

export function hashesOf({ invitationCode, linkCode }: Pick<SignUp, 'invitationCode' | 'linkCode'>): PermitHashes {
  return {
    invitationHash: invitationCode === undefined ? undefined : hashSecret(invitationCode),
    linkHash: linkCode === undefined ? undefined : hashSecret(linkCode),
  };
}

/** Finds the permission to create an account. @throws DomainError as {@link signUp} for the codes */
export async function findPermit(deps: Deps, queries: Queries, input: PermitHashes): Promise<Permit> {
  const { clock, settings } = deps;
  const mode = settings.signUp;
  const nowMs = clock();
  if (input.linkHash !== undefined) {
    const link = await findUsableByHash(queries, input.linkHash, nowMs, 'set_up');
    return {
      means: 'link',
      id: link.id,
      async use(tx, userId) {
        await tx.useOneTimeLink(link.id, nowMs);
        // Only an operator with access to the machine gets this link.
        if (link.isForFirstUser) await insertFirstOperator(deps, tx, userId);
      },
    };
  }
  if (mode === 'open') return { means: 'open', use: async () => {} };
  if (mode === 'off' || input.invitationHash === undefined) throw signUpClosed(mode);
  const { invitation } = await findPendingByHash(queries, input.invitationHash, nowMs);
  if (invitation.signedUpUserId !== null) {
    throw new DomainError(
      'invitation_used',
      'This invitation has already been used to create an account. Sign in to it.',
    );
  }
  return {
    means: 'invitation',
    id: invitation.id,
    inviterId: invitation.createdBy,
    use: (tx, userId) => tx.setInvitationSignUp(invitation.id, userId),
  };
}

function signUpClosed(mode: 'invitation' | 'off'): DomainError {
  const means = mode === 'off' ? "the operator's link" : "an invitation or the operator's link";
  return new DomainError('sign_up_closed', `On this server, you need ${means} to create an account.`);
}

/** @throws DomainError `email_taken` */
export async function requireUnusedEmail(queries: Queries, email: string): Promise<void> {
  if ((await queries.userByEmail(email)) !== undefined) throw emailTaken();
}

export function emailTaken(cause?: unknown): DomainError {
  return new DomainError('email_taken', 'This e-mail address already has an account. Sign in to it.', { cause });
}
