import type { BlobStore, Clock, ModuleChecker, RandomBytes, Store } from './ports.ts';
import type { Snapshots } from './snapshots.ts';

/** The limits that the domain keeps; `config.ts` gives them their defaults. */
export interface DomainLimits {
  /** How long an invitation works, in milliseconds. */
  readonly invitationLifetimeMs: number;
  /** How many plugins may be bound under one guest at one extension point. */
  readonly maxPluginsPerGuest: number;
}

/** The parts that use cases work with. */
export interface Context {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly checker: ModuleChecker;
  readonly snapshots: Snapshots;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: DomainLimits;
}
