/** The server as a library, for the `tenon` program and for tests. */

export { deleteUser } from './apps/delete-account.ts';
export { verifyAttestations } from './attestations/read-attestations.ts';
export { toSigningKey } from './attestations/signing-key-routes.ts';
export { listSigningKeys, revokeSigningKey, rotateSigningKey } from './attestations/signing-keys.ts';
export { toOperatorAuditEntry } from './audit/audit-export.ts';
export { listAllAudit } from './audit/read-audit.ts';
export { readAuditHead, sealIfPossible } from './audit/seal.ts';
export { type AuditVerification, verifyAuditChain } from './audit/verify-chain.ts';
export { toQuotaOverride, toUser, toUserDetails } from './auth/account-wire.ts';
export {
  type Credential,
  findCredential,
  type ListedCredential,
  listCredentials,
  revokeCredentials,
} from './auth/manage-tokens.ts';
export {
  createPasswordLink,
  listUsers,
  resetSecondFactor,
  revokeCredentialsOf,
  setOperator,
  suspendUser,
  unsuspendUser,
} from './auth/manage-users.ts';
export { type CreatedLink, createSetUpLink, linkUrl } from './auth/one-time-links.ts';
export { listQuotaOverrides, setQuotaOverride } from './auth/quota-overrides.ts';
export { issueApiKey, issueToken, lifetimeEnd, type TokenFields, tokenLifetimeDays } from './auth/tokens.ts';
export { createUser, describeUser, findUser, type UserDescription } from './auth/users.ts';
export { trustClock } from './blobs/clock-gap.ts';
export { type CollectOptions, type CollectResult, collect } from './blobs/collect.ts';
export { type VerifyOptions, type VerifyResult, verify } from './blobs/verify.ts';
export { type Config, ConfigError, type ConfigFlags, loadConfig } from './config/config.ts';
export { isQuota, parseQuotaLimit } from './config/quota-list.ts';
export { quotas } from './config/quotas.ts';
export { type Setting, type Settings, settings } from './config/settings.ts';
export { describeStore } from './config/store-places.ts';
export { version } from './config/version.ts';
export type { SigningKeyRecord } from './db/attestation-records.ts';
export type { AuditPosition } from './db/audit-chain-records.ts';
export type { StoreFault } from './db/blob-records.ts';
export type { ApiKeyRecord, TokenRecord, UserRecord } from './db/records.ts';
export type { Deps } from './deps.ts';
export { DomainError } from './http/domain-errors.ts';
export { serveUntilStopped } from './main.ts';
export { issueHostToken } from './mirror/host-tokens.ts';
export { type DataServices, openData } from './open-services.ts';
export { buildOpenApi, type OpenApiOptions } from './openapi.ts';
export { type CopiedStore, type CopyOptions, type CopyStep, copyStore } from './ops/copy/copy-store.ts';
export { CopyError, type CopyErrorCode } from './ops/copy/errors.ts';
export { type FirstStart, type NoDemoReason, usesDataFolder } from './ops/first-start.ts';
export { definitions as metricDefinitions } from './ops/metrics/definitions.ts';
export { readQuickstart } from './ops/quickstart-file.ts';
export { listPublishedVersions, yankPublished } from './plugins/mass-yank.ts';
export { toMassYank, toPublishedVersion } from './plugins/mass-yank-wire.ts';
export { type RunningServer, serve } from './server.ts';
