import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import process from 'node:process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('../../test/helpers/blocked-worker.ts', import.meta.url));

describe('closeUnanswered()', () => {
  it('closes a connection that a worker was being handed when it was killed', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [script], {
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    assert.equal(stdout.trim(), 'closed');
  });
});
