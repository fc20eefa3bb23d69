import process from 'node:process';
import { currentFairnessKey } from '../domain/fairness-key.ts';
import { type PasswordHasher, UnavailableError } from '../domain/ports.ts';
import type { OnTaskEnd, PoolLoad } from './module-workers.ts';
import {
  type ParsedHash,
  type PasswordCost,
  type PasswordResult,
  type PasswordTask,
  parseHash,
  runPasswordTask,
  tagBytes,
} from './password-tasks.ts';
import { createPool, PoolError } from './pool.ts';
import { threadWorkers } from './thread-worker.ts';

/**
 * RFC 9106's choice for where memory is short (64 MiB, three passes), in one lane: a lane is a thread, and the pool has those.
 * OWASP's least is 19 MiB and two passes. https://www.rfc-editor.org/rfc/rfc9106#section-4
 */
export const passwordCost: PasswordCost = { memoryKiB: 64 * 1024, passes: 3, lanes: 1 };

export interface PasswordHasherOptions {
  /** Threads; each takes the cost's memory while it hashes. */
  readonly passwordThreads: number;
  /** How many passwords may wait for a thread. */
  readonly passwordQueue: number;
  /** What new hashes cost. */
  readonly cost: PasswordCost;
}

export interface PasswordWorkers extends PasswordHasher {
  /** How much waits, and how much is worked on. */
  readonly load: PoolLoad;
  close(): Promise<void>;
}

/** No password takes so long, unless the machine stands still. */
const timeoutMs = 30_000;

const maxHeapMiB = 64; // what Argon2 works in lies outside of the heap

/** @throws Error where Node.js was built with an OpenSSL of before 3.2, as some distributions do it, which has no Argon2 */
function demandArgon2(): void {
  try {
    runPasswordTask({ kind: 'hash', password: '', cost: { memoryKiB: 8, passes: 1, lanes: 1 } });
  } catch (cause) {
    throw new Error(
      `This Node.js can't compute Argon2id: it has OpenSSL ${process.versions.openssl}, and 3.2 is needed`,
      {
        cause,
      },
    );
  }
}

/**
 * Hashes passwords with Argon2id in threads of its own, so that neither requests nor work on modules wait for them. The
 * {@link currentFairnessKey}s that wait take turns.
 */
export function createPasswordWorkers(
  { passwordThreads, passwordQueue, cost }: PasswordHasherOptions,
  onEnd?: OnTaskEnd,
): PasswordWorkers {
  demandArgon2();
  const pool = createPool<PasswordTask, PasswordResult>({
    open: threadWorkers({ script: new URL('./password-worker.ts', import.meta.url), maxHeapMiB }),
    size: passwordThreads,
    maxQueued: passwordQueue,
    onEnd,
  });
  const run = async (task: PasswordTask): Promise<PasswordResult> => {
    try {
      return await pool.run(task, { caller: currentFairnessKey(), timeoutMs });
    } catch (error) {
      if (error instanceof PoolError && error.code !== 'crashed') {
        throw new UnavailableError('Too many passwords wait to be looked at', { cause: error });
      }
      throw error;
    }
  };
  // No password has a tag of zeros, as far as anybody will ever see; and the outcome is not asked.
  const nobodys: ParsedHash = { ...cost, salt: new Uint8Array(16), tag: new Uint8Array(tagBytes) };

  return {
    async hash(password) {
      return String(await run({ kind: 'hash', password, cost }));
    },
    async verify(password, hash) {
      const parsed = hash === undefined ? undefined : parseHash(hash);
      const isRight = await run({ kind: 'verify', password, hash: parsed ?? nobodys });
      return parsed !== undefined && isRight === true;
    },
    isOutdated(hash) {
      const parsed = parseHash(hash);
      if (parsed === undefined) return true;
      return parsed.memoryKiB < cost.memoryKiB || parsed.passes < cost.passes || parsed.tag.length < tagBytes;
    },
    load: pool,
    close: () => pool.close(),
  };
}
