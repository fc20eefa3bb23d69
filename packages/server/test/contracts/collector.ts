import { randomBytes } from 'node:crypto';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import { type CollectResult, collect } from '../../src/blobs/collect.ts';
import type { Store, Transaction } from '../../src/db/store.ts';
import { someTimeMs } from '../helpers/records.ts';
import type { Backend } from './backend.ts';

/** The steps of a run of the collector that has something to do at each of them. */
export const collectorSteps = ({ deletionStep }: Backend): readonly string[] => [
  'putLease',
  'commit of putLease',
  'markUnused',
  'commit of markUnused',
  'after markUnused',
  'markForDeletion',
  'commit of markForDeletion',
  'after markForDeletion',
  deletionStep,
  'deleteBlobDeletions',
  'commit of deleteBlobDeletions',
  'after deleteBlobDeletions',
  'deleteLease',
  'commit of deleteLease',
  'after deleteLease',
];

export interface Collector {
  /** Collects without any grace, and however much it is. */
  collect(): Promise<CollectResult | undefined>;
  close(): Promise<void>;
}

const hourMs = 60 * 60 * 1000;

/**
 * Opens stores for the domain's collector. Its clock is ahead of all publishers', by more than any lease lasts: nothing but the
 * order of what is done protects them.
 *
 * @param hoursAhead of the publishers' clock. A collector that is further ahead than another takes that one's lease for ended,
 *   so that they work at the same time
 * @param onStep called with the name of each step, before it is made
 * @param wrap puts faults in the way of the blob store
 */
export async function openCollector(
  backend: Backend,
  location: string,
  hoursAhead: number,
  onStep: (step: string) => void = () => {},
  wrap: (blobs: BlobStore) => BlobStore = (blobs) => blobs,
): Promise<Collector> {
  const store = await backend.openStore(location);
  const blobs = await backend.openBlobs(location, onStep);
  const deps = {
    store: watchedStore(store, onStep),
    blobs: wrap(blobs),
    clock: () => someTimeMs + hoursAhead * hourMs,
    random: randomBytes,
  };
  return {
    collect: () => collect(deps, { graceMs: 0, isForced: true }),
    async close() {
      await blobs.close();
      await store.close();
    },
  };
}

/** Tells of every change that a transaction asks for, of its commit, and that it is over. */
function watchedStore(store: Store, onStep: (step: string) => void): Store {
  const watched =
    (write: Store['write']): Store['write'] =>
    async (work) => {
      let last = 'nothing';
      const watchedTx = (tx: Transaction): Transaction =>
        new Proxy(tx, {
          get(target, name, receiver) {
            const isChange = typeof name === 'string' && /^(put|note|mark|delete(?!Ended))/.test(name);
            if (isChange) {
              last = name;
              onStep(name);
            }
            return Reflect.get(target, name, receiver);
          },
        });
      const result = await write(async (tx) => {
        const answer = await work(watchedTx(tx));
        onStep(`commit of ${last}`);
        return answer;
      });
      onStep(`after ${last}`);
      return result;
    };
  const writeLocking = watched(store.writeLocking as Store['write']) as Store['writeLocking'];
  return { ...store, write: watched(store.write), writeLocking };
}
