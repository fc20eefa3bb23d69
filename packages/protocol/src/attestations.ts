import type { Static } from 'typebox';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { Type } from './type.ts';

/* The provenance of versions: signed statements about where a module comes from. */

/** The state of a version's provenance. A version without attached provenance is `absent`. */
export const provenanceState = oneOf(['verified', 'failed', 'absent'], {
  description:
    'whether provenance says where the module comes from, and whether its signature is valid; publishing from a trusted CI job counts as verified',
});
export type ProvenanceState = Static<typeof provenanceState>;

/** `publish` is the server's own; `origin` is that of the server that an imported version comes from. Publishers attach the others. */
export const attestationKind = oneOf(['publish', 'provenance', 'sbom', 'origin']);
export type AttestationKind = Static<typeof attestationKind>;

export const attestationState = oneOf(['verified', 'failed']);
export type AttestationState = Static<typeof attestationState>;

const text = (description: string) => nullable(Type.String(), { description });

export const attestationSigner = Type.Object({
  keyId: text("the server's signing key, or that of the origin; `null` for a certificate"),
  issuer: text('the OpenID Connect issuer that identified the CI job'),
  identity: text("the certificate's identity, such as the URL of a workflow"),
  repository: text('the source repository'),
  workflow: text('the workflow that built the module'),
  commit: text('the commit that was built'),
  runUrl: text('the page of the CI run'),
});
export type AttestationSigner = Static<typeof attestationSigner>;

export const attestation = Type.Object({
  id: id('attestation', 'the attestation'),
  kind: attestationKind,
  predicateType: Type.String({ description: 'the type of the in-toto predicate' }),
  version: Type.Integer({ minimum: 1, description: "the version's number" }),
  state: attestationState,
  detail: nullable(Type.String(), { description: 'why it failed, or a note' }),
  signer: nullable(attestationSigner),
  createdAt: timestamp('when it was signed or attached'),
  bundle: Type.Object({}, { additionalProperties: true, description: 'a Sigstore bundle' }),
});
export type Attestation = Static<typeof attestation>;

/** A public key of the server. */
export const signingKey = Type.Object({
  keyId: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'the SHA-256 of its SPKI in DER' }),
  algorithm: Type.Literal('ed25519'),
  publicKey: Type.String({ description: 'SPKI in PEM' }),
  validFrom: timestamp('when the server starts to sign with it'),
  validUntil: nullable(timestamp('when the server stops signing with it; `null` without a successor')),
});
export type SigningKey = Static<typeof signingKey>;

export const signingKeys = Type.Object({ keys: Type.Array(signingKey) });

/** The longest pattern of a source, in characters. */
const maxPatternLength = 500;

const pattern = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: maxPatternLength, description }));

/** Where modules may come from. An absent field matches everything. */
const provenanceSource = Type.Object(
  {
    issuer: pattern('the OpenID Connect issuer of the CI job; `*` matches any characters'),
    repository: pattern(
      'the repository as a URL, or as `owner/name` together with an issuer; `*` matches any characters',
    ),
    workflow: pattern('the workflow as a URL, or without its host together with an issuer; `*` matches any characters'),
  },
  { additionalProperties: false },
);
export type ProvenanceSource = Static<typeof provenanceSource>;

const policyFields = {
  mode: oneOf(['none', 'record', 'require'], {
    description: '`record` writes to the audit trail what `require` would refuse; `require` refuses it',
  }),
  sources: Type.Array(provenanceSource, { maxItems: 50, description: 'the accepted sources; one must match' }),
};

/** What an extension point requires of the provenance of modules. */
export const provenancePolicy = Type.Object(policyFields);
export type ProvenancePolicy = Static<typeof provenancePolicy>;

/** The policy of an extension point that has none. */
export const noProvenancePolicy: ProvenancePolicy = { mode: 'none', sources: [] };

/** An absent field keeps its value. */
export const provenancePolicyInput = Type.Partial(Type.Object(policyFields), { additionalProperties: false });
export type ProvenancePolicyInput = Static<typeof provenancePolicyInput>;
