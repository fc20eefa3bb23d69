import { openS3BlobStore } from '../../src/blobs/s3/s3-blob-store.ts';
import type { Backend } from '../contracts/backend.ts';
import { backend as postgres } from './postgres-stores.ts';
import { type ObjectStore, startObjectStore } from './s3.ts';

let objects: Promise<ObjectStore> | undefined;
let [made, used] = [0, 0];

/** PostgreSQL and an object store; a location is that of PostgreSQL, a space, and what opens a stretch of a bucket, as JSON. */
export const backend: Backend = {
  ...postgres,
  module: import.meta.url,
  async makeLocation() {
    const [metadata, objects] = [await postgres.makeLocation(), await objectsAlone.makeLocation()];
    return {
      location: metadata.location + objects.location,
      async remove() {
        await metadata.remove();
        await objects.remove();
      },
    };
  },
  async openBlobs(location, onStep) {
    const { accessKeyId, secretAccessKey, ...place } = JSON.parse(location.slice(location.indexOf(' {') + 1));
    return openS3BlobStore({
      ...place,
      credentials: { accessKeyId, secretAccessKey },
      onStep,
      missingDelaysMs: [],
    });
  },
  blobSteps: ['put'],
  deletionStep: 'delete',
};

/** The same without PostgreSQL: it has no metadata. The object store ends with the last location. */
export const objectsAlone: Backend = {
  ...backend,
  async makeLocation() {
    objects ??= startObjectStore(['plugins']);
    used++;
    const { options, stop } = await objects;
    const { bucket, endpoint, credentials } = options('plugins');
    return {
      location: ` ${JSON.stringify({ bucket, endpoint, prefix: `p${++made}/`, ...credentials })}`,
      async remove() {
        if (--used > 0) return;
        objects = undefined;
        await stop();
      },
    };
  },
};
