import type { Static } from 'typebox';
import { displayName, id, nullable, timestamp } from './fields.ts';
import { Type } from './type.ts';

/* Passkeys: https://www.w3.org/TR/webauthn-3/. Binary fields are base64url. */

const base64url = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' });

/** An id has at most 1,023 bytes (https://www.w3.org/TR/webauthn-3/#credential-id). */
const credentialId = base64url(1364);

const credential = { id: credentialId, rawId: credentialId, type: Type.Literal('public-key') };

const clientDataJSON = base64url(4096);

/** The response of `navigator.credentials.get()`, as `PublicKeyCredential.toJSON()` returns it. */
export const passkeyAssertion = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON,
    authenticatorData: base64url(4096),
    signature: base64url(2048),
    userHandle: Type.Optional(base64url(88)),
  }),
  clientExtensionResults: Type.Object({}),
});
export type PasskeyAssertion = Static<typeof passkeyAssertion>;

/** The response of `navigator.credentials.create()`. */
export const passkeyAttestation = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON,
    attestationObject: base64url(16_384),
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 8 })),
  }),
  clientExtensionResults: Type.Object({}),
});
export type PasskeyAttestation = Static<typeof passkeyAttestation>;

/** The options of `navigator.credentials`, as `PublicKeyCredential.parse…OptionsFromJSON()` reads them. */
export const passkeyOptions = Type.Object(
  { challenge: Type.String({ description: '32 random bytes as base64url' }) },
  { additionalProperties: true },
);

const nameField = displayName('distinguishes the passkey from your others');

export const passkeyAssertionInput = Type.Object({ response: passkeyAssertion });

export const passkeyAttestationInput = Type.Object({ name: nameField, response: passkeyAttestation });

export const passkeyName = Type.Object({ name: nameField });

export const passkey = Type.Object({
  id: id('passkey', 'the passkey'),
  name: Type.String(),
  createdAt: timestamp('when it was added'),
  lastUsedAt: nullable(timestamp('when it was last used')),
  isCurrent: Type.Boolean({ description: 'whether it was last used in this session' }),
});
export type Passkey = Static<typeof passkey>;

/** All passkeys of the account. */
export const passkeyList = Type.Object({
  objects: Type.Array(passkey),
  recoveryCodes: Type.Integer({ description: 'the number of unused recovery codes' }),
});
export type PasskeyList = Static<typeof passkeyList>;

const codes = Type.Array(Type.String(), { description: 'each works once; shown only once' });

export const registeredPasskey = Type.Object({ passkey, recoveryCodes: Type.Optional(codes) });
export type RegisteredPasskey = Static<typeof registeredPasskey>;

export const recoveryCodes = Type.Object({ codes });
export type RecoveryCodes = Static<typeof recoveryCodes>;

export const recoveryCodeInput = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 64, description: 'case and separators do not count' }),
});

/** Confirms a session: with a passkey, or for an account without one, with the password. */
export const sessionConfirmation = Type.Object({
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description: 'the password of the account' })),
  passkey: Type.Optional(passkeyAssertion),
});
export type SessionConfirmation = Static<typeof sessionConfirmation>;
