/** The server as a library, for the `tenon` program and for tests. */
export { type BackUpOptions, type BackupSummary, backUp, type Progress, unfinishedBackup } from './backup/back-up.ts';
export { BackupError, type BackupErrorCode } from './backup/errors.ts';
export { type RestoreOptions, type RestoreSummary, restore } from './backup/restore.ts';
export { type Setting, type Settings, settings } from './config/settings.ts';
export { type Config, ConfigError, type ConfigFlags, loadConfig } from './config.ts';
export { createPasswordLink } from './domain/accounts.ts';
export { listAllAudit } from './domain/audit/read.ts';
export type { Context } from './domain/context.ts';
export { DomainError } from './domain/errors.ts';
export { trustClock } from './domain/housekeeping/clock-gap.ts';
export { type CollectOptions, type CollectResult, collect } from './domain/housekeeping/collect.ts';
export type { StoreFault } from './domain/housekeeping/ports.ts';
export { type VerifyOptions, type VerifyResult, verify } from './domain/housekeeping/verify.ts';
export { type CreatedLink, createSetUpLink, linkUrl } from './domain/one-time-links.ts';
export type { ApiKeyRecord, TokenRecord, UserRecord } from './domain/records.ts';
export { noteChore } from './domain/status/chores.ts';
export { grantOperator, revokeOperator } from './domain/status/operators.ts';
export { issueApiKey, issueToken, lifetimeEnd, type TokenFields, tokenLifetimeDays } from './domain/tokens.ts';
export { createUser, describeUser, findUser } from './domain/users.ts';
export type { FirstStart, NoDemoReason } from './first-start.ts';
export { toOperatorAuditEntry } from './http/audit-wire.ts';
export { serveUntilStopped } from './main.ts';
export { definitions as metricDefinitions } from './metrics/definitions.ts';
export { MigrateStoreError, type MigrateStoreErrorCode } from './migrate-store/errors.ts';
export {
  type MigratedStore,
  type MigrateStep,
  type MigrateStoreOptions,
  migrateStore,
} from './migrate-store/migrate-store.ts';
export { type ThawStoreOptions, thawStore } from './migrate-store/thaw.ts';
export { type DataParts, openData } from './open-parts.ts';
export { buildOpenApi, type OpenApiOptions } from './openapi.ts';
export { readQuickstart } from './quickstart-file.ts';
export { type RunningServer, serve } from './serve.ts';
export { version } from './version.ts';
