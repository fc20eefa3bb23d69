import type { AttemptLimiters } from './auth/attempts.ts';
import type { SignInProviders } from './auth/oidc/providers.ts';
import type { CommonPasswords } from './auth/passwords/common-passwords.ts';
import type { PasswordHasher } from './auth/passwords/password-hasher.ts';
import type { RefusalCounts } from './auth/refusal-reasons.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import type { StoredContents } from './blobs/stored-contents.ts';
import type { Cache } from './cache/cache.ts';
import type { Settings } from './config/settings.ts';
import type { Clock, RandomBytes, Store } from './db/store.ts';
import type { KeyedMutex } from './http/limits/keyed-mutex.ts';
import type { ModuleChecker } from './plugins/module-checker.ts';
import type { VersionTester } from './plugins/version-tester.ts';
import type { Simulator } from './simulations/simulator.ts';

/** The services that use cases depend on. */
export interface Deps {
  readonly store: Store;
  readonly blobs: BlobStore;
  /** The bytes of the blob store, with verified digests. */
  readonly contents: StoredContents;
  readonly checker: ModuleChecker;
  readonly simulator: Simulator;
  readonly tester: VersionTester;
  readonly passwords: PasswordHasher;
  readonly commonPasswords: CommonPasswords;
  readonly rates: AttemptLimiters;
  /** `undefined` without metrics. */
  readonly refusalCounts?: RefusalCounts | undefined;
  readonly signInProviders: SignInProviders;
  readonly cache: Cache;
  /** Serializes costly work for one key, such as hashing new passwords for one invitation. */
  readonly mutex: KeyedMutex;
  /** The server's public URL, without a trailing slash. */
  readonly baseUrl: () => string;
  readonly clock: Clock;
  /** The recorded author of all audit events. Default: the actor. */
  readonly auditAuthor?: 'operator';
  /** Set while an action is tried without a change, which needs no step-up. */
  readonly isDryRun?: true;
  readonly random: RandomBytes;
  readonly settings: Settings;
}
