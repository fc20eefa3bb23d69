import type { SessionId, UserId } from '@tenon/protocol';
import { record, sessionActor } from '../../audit/record.ts';
import type { SessionRecord } from '../../db/records.ts';
import type { RandomBytes, Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { DomainError } from '../../http/domain-errors.ts';
import { requireSession, requireStepUp } from '../confirmation.ts';
import { hashSecret } from '../secrets.ts';

/** How many codes an account gets at once. Each works once. */
export const recoveryCodeCount = 10;

/** Crockford's base 32, in which similar characters are one. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** 80 random bits, so that a hash without salt protects them. */
const codeLength = 16;

/** Makes a code such as `4g7k-x2m9-0ahq-w8tz`. */
function makeRecoveryCode(random: RandomBytes): string {
  const digits = Array.from(random(codeLength), (byte) => alphabet[byte % alphabet.length]);
  return digits.join('').replace(/.{4}(?=.)/g, '$&-');
}

/** Returns the hash of a code as a person types it: in any case, with any separators. */
export function hashRecoveryCode(code: string): string {
  const text = code.toLowerCase().replace(/[\s-]/g, '');
  return hashSecret(`recovery ${text.replace(/o/g, '0').replace(/[il]/g, '1')}`);
}

/**
 * Replaces the actor's recovery codes.
 *
 * @returns the codes. Only their hashes are stored
 */
export async function replaceRecoveryCodes(
  deps: Deps,
  tx: Transaction,
  actor: { readonly userId: UserId; readonly sessionId: SessionId },
): Promise<readonly string[]> {
  const { userId } = actor;
  const codes = Array.from({ length: recoveryCodeCount }, () => makeRecoveryCode(deps.random));
  await tx.putRecoveryCodes(userId, codes.map(hashRecoveryCode));
  const target = { id: userId, name: (await tx.user(userId))?.name ?? null };
  await record(deps, tx, actor, { action: 'recovery_codes.create', target });
  return codes;
}

/**
 * Creates recovery codes. The earlier ones stop working.
 *
 * @throws DomainError `step_up_required`, `not_signed_in`, `conflict` for an account without a passkey
 */
export function createRecoveryCodes(deps: Deps, session: SessionRecord): Promise<readonly string[]> {
  return deps.store.write(async (tx) => {
    await requireSession(tx, session.id);
    await requireStepUp(deps, session.id, tx);
    if ((await tx.passkeysOf(session.userId)).length === 0) {
      throw new DomainError(
        'conflict',
        'Recovery codes replace a passkey, and your account has none. Add a passkey first.',
      );
    }
    return replaceRecoveryCodes(deps, tx, sessionActor(session));
  });
}
