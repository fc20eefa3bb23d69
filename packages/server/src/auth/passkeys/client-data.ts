import { hash } from 'node:crypto';
import { Type } from '@tenon/protocol/type';
import { isValid } from '@tenon/protocol/validate';
import type { RefusalReason } from '../refusal-reasons.ts';
import type { RelyingParty } from './relying-party.ts';

const clientData = Type.Object({
  type: Type.String(),
  challenge: Type.String(),
  origin: Type.String(),
  crossOrigin: Type.Optional(Type.Boolean()),
});

/** Parses what the browser says about a response. Returns `undefined` for anything else. */
export function parseClientData(encoded: string) {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
    return isValid(clientData, parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks the facts of a response that its signature covers, before the signature itself.
 *
 * @param authenticatorData https://www.w3.org/TR/webauthn-3/#authenticator-data
 * @returns the reason to refuse the response; `undefined` if there is none
 */
export function findRefusal(
  { id, origin }: RelyingParty,
  data: NonNullable<ReturnType<typeof parseClientData>>,
  type: 'webauthn.create' | 'webauthn.get',
  authenticatorData: Uint8Array,
): RefusalReason | undefined {
  if (data.type !== type) return 'malformed';
  if (data.origin !== origin || data.crossOrigin === true) return 'origin';
  if (authenticatorData.length < 37) return 'malformed';
  const rpIdHash = Buffer.from(authenticatorData.subarray(0, 32)).toString('base64url');
  if (rpIdHash !== hash('sha256', id, 'base64url')) return 'rp_id';
  const flags = authenticatorData[32] ?? 0;
  const presentAndVerified = 0b101;
  return (flags & presentAndVerified) === presentAndVerified ? undefined : 'user_verification';
}
