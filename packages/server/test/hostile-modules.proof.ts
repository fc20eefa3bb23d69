import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createModuleWorkers } from '../src/instrument/module-workers.ts';
import { manyTypes } from './helpers/slow-module.ts';

describe('createModuleWorkers()', () => {
  it('checks more types than V8 allows in one process, and no task fails because of others', async () => {
    const workers = createModuleWorkers({
      moduleWorkers: 1,
      moduleQueue: 8,
      moduleWorkerMemoryMiB: 1024,
      moduleTimeoutMs: 300_000,
      moduleTimeoutPerMiBMs: 0,
      trustedRoots: [],
    });
    try {
      for (let salt = 0; salt < 6; salt++) {
        const checked = await workers.check(manyTypes(400_000, salt), undefined);
        assert.ok(checked.interfaceJson !== null);
      }
    } finally {
      await workers.close();
    }
  });
});
