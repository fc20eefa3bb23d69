import type { Static } from 'typebox';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { Type } from './type.ts';

/* Sign-in with providers (OpenID Connect). */

/** A configured provider, for a button. */
export const signInProvider = Type.Object({
  id: Type.String({ description: "the provider's id in the server's configuration" }),
  label: Type.String({ description: 'its name for people' }),
});
export type SignInProviderInfo = Static<typeof signInProvider>;

const code = (what: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: what }));

/** The start of a sign-in. A code allows the user to create an account. */
export const providerSignInInput = Type.Object({
  invitationCode: code("an invitation link's code"),
  linkCode: code("the code of the operator's set-up link"),
});
export type ProviderSignInInput = Static<typeof providerSignInInput>;

export const providerRedirect = Type.Object({
  redirectTo: Type.String({ description: 'the URL to open at the provider' }),
});

export type ProviderRedirect = Static<typeof providerRedirect>;

export const signedOut = Type.Object({
  redirectTo: nullable(Type.String(), {
    description:
      "the URL that ends the provider's session too; `null` if a provider did not start the session, or does not support it",
  }),
});

export type SignedOut = Static<typeof signedOut>;

/** A linked account at a provider. */
export const identity = Type.Object({
  id: id('identity', 'the linked sign-in'),
  provider: nullable(signInProvider, { description: '`null` if the server has no such provider any more' }),
  issuer: Type.String({ description: "the provider's URL" }),
  email: nullable(Type.String(), { description: 'the e-mail address at the provider' }),
  createdAt: timestamp('when it was linked'),
  lastUsedAt: timestamp('when it was last used to sign in'),
});
export type Identity = Static<typeof identity>;

/** Why a sign-in at a provider failed: the query parameter `refused` of the page to which the browser returns. */
export const providerSignInFault = oneOf([
  'canceled',
  'unavailable',
  'rejected',
  'expired',
  'email',
  'email_taken',
  'no_account',
  'suspended',
  'invitation',
  'too_many',
  'identity_taken',
  'other_identity',
  'not_confirmed',
  'has_passkey',
  'not_signed_in',
]);
export type ProviderSignInFault = Static<typeof providerSignInFault>;

/** The query parameters of the console's page `/sign-in` after a response of a provider. */
export const providerReturn = { refused: 'refused', provider: 'provider', purpose: 'purpose' } as const;
