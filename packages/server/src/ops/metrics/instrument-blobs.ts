import type { BlobStore } from '../../blobs/blob-store.ts';
import { StorageFullError, UnavailableError } from '../../db/store.ts';
import type { Registry } from './registry.ts';

const operations = ['put', 'size', 'open', 'delete', 'list', 'ping'] as const;
type Operation = (typeof operations)[number];

const outcomes = ['done', 'missing', 'unavailable', 'full', 'failed'] as const;
type Outcome = (typeof outcomes)[number];

/** Wraps a blob store to count and time its operations. A read is counted when it ends. */
export function instrumentBlobs(blobs: BlobStore, registry: Registry): BlobStore {
  for (const operation of operations) {
    for (const outcome of outcomes) registry.counter('tenon_blob_requests_total', { operation, outcome });
  }
  const read = registry.counter('tenon_blob_read_bytes_total', {});
  const written = registry.counter('tenon_blob_written_bytes_total', {});
  const count = (operation: Operation, outcome: Outcome): void => {
    registry.counter('tenon_blob_requests_total', { operation, outcome }).value++;
  };

  /** Times an operation, and counts it unless its outcome is still `pending`. */
  const measure = async <T>(
    operation: Operation,
    work: () => Promise<T>,
    outcomeOfResult: (result: T) => Outcome | 'pending' = () => 'done',
  ): Promise<T> => {
    const startedAt = performance.now();
    try {
      const result = await work();
      const outcome = outcomeOfResult(result);
      if (outcome !== 'pending') count(operation, outcome);
      return result;
    } catch (error) {
      count(operation, outcomeOf(error));
      throw error;
    } finally {
      const seconds = (performance.now() - startedAt) / 1000;
      registry.histogram('tenon_blob_request_duration_seconds', { operation }).observe(seconds);
    }
  };
  /** Counts an operation when its items have been read. */
  async function* countAtEnd<T>(operation: Operation, items: AsyncIterable<T>, onItem: (item: T) => void) {
    try {
      for await (const item of items) {
        onItem(item);
        yield item;
      }
      count(operation, 'done');
    } catch (error) {
      count(operation, outcomeOf(error));
      throw error;
    }
  }
  const countRead = ({ length }: Uint8Array): void => {
    read.value += length;
  };

  return {
    ...blobs,
    async put(key, bytes) {
      await measure('put', () => blobs.put(key, bytes));
      written.value += bytes.length;
    },
    size: (key) => measure('size', () => blobs.size(key), doneOrMissing),
    stat: (key) => measure('size', () => blobs.stat(key), doneOrMissing),
    async open(key, range, signal, scratch) {
      const open = () => blobs.open(key, range, signal, scratch);
      const chunks = await measure('open', open, (found) => (found === undefined ? 'missing' : 'pending'));
      return chunks && countAtEnd('open', chunks, countRead);
    },
    delete: (key) =>
      measure(
        'delete',
        () => blobs.delete(key),
        (existed) => (existed ? 'done' : 'missing'),
      ),
    list: () => countAtEnd('list', blobs.list(), () => {}),
    ping: (signal) => measure('ping', () => blobs.ping(signal)),
    pingWrite: (signal) => measure('ping', () => blobs.pingWrite(signal)),
  };
}

function doneOrMissing(found: unknown): Outcome {
  return found === undefined ? 'missing' : 'done';
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof UnavailableError) return 'unavailable';
  return error instanceof StorageFullError ? 'full' : 'failed';
}
