import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { isId, newId, type PasskeyAttestation, type UserId } from '@tenon/protocol';
import { record, sessionActor } from '../../audit/record.ts';
import type { PasskeyRecord } from '../../db/passkey-records.ts';
import type { SessionRecord } from '../../db/records.ts';
import type { Queries } from '../../db/store.ts';
import { ConflictError } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { DomainError, notFound } from '../../http/domain-errors.ts';
import { requireSession, requireStepUp } from '../confirmation.ts';
import { hasOtherMeans } from '../means-of-sign-in.ts';
import { challengeLifetimeMs, createChallenge, takeChallenge } from './challenges.ts';
import { findRefusal, parseClientData } from './client-data.ts';
import { loadWebauthn } from './load-webauthn.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';
import { PasskeyRefusedError } from './refuse-passkey.ts';
import type { RelyingParty } from './relying-party.ts';

/** The maximum number of an account's passkeys. */
export const maxPasskeys = 20;

/** The algorithms that authenticators may use (https://www.iana.org/assignments/cose): ES256, EdDSA, RS256. */
const algorithms = [-7, -8, -257];

/**
 * Returns the options of `navigator.credentials.create()`.
 *
 * @throws DomainError `step_up_required`, `limit_exceeded`
 */
export async function registrationOptions(deps: Deps, rp: RelyingParty, session: SessionRecord) {
  await requireStepUp(deps, session.id);
  const { read } = deps.store;
  const [user, present] = [await read.user(session.userId), await read.passkeysOf(session.userId)];
  if (user === undefined) throw notFound('user');
  requirePasskeyQuota(present);
  const challenge = await createChallenge(deps, { purpose: 'register', holder: session.id, userId: user.id });
  const { generateRegistrationOptions } = await loadWebauthn();
  return generateRegistrationOptions({
    rpName: 'Tenon',
    rpID: rp.id,
    userID: new Uint8Array(Buffer.from(user.id)),
    userName: user.email ?? user.name,
    userDisplayName: user.name,
    challenge: bytesOf(challenge),
    timeout: challengeLifetimeMs,
    attestationType: 'none',
    excludeCredentials: present.map(descriptorOf),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  });
}

/**
 * Returns the options of `navigator.credentials.get()`.
 *
 * @param passkeys those that may answer; empty for any passkey, without an e-mail address
 */
export async function assertionOptions(rp: RelyingParty, challenge: string, passkeys: readonly PasskeyRecord[]) {
  const { generateAuthenticationOptions } = await loadWebauthn();
  return generateAuthenticationOptions({
    rpID: rp.id,
    challenge: bytesOf(challenge),
    timeout: challengeLifetimeMs,
    userVerification: 'required',
    ...(passkeys.length > 0 && { allowCredentials: passkeys.map(descriptorOf) }),
  });
}

/** A registered passkey. With the account's first one, its recovery codes. */
export interface RegisteredPasskey {
  readonly passkey: PasskeyRecord;
  readonly recoveryCodes: readonly string[] | undefined;
}

/**
 * Registers a passkey for the user of a session (https://www.w3.org/TR/webauthn-3/#sctn-registering-a-new-credential). The session
 * then counts as one that used it.
 *
 * @throws PasskeyRefusedError; DomainError `step_up_required`, `limit_exceeded`, `not_signed_in`, `conflict` for a passkey of any account
 */
export async function registerPasskey(
  deps: Deps,
  rp: RelyingParty,
  session: SessionRecord,
  { name, response }: { readonly name: string; readonly response: PasskeyAttestation },
): Promise<RegisteredPasskey> {
  await requireStepUp(deps, session.id);
  const { userId } = session;
  const data = parseClientData(response.response.clientDataJSON);
  if (data === undefined) throw new PasskeyRefusedError('malformed', userId);
  const taken = await takeChallenge(deps, data.challenge, { purpose: 'register', holder: session.id });
  if (taken === undefined) throw new PasskeyRefusedError('challenge', userId);
  const credential = await verifyAttestation(rp, response, data, userId);
  const nowMs = deps.clock();
  const passkey: PasskeyRecord = {
    ...credential,
    id: newId('passkey'),
    userId,
    name,
    createdAtMs: nowMs,
    lastUsedAtMs: null,
  };
  try {
    return await deps.store.write(async (tx) => {
      await requireSession(tx, session.id);
      await requireStepUp(deps, session.id, tx);
      const present = await tx.passkeysOf(userId);
      requirePasskeyQuota(present);
      await tx.insertPasskey(passkey);
      await tx.confirmSession(session.id, nowMs, passkey.id);
      await record(deps, tx, sessionActor(session), { action: 'passkey.register', target: passkey });
      const isFirst = present.length === 0;
      return {
        passkey,
        recoveryCodes: isFirst ? await replaceRecoveryCodes(deps, tx, sessionActor(session)) : undefined,
      };
    });
  } catch (error) {
    throw error instanceof ConflictError
      ? new DomainError('conflict', 'This passkey is registered already.', { cause: error })
      : error;
  }
}

