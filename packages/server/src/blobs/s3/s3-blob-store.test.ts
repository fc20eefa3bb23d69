import { blobStoreContract } from '../../../test/contracts/blob-store-contract.ts';
import { objectsAlone } from '../../../test/helpers/s3-stores.ts';

blobStoreContract('openS3BlobStore()', objectsAlone);
