import type { CreateAppsMode, SignUpMode } from '@tenon/protocol';
import type { KeyedMutex } from '../keyed-mutex.ts';
import type { AttemptLimiters } from './attempts.ts';
import type { Memories } from './memories/memories.ts';
import type { BlobStore, Clock, CommonPasswords, ModuleChecker, PasswordHasher, RandomBytes, Store } from './ports.ts';
import type { Quotas } from './quotas.ts';
import type { StoredContents } from './stored-contents.ts';

/** The limits that the domain keeps; `config.ts` gives them their defaults. */
export interface DomainLimits {
  /** How long an invitation works, in milliseconds. */
  readonly invitationLifetimeMs: number;
  /** How many plugins may be bound under one guest at one extension point. */
  readonly maxPluginsPerGuest: number;
  readonly quotas: Quotas;
  /** How long a browser stays signed in, in milliseconds. */
  readonly sessionLifetimeMs: number;
  /** How long a set-up or password link works, in milliseconds. */
  readonly linkLifetimeMs: number;
}

/** The parts that use cases work with. */
export interface Context {
  readonly store: Store;
  readonly blobs: BlobStore;
  /** The bytes of contents, checked as they are read. */
  readonly contents: StoredContents;
  readonly checker: ModuleChecker;
  readonly passwords: PasswordHasher;
  readonly commonPasswords: CommonPasswords;
  readonly rates: AttemptLimiters;
  readonly memories: Memories;
  /** Serialises costly work on one record, such as hashing new passwords for one invitation. */
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: DomainLimits;
  readonly createApps: CreateAppsMode;
  /** Who may make an account. */
  readonly signUp: SignUpMode;
}
