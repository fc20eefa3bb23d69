export {
  type AttestedPlugin,
  type Provenance,
  type ProvenanceReason,
  type Publication,
  publishPredicateType,
  verifyAttestation,
} from './attestation.ts';
export { readTrustedKeys, type SigningKey, type TrustedKey } from './trusted-keys.ts';
