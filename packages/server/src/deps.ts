import type { CreateAppsMode, SignUpMode } from '@tenon/protocol';
import type { AttemptLimiters } from './auth/attempts.ts';
import type { CommonPasswords } from './auth/passwords/common-passwords.ts';
import type { PasswordHasher } from './auth/passwords/password-hasher.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import type { StoredContents } from './blobs/stored-contents.ts';
import type { Cache } from './cache/cache.ts';
import type { Quotas } from './config/quotas.ts';
import type { Clock, RandomBytes, Store } from './db/store.ts';
import type { KeyedMutex } from './http/limits/keyed-mutex.ts';
import type { ModuleChecker } from './plugins/module-checker.ts';

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
export interface Deps {
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
  /** The recorded author of all audit events. Default: the actor. */
  readonly auditAuthor?: 'operator';
  readonly random: RandomBytes;
  readonly limits: DomainLimits;
  readonly createApps: CreateAppsMode;
  readonly signUp: SignUpMode;
}
