import { blobStoreContract } from '../../../test/contracts/blob-store-contract.ts';
import { backend, makePlace } from '../../../test/helpers/s3-stores.ts';

blobStoreContract('openS3BlobStore()', {
  ...backend,
  makeLocation: async () => ({ location: `- - ${await makePlace()}`, remove: async () => {} }),
});
