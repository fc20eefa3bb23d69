import { after } from 'node:test';
import { openS3BlobStore, putSteps } from '../../src/blobs/s3/s3-blob-store.ts';
import type { Backend } from '../contracts/backend.ts';
import { backend as postgres } from './postgres-stores.ts';
import { type ObjectStore, startObjectStore } from './s3.ts';

let objects: Promise<ObjectStore> | undefined;
let locations = 0;

/** PostgreSQL and an object store; a location is that of PostgreSQL, a space, and an endpoint with a prefix. */
export const backend: Backend = {
  ...postgres,
  module: import.meta.url,
  async makeLocation() {
    const { location, remove } = await postgres.makeLocation();
    return { location: `${location} ${await makePlace()}`, remove };
  },
  async openBlobs(location, onStep) {
    const [, , place = ''] = location.split(' ');
    const { origin, pathname } = new URL(place);
    return openS3BlobStore({
      bucket: 'plugins',
      endpoint: origin,
      prefix: pathname.slice(1),
      credentials: { accessKeyId: 'tenon', secretAccessKey: 'tenon' },
      onStep,
      missingDelaysMs: [],
    });
  },
  blobSteps: putSteps,
};

/** A prefix of a bucket that nobody has used yet, in an object store that ends with the tests of the file. */
export async function makePlace(): Promise<string> {
  objects ??= startObjectStore(['plugins']);
  const { port } = await objects;
  return `http://127.0.0.1:${port}/p${++locations}/`;
}

after(async () => {
  await (await objects)?.stop();
});
