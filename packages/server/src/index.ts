/** Tenon's server, to be run or administered by a program: `tenon`, or a test. */
export { type Config, ConfigError, type ConfigFlags, loadConfig } from './config.ts';
export { type Setting, type Settings, settings } from './config-settings.ts';
export { makePasswordLink } from './domain/accounts.ts';
export type { Context } from './domain/context.ts';
export { DomainError } from './domain/errors.ts';
export { linkUrl, type MadeLink, makeSetUpLink } from './domain/one-time-links.ts';
export type { ApiKeyRecord, TokenRecord, UserRecord } from './domain/records.ts';
export { defaultTokenLifetimeDays, issueApiKey, issueToken, type TokenFields } from './domain/tokens.ts';
export { createUser } from './domain/users.ts';
export type { FirstStart, NoDemoReason } from './first-start.ts';
export { serveUntilStopped } from './main.ts';
export { type DataParts, openData } from './open-parts.ts';
export { buildOpenApi, type OpenApiOptions } from './openapi.ts';
export { readQuickstart } from './quickstart-file.ts';
export { type RunningServer, serve } from './serve.ts';
export { version } from './version.ts';
