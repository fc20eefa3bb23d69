// Creates the bucket TENON_S3_BUCKET if it does not exist, for object stores that start empty, as in compose.yaml.
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';

const {
  TENON_S3_BUCKET: Bucket = '',
  TENON_S3_ENDPOINT: endpoint,
  TENON_S3_REGION: region = 'us-east-1',
  TENON_S3_ACCESS_KEY_ID: accessKeyId = '',
  TENON_S3_SECRET_ACCESS_KEY: secretAccessKey = '',
} = process.env;

if ([Bucket, accessKeyId, secretAccessKey].includes(''))
  fail(
    'Set TENON_S3_BUCKET, TENON_S3_ACCESS_KEY_ID and TENON_S3_SECRET_ACCESS_KEY, and TENON_S3_ENDPOINT where it is not Amazon.',
  );

const store = endpoint ? { endpoint, forcePathStyle: true } : {};
const client = new S3Client({ ...store, region, credentials: { accessKeyId, secretAccessKey } });
const tries = 60; // the store may be starting: a second for each

for (let left = tries; ; left--) {
  try {
    if (await isThere()) console.log(`The bucket ${Bucket} is there.`);
    else {
      await client.send(new CreateBucketCommand({ Bucket }));
      console.log(`Made the bucket ${Bucket}.`);
    }
    break;
  } catch (error) {
    const status = error?.$metadata?.httpStatusCode;
    if (left === 0 || (status !== undefined && status < 500))
      fail(`Cannot make the bucket ${Bucket}: ${error?.name}: ${error?.message}`);
    if (left === tries) console.error(`Waiting for the object store: ${error?.message}`);
    await sleep(1000);
  }
}

async function isThere() {
  try {
    await client.send(new HeadBucketCommand({ Bucket }));
    return true;
  } catch (error) {
    if (error?.$metadata?.httpStatusCode === 404) return false;
    throw error;
  }
}

/** @param {string} words */
function fail(words) {
  console.error(words);
  process.exit(1);
}
