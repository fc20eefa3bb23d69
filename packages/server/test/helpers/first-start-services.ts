import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { openFolderBlobStore } from '../../src/blobs/folder/folder-blob-store.ts';
import { createStoredContents } from '../../src/blobs/stored-contents.ts';
import { createCache } from '../../src/cache/cache.ts';
import { openSqliteStore } from '../../src/db/sqlite/store.ts';
import type { Transaction } from '../../src/db/store.ts';
import type { Deps } from '../../src/deps.ts';
import type { FirstStartOptions } from '../../src/ops/first-start.ts';
import { statements } from '../../src/queries.ts';
import { withEffects } from '../../src/with-effects.ts';
import { accountServices } from './account-services.ts';
import { anyModule } from './any-module.ts';

// The engine has it, and the types of neither Node nor ECMAScript name it.
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<unknown> };

/** The real parts on a data folder, without the HTTP around them. */
export async function openContext(dataDir: string): Promise<Deps> {
  const store = withEffects(await openSqliteStore(statements, { file: join(dataDir, 'tenon.db') }), {});
  const blobs = await openFolderBlobStore({ folder: join(dataDir, 'blobs') });
  return {
    store,
    blobs,
    contents: createStoredContents({ store, blobs }),
    checker: {
      ...anyModule,
      async check(bytes) {
        await WebAssembly.compile(bytes);
        return anyModule.check(bytes);
      },
    },
    cache: createCache(store),
    clock: Date.now,
    random: (length) => new Uint8Array(randomBytes(length)),
    ...accountServices(),
  };
}

export async function closeContext({ store, blobs }: Deps): Promise<void> {
  await store.close();
  await blobs.close();
}

/** A start on a loopback host without flags: the one that makes the demo. */
export function demoOptions(dataDir: string): FirstStartOptions {
  return { dataDir, url: 'http://localhost:8366', demo: undefined, host: '127.0.0.1', only: undefined };
}

/**
 * The same parts, which call `onStep` before each thing that they do to the store or the blobs, and once more when the work
 * of a transaction is done but not yet committed.
 */
export function withSteps(deps: Deps, onStep: (name: string) => void): Deps {
  const { store, blobs } = deps;
  return {
    ...deps,
    blobs: {
      ...blobs,
      put(key, bytes) {
        onStep('put blob');
        return blobs.put(key, bytes);
      },
    },
    store: {
      ...store,
      async write(work) {
        onStep('begin');
        const result = await store.write(async (tx) => {
          const answer = await work(announced(tx, onStep));
          onStep('commit');
          return answer;
        });
        onStep('committed');
        return result;
      },
    },
  };
}

function announced(tx: Transaction, onStep: (name: string) => void): Transaction {
  return new Proxy(tx, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (typeof name === 'string' && !name.startsWith('any')) onStep(name);
      return value.bind(target);
    },
  });
}
