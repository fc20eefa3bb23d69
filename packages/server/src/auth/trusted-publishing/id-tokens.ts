import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Deps } from '../../deps.ts';
import type { RefusalReason } from '../refusal-reasons.ts';
import { hashSecret } from '../secrets.ts';
import { IssuerFetchError } from './issuer-fetch.ts';
import type { IssuerKeys } from './issuer-keys.ts';

/** Signature algorithms with a public key. With `HS256`, everyone could sign with the issuer's public key as the secret. */
const algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'];

/** The longest time since a token was issued. Jobs of GitLab get their token at the start, and run for an hour by default. */
const maxTokenAgeSeconds = 60 * 60;

/** How far the clocks of the server and of the issuer may differ. */
const clockToleranceSeconds = 30;

/** A refused identity token. `message` is for the developer of the CI job, and has no values of the token. */
export class IdTokenError extends Error {
  override readonly name = 'IdTokenError';
  readonly reason: RefusalReason;
  /** Claims for the audit trail. They are not verified. */
  readonly facts: IdTokenFacts;

  constructor(reason: RefusalReason, message: string, facts: IdTokenFacts, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.facts = facts;
  }
}

/** What a token claims. */
export interface IdTokenFacts {
  readonly issuer?: string | undefined;
  readonly subject?: string | undefined;
  readonly audience?: string | undefined;
  readonly repository?: string | undefined;
}

export interface VerifiedIdToken {
  readonly issuer: string;
  readonly claims: JWTPayload;
  readonly facts: IdTokenFacts;
  /** Identifies the token, so that it is used once. */
  readonly key: string;
  /** When the token is rejected in any case. */
  readonly expiresAtMs: number;
}

/**
 * Verifies the identity token of a CI job. Nothing is fetched because of a token whose issuer no rule names.
 *
 * @param audience this server's URL, which must be the only audience, because other audiences could use the token here
 * @throws IdTokenError
 */
export async function verifyIdToken(
  deps: Pick<Deps, 'store' | 'clock'>,
  keys: IssuerKeys,
  token: string,
  audience: string,
): Promise<VerifiedIdToken> {
  const { header, facts } = decode(token);
  const refuse = (reason: RefusalReason, message: string, cause?: unknown): IdTokenError =>
    new IdTokenError(reason, message, facts, { cause });
  if (!algorithms.includes(header.alg ?? '')) {
    throw refuse('algorithm', `The identity token must be signed with one of ${algorithms.join(', ')}.`);
  }
  const { issuer } = facts;
  const known = issuer === undefined ? [] : await deps.store.read.trustRulesOfIssuer(issuer, { limit: 1 });
  if (issuer === undefined || known.length === 0) {
    throw refuse('issuer', 'No rule of trusted publishing names the issuer of the identity token.');
  }
  const { payload } = await jwtVerify(token, keys.of(issuer), {
    issuer,
    audience,
    algorithms,
    clockTolerance: clockToleranceSeconds,
    maxTokenAge: maxTokenAgeSeconds,
    requiredClaims: ['iss', 'aud', 'sub', 'exp', 'iat'],
    currentDate: new Date(deps.clock()),
  }).catch((error: unknown) => {
    const [reason, message] = describeError(error, audience);
    throw refuse(reason, message, error);
  });
  if (typeof payload.aud !== 'string' && payload.aud?.length !== 1) {
    throw refuse('audience', `The identity token must have ${audience} as its only audience.`);
  }
  return {
    issuer,
    claims: payload,
    facts,
    key: keyOf(issuer, payload, token),
    expiresAtMs: endOf(payload),
  };
}

function decode(token: string) {
  try {
    const [header, payload] = [decodeProtectedHeader(token), decodeJwt(token)];
    const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
    const facts: IdTokenFacts = {
      issuer: text(payload.iss),
      subject: text(payload.sub),
      audience: text(Array.isArray(payload.aud) ? payload.aud.join(' ') : payload.aud),
      repository: text(payload.repository) ?? text(payload.project_path),
    };
    return { header, facts };
  } catch (error) {
    throw new IdTokenError('malformed', 'The identity token is not a JWT.', {}, { cause: error });
  }
}

/** The token's `jti`, or what its signature covers: signatures themselves can be changed and stay valid. */
function keyOf(issuer: string, { jti }: JWTPayload, token: string): string {
  const id = typeof jti === 'string' && jti !== '' ? `jti ${jti}` : token.slice(0, token.lastIndexOf('.'));
  return hashSecret(`${issuer} ${id}`);
}

/** The earlier of its expiry and its maximum age, in whole milliseconds. Later, {@link verifyIdToken} rejects it. */
function endOf({ exp = 0, iat = 0 }: JWTPayload): number {
  return Math.ceil((Math.min(exp, iat + maxTokenAgeSeconds) + 2 * clockToleranceSeconds) * 1000);
}

function describeError(error: unknown, audience: string): [RefusalReason, string] {
  if (error instanceof IssuerFetchError)
    return ['provider', "The issuer's keys could not be fetched. Try again later."];
  if (error instanceof errors.JWTExpired) return ['expired', 'The identity token has expired. Get another one.'];
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return ['audience', `The audience of the identity token must be ${audience}.`];
    if (error.claim === 'nbf' || error.claim === 'iat')
      return ['not_yet_valid', 'The identity token is not valid yet.'];
    return ['claims', 'The identity token lacks one of the claims "iss", "aud", "sub", "exp", and "iat".'];
  }
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return ['unknown_key', 'The issuer has no such key as the identity token names.'];
  }
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) {
    return ['algorithm', `The identity token must be signed with one of ${algorithms.join(', ')}.`];
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return ['signature', 'The signature of the identity token is wrong.'];
  }
  if (error instanceof errors.JOSEError) return ['malformed', 'The identity token is not a signed JWT.'];
  // A key of the issuer that can't be used, such as a weak one.
  if (error instanceof TypeError || error instanceof DOMException) {
    return ['unknown_key', "The issuer's key can't be used."];
  }
  throw error;
}
