export type { Binding, BindingList } from './bindings.ts';
export { type Client, createClient } from './client.ts';
export type { Clock } from './clock.ts';
export { ClientError, type ClientErrorOptions, type OwnErrorCode } from './errors.ts';
export type { ClientEvents, ClientEventType, ListKey, Operation, Source } from './events.ts';
export type { ListAnswer, ListOptions } from './lists.ts';
export type {
  ClientOptions,
  LimitOptions,
  MemoryOptions,
  NewsOptions,
  RetryOptions,
  TimeoutOptions,
  TokenSource,
} from './options.ts';
export type { LoadedPlugin } from './plugins.ts';
export type { Store } from './store.ts';
export type { WarmUpKey, WarmUpOptions, WarmUpProgress, WarmUpReport } from './warm-up.ts';
