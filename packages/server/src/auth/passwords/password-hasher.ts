import process from 'node:process';
import { UnavailableError } from '../../db/store.ts';
import { currentFairnessKey } from '../../workers/fairness-key.ts';
import { createPool, type OnTaskEnd, PoolError, type PoolLoad } from '../../workers/pool.ts';
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

/** Hashes and verifies passwords in threads. */
export interface PasswordHasher {
  /** Returns the hash as a PHC string, with a random salt. */
  hash(password: string): Promise<string>;
  /**
   * Whether a password matches a hash. Without a hash it takes equally long, so that the timing doesn't reveal whether there is one.
   *
   * @throws UnavailableError if too many passwords wait
   */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** Whether a hash has a lower cost than new hashes. */
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

/** Far longer than a hash takes. */
const timeoutMs = 30_000;

const maxHeapMiB = 64; // Argon2 allocates its memory outside the JavaScript heap

/** @throws Error if Node.js was built with an OpenSSL older than 3.2, which lacks Argon2 */
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
  // verify() computes this hash if there is none to compare with. The outcome is ignored.
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
