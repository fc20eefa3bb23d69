export {
  type AttestedPlugin,
  openBundle,
  type Provenance,
  type ProvenanceReason,
  type Publication,
  publishPredicateType,
  type SignedStatement,
  verifyAttestation,
} from './attestation.ts';
export { readTrustedKeys, type SigningKey, type TrustedKey } from './trusted-keys.ts';
