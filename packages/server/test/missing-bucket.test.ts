import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { pino } from 'pino';
import { until } from '../../../test/helpers/until.ts';
import { loadConfig } from '../src/config/config.ts';
import { serve } from '../src/server.ts';
import { startObjectStore } from './helpers/s3.ts';

it('serve() reports a missing bucket at the start, before any request', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-missing-bucket-'));
  const objects = await startObjectStore([]);
  const { endpoint, credentials } = objects.options('nowhere');
  const environment = {
    TENON_S3_BUCKET: 'nowhere',
    TENON_S3_ENDPOINT: endpoint,
    TENON_S3_ACCESS_KEY_ID: credentials.accessKeyId,
    TENON_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const config = loadConfig({ dataDir: folder, port: '0', host: '127.0.0.1', demo: false }, environment);
  const server = await serve(config, log);
  try {
    await until(() => lines.length > 0);
    assert.match(lines.join(''), /NoSuchBucket.*"blob store".*"not ready"/);
  } finally {
    await server.close();
    await objects.stop();
    await rm(folder, { recursive: true });
  }
});
