import { AsyncLocalStorage } from 'node:async_hooks';

const fairnessKeys = new AsyncLocalStorage<string>();

/**
 * Runs work under a fairness key: the id of the request's account, or the client's network for a request without an account. Fair
 * queues (for the write lock, and for password hashing) take turns between keys, so that many requests of one client don't delay
 * other clients.
 */
export function runWithFairnessKey<T>(key: string, work: () => T): T {
  return fairnessKeys.run(key, work);
}

/** Returns the current fairness key; `''` outside of requests. */
export function currentFairnessKey(): string {
  return fairnessKeys.getStore() ?? '';
}
