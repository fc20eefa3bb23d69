import type { Logger } from 'pino';
import type { LastUsedLog } from './auth/last-used-log.ts';
import type { DevicePolls } from './auth/oauth/device-polls.ts';
import type { IssuerKeys } from './auth/trusted-publishing/issuer-keys.ts';
import type { ContentCache } from './blobs/content-cache.ts';
import type { ChangeFeed } from './changes/change-feed.ts';
import type { Settings } from './config/settings.ts';
import type { ConsoleFiles } from './console/console-files.ts';
import type { Deps } from './deps.ts';
import type { DocsFiles } from './docs/docs-files.ts';
import type { ByteBudget } from './http/bodies/body-memory.ts';
import type { ClientAddresses } from './http/client-address.ts';
import type { KeyedSemaphore } from './http/limits/keyed-semaphore.ts';
import type { RateLimiter } from './http/limits/rate-limiter.ts';
import type { ModuleWorkers } from './instrument/module-workers.ts';
import type { RequestCounts } from './ops/metrics/instrument-requests.ts';
import type { Readiness } from './ops/status/readiness.ts';
import type { Status } from './ops/status/status.ts';
import type { RequestTraces } from './ops/tracing/trace-requests.ts';
import type { OwnPackage } from './packages/own-packages.ts';
import type { UsageCounter } from './usage/usage-counter.ts';

/** The results of authorization, for route handlers. */
export type { Actor, AppAccess, ExtensionPointAccess, PermissionName } from './auth/access.ts';
export type { UsageCell } from './usage/usage-counter.ts';

/** The URLs of the server. Functions, because the port is known only when the server listens. */
export interface Addresses {
  /** `{base_url}`, without a trailing slash. */
  readonly base: () => string;
  /** `{instrument_url}`, without a trailing slash. */
  readonly instrument: () => string;
}

/** The services that routes depend on. Created in `open-services.ts`. */
export interface Services {
  readonly deps: Deps;
  readonly lastUsed: LastUsedLog;
  /** Counts how hosts use lists and contents. */
  readonly usage: UsageCounter;
  readonly workers: ModuleWorkers;
  readonly changes: ChangeFeed;
  readonly changeStreams: KeyedSemaphore;
  readonly contents: ContentCache;
  /** Set before the server stops. It still serves, but `/readyz` returns 503, so that load balancers use other servers. */
  readonly draining: { isOn: boolean };
  readonly readiness: Readiness;
  /** Whether a mirror has completed its first synchronization; always true on other servers. */
  readonly isSynchronized: () => Promise<boolean>;
  readonly status: Status;
  readonly bodyBudget: ByteBudget;
  /** Concurrent requests by account, without change streams and responses from the cache. */
  readonly requestSemaphore: KeyedSemaphore;
  readonly addresses: Addresses;
  /** `strict-transport-security`, if the public URL is https. */
  readonly transportSecurity: readonly [name: string, value: string] | readonly [];
  readonly clients: ClientAddresses;
  readonly writes: RateLimiter;
  /** Attempts with unknown codes of invitations and links, by client address. */
  readonly codeTries: RateLimiter;
  /** Started logins with a device code, by client address. */
  readonly deviceLogins: RateLimiter;
  readonly devicePolls: DevicePolls;
  /** The keys of the issuers of identity tokens of CI jobs. */
  readonly issuerKeys: IssuerKeys;
  /** Reads of packages and documentation, by client address. */
  readonly publicReads: RateLimiter;
  /** `undefined` if the console is not built. */
  readonly console: ConsoleFiles | undefined;
  /** The packages that this server was built with. */
  readonly packages: readonly OwnPackage[];
  /** `undefined` if the documentation is not built. */
  readonly docs: DocsFiles | undefined;
  /** The OpenAPI description as JSON. */
  readonly openApi: () => Buffer;
  /** `undefined` without metrics. */
  readonly requests: RequestCounts | undefined;
  /** `undefined` without tracing. */
  readonly traces: RequestTraces | undefined;
  readonly settings: Settings;
  readonly log: Logger;
  readonly version: string;
}
