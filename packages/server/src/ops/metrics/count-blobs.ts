import type { BlobStore } from '../../blobs/blob-store.ts';
import { StorageFullError, UnavailableError } from '../../db/store.ts';
import type { Registry } from './registry.ts';

const operations = ['put', 'size', 'open', 'delete', 'list', 'ping'] as const;
type Operation = (typeof operations)[number];

const outcomes = ['done', 'missing', 'unavailable', 'full', 'failed'] as const;
type Outcome = (typeof outcomes)[number];

/** The blob store, with what is asked of it counted. What is read counts as done once it has been read to its end. */
export function countBlobs(blobs: BlobStore, registry: Registry): BlobStore {
  for (const operation of operations) {
    for (const outcome of outcomes) registry.counter('tenon_blob_requests_total', { operation, outcome });
  }
  const read = registry.counter('tenon_blob_read_bytes_total', {});
  const written = registry.counter('tenon_blob_written_bytes_total', {});
  const ended = (operation: Operation, outcome: Outcome): void => {
    registry.counter('tenon_blob_requests_total', { operation, outcome }).value++;
  };

  /** Times an operation, and counts it unless it only begins with that. */
  const counted = async <T>(
    operation: Operation,
    work: () => Promise<T>,
    endOf: (result: T) => Outcome | 'begun' = () => 'done',
  ): Promise<T> => {
    const startedAt = performance.now();
    try {
      const result = await work();
      const outcome = endOf(result);
      if (outcome !== 'begun') ended(operation, outcome);
      return result;
    } catch (error) {
      ended(operation, outcomeOf(error));
      throw error;
    } finally {
      const seconds = (performance.now() - startedAt) / 1000;
      registry.histogram('tenon_blob_request_duration_seconds', { operation }).observe(seconds);
    }
  };
  async function* toTheEnd<T>(operation: Operation, items: AsyncIterable<T>, each: (item: T) => void) {
    try {
      for await (const item of items) {
        each(item);
        yield item;
      }
      ended(operation, 'done');
    } catch (error) {
      ended(operation, outcomeOf(error));
      throw error;
    }
  }
  const countRead = ({ length }: Uint8Array): void => {
    read.value += length;
  };

  return {
    ...blobs,
    async put(key, bytes) {
      await counted('put', () => blobs.put(key, bytes));
      written.value += bytes.length;
    },
    size: (key) => counted('size', () => blobs.size(key), whetherThere),
    stat: (key) => counted('size', () => blobs.stat(key), whetherThere),
    async open(key, range, signal, scratch) {
      const open = () => blobs.open(key, range, signal, scratch);
      const chunks = await counted('open', open, (found) => (found === undefined ? 'missing' : 'begun'));
      return chunks && toTheEnd('open', chunks, countRead);
    },
    delete: (key) =>
      counted(
        'delete',
        () => blobs.delete(key),
        (wasThere) => (wasThere ? 'done' : 'missing'),
      ),
    list: () => toTheEnd('list', blobs.list(), () => {}),
    ping: (signal) => counted('ping', () => blobs.ping(signal)),
    pingWrite: (signal) => counted('ping', () => blobs.pingWrite(signal)),
  };
}

function whetherThere(found: unknown): Outcome {
  return found === undefined ? 'missing' : 'done';
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof UnavailableError) return 'unavailable';
  return error instanceof StorageFullError ? 'full' : 'failed';
}
