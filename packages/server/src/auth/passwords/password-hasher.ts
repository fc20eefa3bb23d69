import process from 'node:process';
import { UnavailableError } from '../../db/store.ts';
import { currentFairnessKey } from '../../workers/fairness-key.ts';
import type { OnTaskEnd, PoolLoad } from '../../workers/pool.ts';
import { createPool, PoolError } from '../../workers/pool.ts';
import { threadWorkers } from '../../workers/thread-worker.ts';
import {
  type ParsedHash,
  type PasswordCost,
  type PasswordResult,
  type PasswordTask,
  parseHash,
  runPasswordTask,
  tagBytes,
} from './password-tasks.ts';

/** Hashes passwords, off the main thread and a few at a time. */
export interface PasswordHasher {
  /** The password's hash in PHC string form, with a salt of its own. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the one of the hash. Takes as long when there is none, so that the time tells nothing.
   *
   * @throws UnavailableError when too many wait already
   */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** Whether a hash was made with a lower cost than new ones are. */
  isOutdated(hash: string): boolean;
}

/**
 * The second recommended option of RFC 9106 §4 (64 MiB, three passes), with one lane instead of four: the pool runs hashes in parallel
 * already. OWASP's minimum is 19 MiB and two passes. https://www.rfc-editor.org/rfc/rfc9106#section-4
 */
export const passwordCost: PasswordCost = { memoryKiB: 64 * 1024, passes: 3, lanes: 1 };

interface PasswordHasherOptions {
  /** The number of threads. Each uses `cost.memoryKiB` while it hashes. */
  readonly passwordThreads: number;
  readonly passwordQueue: number;
  readonly cost: PasswordCost;
}

export type PasswordWorkers = ReturnType<typeof createPasswordWorkers>;

/** Far longer than any hash takes on a working machine. */
const timeoutMs = 30_000;

const maxHeapMiB = 64; // Argon2 allocates its memory outside the JavaScript heap

/** @throws Error when Node.js was built with an OpenSSL older than 3.2, which lacks Argon2; some distributions do so */
function assertArgon2(): void {
  try {
    runPasswordTask({ kind: 'hash', password: '', cost: { memoryKiB: 8, passes: 1, lanes: 1 } });
  } catch (cause) {
    const message = `Node.js must be built with OpenSSL 3.2 or newer for Argon2id (got ${process.versions.openssl})`;
    throw new Error(message, { cause });
  }
}

/**
 * Hashes passwords with Argon2id in dedicated threads, so that neither requests nor module tasks wait for them. Queued tasks are
 * scheduled fairly by {@link currentFairnessKey}.
 */
export function createPasswordWorkers(
  { passwordThreads, passwordQueue, cost }: PasswordHasherOptions,
  onEnd?: OnTaskEnd,
) {
  assertArgon2();
  const pool = createPool<PasswordTask, PasswordResult>({
    startWorker: threadWorkers({ script: new URL('./password-worker.ts', import.meta.url), maxHeapMiB }),
    size: passwordThreads,
    maxQueued: passwordQueue,
    onEnd,
  });
  const run = async (task: PasswordTask): Promise<PasswordResult> => {
    try {
      return await pool.run(task, { caller: currentFairnessKey(), timeoutMs });
    } catch (error) {
      if (error instanceof PoolError && error.code !== 'crashed') {
        throw new UnavailableError('Cannot process the password: too many password tasks wait', { cause: error });
      }
      throw error;
    }
  };
  // verify() computes this hash when there is none to compare with, so that both cases take equally long. The outcome is ignored.
  const dummyHash: ParsedHash = { ...cost, salt: new Uint8Array(16), tag: new Uint8Array(tagBytes) };

  const hasher: PasswordHasher = {
    async hash(password) {
      return String(await run({ kind: 'hash', password, cost }));
    },
    async verify(password, hash) {
      const parsed = hash === undefined ? undefined : parseHash(hash);
      const isCorrect = await run({ kind: 'verify', password, hash: parsed ?? dummyHash });
      return parsed !== undefined && isCorrect === true;
    },
    isOutdated(hash) {
      const parsed = parseHash(hash);
      if (parsed === undefined) return true;
      return parsed.memoryKiB < cost.memoryKiB || parsed.passes < cost.passes || parsed.tag.length < tagBytes;
    },
  };
  const load: PoolLoad = pool;
  return { ...hasher, load, close: () => pool.close() };
}
