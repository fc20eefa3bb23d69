import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { describe, it } from 'node:test';
import {
  capConnections,
  connectionsForLimit,
  fileDescriptorLimit,
  isOutOfFileDescriptors,
} from './file-descriptors.ts';

describe('file descriptors', () => {
  const noLimit = process.platform === 'win32' && 'no limit of file descriptors on Windows';

  it('are limited as ulimit says', { skip: noLimit }, () => {
    assert.ok((fileDescriptorLimit() ?? 0) > 64);
    const script = `import { fileDescriptorLimit } from ${JSON.stringify(new URL('./file-descriptors.ts', import.meta.url).href)};
      console.log(fileDescriptorLimit())`;
    const command = 'ulimit -n 200 && exec "$0" --input-type=module --eval "$1"';
    const output = execFileSync('sh', ['-c', command, process.execPath, script], { encoding: 'utf8' });
    assert.equal(output.trim(), '200');
  });

  it('are partly reserved for files', () => {
    assert.equal(connectionsForLimit(1024), 720);
    assert.equal(connectionsForLimit(10), 1);
    const warned: unknown[] = [];
    const log = { warn: (...line: unknown[]) => void warned.push(line[0]) } as never;
    assert.equal(capConnections({ maxConnections: 10_000 }, log, 1024).maxConnections, 720);
    assert.deepEqual(warned, [{ descriptorLimit: 1024, configured: 10_000, maxConnections: 720 }]);
    assert.equal(capConnections({ maxConnections: 10_000 }, log, 65_536).maxConnections, 10_000);
    assert.equal(capConnections({ maxConnections: 10_000 }, log, undefined).maxConnections, 10_000);
    assert.equal(warned.length, 1);
  });

  it('that have run out are recognised in the causes of an error', () => {
    const system = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    assert.ok(isOutOfFileDescriptors(new Error('The worker process could not be run', { cause: system })));
    assert.ok(!isOutOfFileDescriptors(Object.assign(new Error('gone'), { code: 'ENOENT' })));
    const own = new Error('a circle');
    own.cause = own;
    assert.ok(!isOutOfFileDescriptors(own));
  });
});