/** Only attestations without certificates are accepted: the server has no use for others, and their checks would send requests. */
async function verifyAttestation(
  { id, origin }: RelyingParty,
  response: PasskeyAttestation,
  data: NonNullable<ReturnType<typeof parseClientData>>,
  userId: UserId,
): Promise<Pick<PasskeyRecord, 'credentialId' | 'publicKey' | 'counter' | 'transports'>> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const { verifyRegistrationResponse } = await loadWebauthn();
  try {
    const decoded = decodeAttestationObject(bytesOf(response.response.attestationObject));
    const refusal = findRefusal({ id, origin }, data, 'webauthn.create', decoded.get('authData'));
    if (refusal !== undefined) throw new PasskeyRefusedError(refusal, userId);
    const isSelfSigned = decoded.get('fmt') === 'packed' && decoded.get('attStmt').get('x5c') === undefined;
    if (decoded.get('fmt') !== 'none' && !isSelfSigned) throw new PasskeyRefusedError('algorithm', userId);
    const { registrationInfo } = await verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: data.challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (registrationInfo === undefined) throw new PasskeyRefusedError('signature', userId);
    const { credential } = registrationInfo;
    const publicKey = Buffer.from(credential.publicKey).toString('base64url');
    const transports = response.response.transports ?? [];
    return { credentialId: credential.id, publicKey, counter: credential.counter, transports };
  } catch (error) {
    if (error instanceof PasskeyRefusedError) throw error;
    throw new PasskeyRefusedError('malformed', userId); // the library throws errors of many kinds
  }
}

/** @throws DomainError `step_up_required`, `not_found`, `not_signed_in` */
export async function renamePasskey(
  deps: Deps,
  session: SessionRecord,
  passkeyId: string,
  name: string,
): Promise<PasskeyRecord> {
  return deps.store.write(async (tx) => {
    await requireSession(tx, session.id);
    await requireStepUp(deps, session.id, tx);
    const passkey = await requireOwnPasskey(tx, session, passkeyId);
    await tx.renamePasskey(passkey.id, name);
    const details = { name: { before: passkey.name, after: name } };
    await record(deps, tx, sessionActor(session), { action: 'passkey.rename', target: passkey, details });
    return { ...passkey, name };
  });
}

/**
 * Removes a passkey, and ends the other sessions that used it. With the last one, the recovery codes are deleted.
 *
 * @throws DomainError `step_up_required`, `not_found`, `not_signed_in`, `conflict` for the last means to sign in
 */
export async function removePasskey(deps: Deps, session: SessionRecord, passkeyId: string): Promise<void> {
  await deps.store.write(async (tx) => {
    await requireSession(tx, session.id);
    await requireStepUp(deps, session.id, tx);
    const passkey = await requireOwnPasskey(tx, session, passkeyId);
    const isLast = (await tx.passkeysOf(session.userId)).length === 1;
    if (!(await hasOtherMeans(deps, tx, session.userId, passkey.id))) {
      throw new DomainError(
        'conflict',
        'This passkey is the only way to sign in to your account. Add another one first.',
      );
    }
    await record(deps, tx, sessionActor(session), { action: 'passkey.remove', target: passkey });
    await tx.deletePasskey(passkey, session.id);
    if (isLast) await tx.putRecoveryCodes(session.userId, []);
  });
}

async function requireOwnPasskey(
  queries: Queries,
  { userId }: SessionRecord,
  passkeyId: string,
): Promise<PasskeyRecord> {
  const passkey = isId('passkey', passkeyId) ? await queries.passkey(passkeyId) : undefined;
  if (passkey?.userId !== userId) throw notFound('passkey');
  return passkey;
}

function requirePasskeyQuota(present: readonly PasskeyRecord[]): void {
  if (present.length < maxPasskeys) return;
  throw new DomainError('limit_exceeded', `An account can have at most ${maxPasskeys} passkeys. Remove one first.`);
}

function descriptorOf({ credentialId, transports }: PasskeyRecord) {
  return { id: credentialId, transports: transports as RegistrationResponseJSON['response']['transports'] & string[] };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, 'base64url'));
}
