import { type JWTPayload, jwtVerify } from 'jose';
import type { DiscoveredProvider } from './providers.ts';
import { SignInRefusal } from './refusal.ts';

/** Signatures with public keys. A symmetric algorithm would take the public key for the secret. */
export const signatureAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** How much the clocks of the server and of a provider may differ. */
export const clockToleranceSeconds = 30;

/** Longer tokens are refused, or not stored. */
export const maxTokenLength = 32 * 1024;

const maxSubjectLength = 255; // OpenID Connect Core §2

/** The verified facts of an ID token. */
export interface IdTokenFacts {
  readonly issuer: string;
  readonly subject: string;
  /** The provider's session. */
  readonly sid: string | null;
  /** When the user authenticated at the provider; `null` if the provider doesn't say. */
  readonly authTimeMs: number | null;
  readonly claims: JWTPayload;
}

/** A token response that was verified. */
export interface VerifiedResponse extends IdTokenFacts {
  readonly idToken: string;
}

/**
 * Verifies the signature, the issuer, the audience, and the times of an ID token. The nonce was checked before.
 *
 * @throws errors of `jose`; SignInRefusal
 */
export async function verifyIdToken(
  { keys, metadata }: DiscoveredProvider,
  { idToken, clientId, nowMs }: { readonly idToken: string; readonly clientId: string; readonly nowMs: number },
): Promise<IdTokenFacts> {
  if (idToken.length > maxTokenLength) throw new SignInRefusal('rejected', 'malformed', 'The ID token is too long.');
  const { payload } = await jwtVerify(idToken, keys, {
    issuer: metadata.issuer,
    audience: clientId,
    algorithms: signatureAlgorithms,
    clockTolerance: clockToleranceSeconds,
    currentDate: new Date(nowMs),
    requiredClaims: ['sub', 'exp', 'iat'],
  });
  const { iss = '', sub = '', sid, auth_time: authTime } = payload;
  if (sub === '' || sub.length > maxSubjectLength) {
    throw new SignInRefusal('rejected', 'subject', 'The subject of the ID token is not valid.');
  }
  return {
    issuer: iss,
    subject: sub,
    sid: typeof sid === 'string' && sid !== '' && sid.length <= maxSubjectLength ? sid : null,
    authTimeMs: typeof authTime === 'number' ? authTime * 1000 : null,
    claims: payload,
  };
}

/** Returns the text of a claim. Control characters and longer texts count as missing. */
export function textClaim(claims: JWTPayload, name: string, maxLength: number): string | undefined {
  const value = claims[name];
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' || text.length > maxLength || /\p{C}/u.test(text) ? undefined : text;
}

const maxGroups = 2000;

/** Returns the user's groups: a claim with a text or with a list of texts. */
export function groupsOf(claims: JWTPayload, name: string): ReadonlySet<string> {
  const value = claims[name];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return new Set(list.slice(0, maxGroups).filter((group) => typeof group === 'string'));
}
