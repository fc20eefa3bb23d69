// Makes the bucket that TENON_S3_BUCKET names, unless it is there. For object stores that come up empty, as in compose.yaml.
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';

const {
  TENON_S3_BUCKET: Bucket = '',
  TENON_S3_ENDPOINT: endpoint = '',
  TENON_S3_REGION: region = 'us-east-1',
  TENON_S3_ACCESS_KEY_ID: accessKeyId = '',
  TENON_S3_SECRET_ACCESS_KEY: secretAccessKey = '',
} = process.env;

const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } });
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
    if (left === 0 || (status !== undefined && status < 500)) throw error;
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
