import type { SignUpMode } from '@tenon/protocol';
import type { GuessLimits } from './guesses.ts';
import type { Memories } from './memories/memories.ts';
import type { BlobStore, Clock, CommonPasswords, ModuleChecker, PasswordHasher, RandomBytes, Store } from './ports.ts';

/** The limits that the domain keeps; `config.ts` gives them their defaults. */
export interface DomainLimits {
  /** How long an invitation works, in milliseconds. */
  readonly invitationLifetimeMs: number;
  /** How many plugins may be bound under one guest at one extension point. */
  readonly maxPluginsPerGuest: number;
  /** How long a browser stays signed in, in milliseconds. */
  readonly sessionLifetimeMs: number;
  /** How long a set-up or password link works, in milliseconds. */
  readonly linkLifetimeMs: number;
}

/** The parts that use cases work with. */
export interface Context {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly checker: ModuleChecker;
  readonly passwords: PasswordHasher;
  readonly commonPasswords: CommonPasswords;
  readonly guesses: GuessLimits;
  readonly memories: Memories;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: DomainLimits;
  /** Who may make an account. */
  readonly signUp: SignUpMode;
}
