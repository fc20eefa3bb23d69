import { createSignInProviders } from '../../src/auth/oidc/providers.ts';
import { createCommonPasswords } from '../../src/auth/passwords/common-passwords.ts';
import type { PasswordHasher } from '../../src/auth/passwords/password-hasher.ts';
import { type PasswordCost, parseHash, runPasswordTask } from '../../src/auth/passwords/password-tasks.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { Settings } from '../../src/config/settings.ts';
import type { Deps } from '../../src/deps.ts';
import { createKeyedMutex } from '../../src/http/limits/keyed-mutex.ts';
import { createRates } from '../../src/http/limits/request-limits.ts';
import type { VersionTester } from '../../src/plugins/version-tester.ts';
import { createSimulator } from '../../src/simulations/simulator.ts';

/** Argon2id at next to no cost: what tests ask is whether it is called, and right. */
export const cheapCost: PasswordCost = { memoryKiB: 8, passes: 1, lanes: 1 };

/** The real hash, in this thread. */
const plainHasher: PasswordHasher = {
  hash: async (password) => String(runPasswordTask({ kind: 'hash', password, cost: cheapCost })),
  async verify(password, hash) {
    const parsed = parseHash(hash ?? '');
    return parsed !== undefined && runPasswordTask({ kind: 'verify', password, hash: parsed }) === true;
  },
  isOutdated: () => false,
};

const noTests: VersionTester = {
  settled: async () => {},
  tryModule: async () => ({ verdict: 'none_configured', detail: null }),
};

/** What a context has of accounts, without threads, and without the queue of tests. */
export function accountServices(): Pick<
  Deps,
  | 'baseUrl'
  | 'signInProviders'
  | 'tester'
  | 'simulator'
  | 'passwords'
  | 'commonPasswords'
  | 'rates'
  | 'mutex'
  | 'settings'
> {
  const settings: Settings = { ...loadConfig({}, {}), createApps: 'all' };
  return {
    baseUrl: () => 'http://localhost:8366',
    passwords: plainHasher,
    commonPasswords: createCommonPasswords(),
    rates: createRates(settings),
    signInProviders: createSignInProviders(settings.signIn, Date.now),
    mutex: createKeyedMutex(),
    settings,
    simulator: createSimulator(settings, undefined), // starts processes for simulations only
    tester: noTests,
  };
}
