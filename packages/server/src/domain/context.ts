import type { CreateAppsMode, SignUpMode } from '@tenon/protocol';
import type { Cache } from '../cache/cache.ts';
import type { Quotas } from '../config/quotas.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import type { AttemptLimiters } from './attempts.ts';
import type { BlobStore, Clock, CommonPasswords, ModuleChecker, PasswordHasher, RandomBytes, Store } from './ports.ts';
import type { StoredContents } from './stored-contents.ts';

/** Limits from the configuration, with their defaults. */
export interface DomainLimits {
  readonly invitationLifetimeMs: number;
  /** The maximum number of plugins under one guest at one extension point. */
  readonly maxPluginsPerGuest: number;
  readonly quotas: Quotas;
  /** How long a browser stays signed in. */
  readonly sessionLifetimeMs: number;
  /** The lifetime of set-up and password links. */
  readonly linkLifetimeMs: number;
}

/** The services that use cases depend on. */
export interface Context {
  readonly store: Store;
  readonly blobs: BlobStore;
  /** The bytes of the blob store, with verified digests. */
  readonly contents: StoredContents;
  readonly checker: ModuleChecker;
  readonly passwords: PasswordHasher;
  readonly commonPasswords: CommonPasswords;
  readonly rates: AttemptLimiters;
  readonly cache: Cache;
  /** Serializes costly work for one key, such as hashing new passwords for one invitation. */
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
  /** Recorded as the author of every audit event, whoever the actor is. */
  readonly auditAuthor?: 'operator';
  readonly random: RandomBytes;
  readonly limits: DomainLimits;
  readonly createApps: CreateAppsMode;
  readonly signUp: SignUpMode;
}
