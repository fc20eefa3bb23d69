import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadConfig } from './config.ts';
import { shareOf } from './share.ts';

const MiB = 2 ** 20;

describe('shareOf()', () => {
  it('divides limits among the workers, and leaves other settings unchanged', () => {
    const config = loadConfig({ workers: '4', moduleWorkers: '8', databaseConnections: '16' }, {});
    const share = shareOf(config);
    const { moduleWorkers, databaseConnections, passwordQueue, responseCacheBytes, contentCacheBytes } = share;
    assert.deepEqual([moduleWorkers, databaseConnections, passwordQueue], [2, 4, 8]);
    assert.deepEqual([responseCacheBytes, contentCacheBytes], [32 * MiB, 32 * MiB]);
    assert.equal(share.maxModuleBytes, config.maxModuleBytes);
    assert.equal(share.changeStreams, config.changeStreams);
  });

  it('counts metrics ports up from the configured one', () => {
    const ports = (metricsPort: string) =>
      [1, 2, 3].map(
        (number) => shareOf(loadConfig({ workers: '3', metricsPort }, { TENON_WORKER: String(number) })).metricsPort,
      );
    assert.deepEqual(ports('9366'), [9366, 9367, 9368]);
    assert.deepEqual(ports('0'), [0, 0, 0]);
  });

  it('applies minimums, up to the configured total', () => {
    const many = { workers: '64', moduleWorkers: '2', databaseConnections: '3', maxModuleBytes: '64MiB' };
    const share = shareOf(loadConfig(many, {}));
    assert.deepEqual([share.moduleWorkers, share.passwordThreads, share.databaseConnections], [1, 1, 2]);
    assert.ok(share.maxBodyMemoryBytes > 64 * MiB, 'the largest module fits');
    const small = shareOf({ ...loadConfig({ ...many, databaseConnections: '1' }, {}), maxBodyMemoryBytes: MiB });
    assert.deepEqual([small.databaseConnections, small.maxBodyMemoryBytes], [1, MiB]);
  });
});
