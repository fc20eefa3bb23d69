import type { Logger } from 'pino';
import type { LastUsedLog } from './auth/authenticate.ts';
import type { DevicePolls } from './auth/oauth/device-polls.ts';
import type { ContentCache } from './blobs/content-cache.ts';
import type { ChangeFeed } from './changes/change-feed.ts';
import type { Settings } from './config/settings.ts';
import type { ConsoleFiles } from './console/console-files.ts';
import type { Deps } from './deps.ts';
import type { ByteBudget } from './http/bodies/body-memory.ts';
import type { ClientAddresses } from './http/client-address.ts';
import type { KeyedSemaphore } from './http/limits/keyed-semaphore.ts';
import type { RateLimiter } from './http/limits/rate-limiter.ts';
import type { ModuleWorkers } from './instrument/module-workers.ts';
import type { RequestCounts } from './ops/metrics/count-requests.ts';
import type { Readiness } from './ops/status/readiness.ts';
import type { Status } from './ops/status/status.ts';
import type { RequestTraces } from './ops/tracing/trace-requests.ts';

/** What authorization hands to the handlers of routes. */
export type { Actor, AppAccess, ExtensionPointAccess, PermissionName } from './auth/access.ts';

/** Where the server is reached. The port is known only once it listens, so both are asked for each time. */
export interface Addresses {
  /** `{base_url}`, without a slash at its end. */
  readonly base: () => string;
  /** `{instrument_url}`, without a slash at its end. */
  readonly instrument: () => string;
}

/** Everything that the HTTP side works with. `open-services.ts` makes it. */
export interface Services {
  readonly deps: Deps;
  readonly lastUsed: LastUsedLog;
  readonly workers: ModuleWorkers;
  readonly changes: ChangeFeed;
  readonly changeStreams: KeyedSemaphore;
  readonly contents: ContentCache;
  /** Set when the server is about to stop: it still serves, but `/readyz` returns 503, so that load balancers send to others. */
  readonly draining: { isOn: boolean };
  readonly readiness: Readiness;
  readonly status: Status;
  readonly bodyBudget: ByteBudget;
  /** Requests that are under way, by account; but neither those that are answered from memory nor change streams. */
  readonly requestSemaphore: KeyedSemaphore;
  readonly addresses: Addresses;
  /** A field of every response, or nothing. */
  readonly transportSecurity: readonly [name: string, value: string] | readonly [];
  readonly clients: ClientAddresses;
  readonly writes: RateLimiter;
  /** Unknown codes of invitations and links, by client address. */
  readonly codeTries: RateLimiter;
  /** Logins with a device's code that are begun, by client address. */
  readonly deviceLogins: RateLimiter;
  readonly devicePolls: DevicePolls;
  /** The pages; `undefined` when they are not built. */
  readonly console: ConsoleFiles | undefined;
  /** The description of the routes that are served, as JSON. */
  readonly openApi: () => Buffer;
  /** Counts requests, where somebody asks for metrics. */
  readonly requests: RequestCounts | undefined;
  /** Traces requests, where there is a collector. */
  readonly traces: RequestTraces | undefined;
  readonly settings: Settings;
  readonly log: Logger;
  readonly version: string;
}
