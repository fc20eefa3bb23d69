import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { PasskeyAssertion } from '@tenon/protocol';
import type { ChallengePurpose, PasskeyRecord } from '../../db/passkey-records.ts';
import type { Queries, Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { takeChallenge } from './challenges.ts';
import { findRefusal, parseClientData } from './client-data.ts';
import { loadWebauthn } from './load-webauthn.ts';
import { PasskeyRefusedError } from './refuse-passkey.ts';
import type { RelyingParty } from './relying-party.ts';

/** A passkey that answered a challenge. */
export interface VerifiedPasskey {
  readonly passkey: PasskeyRecord;
  /** The authenticator's signature counter. */
  readonly counter: number;
}

/**
 * Verifies the response of a passkey to a challenge (https://www.w3.org/TR/webauthn-3/#sctn-verifying-assertion). Call
 * {@link storePasskeyUse} in the transaction that depends on it.
 *
 * @throws PasskeyRefusedError
 */
export async function verifyAssertion(
  deps: Deps,
  rp: RelyingParty,
  assertion: PasskeyAssertion,
  browser: { readonly purpose: ChallengePurpose; readonly holder: string },
): Promise<VerifiedPasskey> {
  const data = parseClientData(assertion.response.clientDataJSON);
  if (data === undefined) throw new PasskeyRefusedError('malformed');
  const challenge = await takeChallenge(deps, data.challenge, browser);
  if (challenge === undefined) throw new PasskeyRefusedError('challenge');
  const passkey = await deps.store.read.passkeyByCredential(assertion.id);
  if (passkey === undefined) throw new PasskeyRefusedError('unknown_passkey');
  const refuse = (reason: PasskeyRefusedError['reason']) => new PasskeyRefusedError(reason, passkey.userId);
  if (!isOfUser(passkey, challenge.userId, assertion.response.userHandle)) throw refuse('other_account');
  const refusal = findRefusal(rp, data, 'webauthn.get', decode(assertion.response.authenticatorData));
  if (refusal !== undefined) throw refuse(refusal);
  const verified = await verifySignature(rp, assertion, passkey, data.challenge);
  if (verified === undefined) throw refuse('malformed');
  if (!verified.isCorrect) throw refuse('signature');
  return { passkey, counter: verified.counter };
}

function isOfUser({ userId }: PasskeyRecord, required: string | null, userHandle: string | undefined): boolean {
  if (required !== null && required !== userId) return false;
  return userHandle === undefined || decode(userHandle).toString('utf8') === userId;
}

/** @returns `undefined` for a response that can't be parsed */
async function verifySignature(
  { id, origin }: RelyingParty,
  assertion: PasskeyAssertion,
  { credentialId, publicKey }: PasskeyRecord,
  challenge: string,
): Promise<{ readonly isCorrect: boolean; readonly counter: number } | undefined> {
  const { verifyAuthenticationResponse } = await loadWebauthn();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: assertion as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      // The counter is compared in the transaction, after the signature, so that only the authenticator can set off the alarm.
      credential: { id: credentialId, publicKey: new Uint8Array(decode(publicKey)), counter: 0 },
    });
    return { isCorrect: verified, counter: authenticationInfo.newCounter };
  } catch {
    return undefined; // the library throws errors of many kinds for a malformed response
  }
}

/**
 * Stores the use of a passkey. An authenticator that counts must count up: otherwise a copy of it was used
 * (https://www.w3.org/TR/webauthn-3/#sctn-sign-counter).
 *
 * @throws PasskeyRefusedError `counter`; `unknown_passkey` if the passkey was removed during the request
 */
export async function storePasskeyUse(
  deps: Deps,
  tx: Transaction,
  { passkey: { id, userId }, counter }: VerifiedPasskey,
): Promise<PasskeyRecord> {
  const current = await tx.passkey(id);
  if (current === undefined) throw new PasskeyRefusedError('unknown_passkey', userId);
  const counts = counter > 0 || current.counter > 0;
  if (counts && counter <= current.counter) throw new PasskeyRefusedError('counter', userId);
  await tx.usePasskey(id, { counter, lastUsedAtMs: deps.clock() });
  return current;
}

/** Whether an account has a passkey. */
export async function hasPasskey(
  queries: Pick<Queries, 'passkeysOf'>,
  userId: PasskeyRecord['userId'],
): Promise<boolean> {
  return (await queries.passkeysOf(userId)).length > 0;
}

function decode(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}
