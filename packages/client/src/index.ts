export type { Provenance, ProvenanceReason, Publication } from './attestation.ts';
export type { Binding, BindingList } from './bindings.ts';
export type { CacheStore } from './cache-store.ts';
export type { PluginCall } from './call-reports.ts';
export { type Client, createClient } from './client.ts';
export { ClientError, type ClientErrorOptions, type OwnErrorCode } from './errors.ts';
export type { BindingsKey, ClientEvents, ClientEventType, Operation, PluginKey, Source } from './events.ts';
export type { BindingsResult, CallOptions } from './lists.ts';
export type {
  ClientOptions,
  GetToken,
  LimitOptions,
  MemoryOptions,
  ReportOptions,
  RetryOptions,
  StreamingOptions,
  TimeoutOptions,
  VerifyMode,
} from './options.ts';
export type { LoadedPlugin } from './plugins.ts';
export type { SigningKey } from './trusted-keys.ts';
export type { WarmUpOptions, WarmUpProgress, WarmUpReport } from './warm-up.ts';
