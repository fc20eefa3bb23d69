import type { ProviderSignInFault, UserId } from '@tenon/protocol';
import { errors as jose } from 'jose';
import { AuthorizationResponseError, ResponseBodyError } from 'openid-client';
import type { DomainError } from '../../http/domain-errors.ts';
import type { RefusalReason } from '../refusal-reasons.ts';
import { ProviderResponseError } from './provider-fetch.ts';
import { ProviderUnavailableError } from './providers.ts';

/** Thrown for a refused sign-in at a provider. */
export class SignInRefusal extends Error {
  override readonly name = 'SignInRefusal';
  /** What the console's page explains. */
  readonly fault: ProviderSignInFault;
  /** For the audit trail; `undefined` if the trail does not need it. */
  readonly reason: RefusalReason | undefined;

  /** The account that was tried. */
  readonly accountId: UserId | undefined;

  constructor(
    fault: ProviderSignInFault,
    reason: RefusalReason | undefined,
    message: string,
    cause?: unknown,
    accountId?: UserId,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
    this.reason = reason;
    this.accountId = accountId;
  }
}

const reasonsOfClaims: { readonly [claim: string]: RefusalReason } = {
  iss: 'issuer',
  aud: 'audience',
  azp: 'audience',
  nonce: 'nonce',
  sub: 'subject',
  exp: 'expired',
  iat: 'not_yet_valid',
  nbf: 'not_yet_valid',
};

/** Explains an error of `openid-client` or `jose`. */
export function refusalOf(error: unknown): SignInRefusal {
  if (error instanceof SignInRefusal) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ProviderUnavailableError) return new SignInRefusal('unavailable', undefined, message, error);
  if (error instanceof AuthorizationResponseError) {
    if (error.error === 'access_denied') return new SignInRefusal('canceled', undefined, message, error);
    return new SignInRefusal('rejected', 'provider', `The provider returned the error ${error.error}`, error);
  }
  if (error instanceof ResponseBodyError) {
    const reason = error.error === 'invalid_grant' ? 'replayed' : 'provider';
    return new SignInRefusal('rejected', reason, `The provider returned the error ${error.error}`, error);
  }
  const chain = chainOf(error);
  if (chain.some(isConnectionError)) return new SignInRefusal('unavailable', undefined, message, error);
  return new SignInRefusal('rejected', reasonOf(chain), chain.map(textOf).filter(Boolean).join(': '), error);
}

function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (let link = error; link !== undefined && link !== null && chain.length < 8; link = causeOf(link))
    chain.push(link);
  return chain;
}

function causeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

function isConnectionError(error: unknown): boolean {
  if (error instanceof ProviderResponseError || error instanceof jose.JWKSTimeout) return true;
  if (error instanceof DOMException && (error.name === 'TimeoutError' || error.name === 'AbortError')) return true;
  return error instanceof TypeError && error.message === 'fetch failed';
}

function reasonOf(chain: readonly unknown[]): RefusalReason {
  for (const link of chain) {
    if (link instanceof jose.JWSSignatureVerificationFailed) return 'signature';
    if (link instanceof jose.JOSEAlgNotAllowed || link instanceof jose.JOSENotSupported) return 'algorithm';
    if (link instanceof jose.JWKSNoMatchingKey) return 'unknown_key';
    const claim = claimOf(link);
    if (claim !== undefined) return reasonsOfClaims[claim] ?? 'claims';
    if (/"alg"|algorithm/.test(textOf(link))) return 'algorithm';
  }
  return 'malformed';
}

/** Returns the claim, or the response parameter, that an error is about. */
function claimOf(link: unknown): string | undefined {
  if (typeof link !== 'object' || link === null) return undefined;
  if ('claim' in link && typeof link.claim === 'string') return link.claim;
  const [, claim] =
    /(?:JWT|unexpected|parameter|ID Token) "(iss|aud|azp|nonce|sub|exp|iat|nbf)"/.exec(textOf(link)) ?? [];
  return claim;
}

/** Explains an error of the account or of the invitation. @throws the error, if it is of another kind */
export function refusalOfDomainError(error: DomainError): SignInRefusal {
  switch (error.code) {
    case 'account_suspended':
      return new SignInRefusal('suspended', 'suspended', error.message, error);
    case 'rate_limited':
      return new SignInRefusal('too_many', 'rate_limited', error.message, error);
    case 'sign_up_closed':
      return new SignInRefusal('no_account', 'no_account', error.message, error);
    case 'not_found':
    case 'link_used':
    case 'link_expired':
    case 'invitation_used':
    case 'invitation_expired':
    case 'invitation_revoked':
      return new SignInRefusal('invitation', 'not_allowed', error.message, error);
    default:
      throw error;
  }
}
