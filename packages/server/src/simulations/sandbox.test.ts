import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { describe, it } from 'node:test';
import { availableProtections, type Protection, sandboxOptions } from './sandbox.ts';

const limits = { memoryBytes: 2 ** 26, timeoutMs: 1000, maxModuleBytes: 2 ** 20 };
const hasLimits = availableProtections().includes('limits');
const started = { dataBytes: undefined };

describe('sandboxOptions()', { skip: !hasLimits }, () => {
  it('refuses a process without limits once another one had them', async () => {
    const confirmed: (readonly Protection[])[] = [];
    const options = sandboxOptions(limits, 1000, (protections) => confirmed.push(protections));
    const child = spawn(process.execPath, ['--eval', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' });
    const { pid } = child;
    assert.ok(pid !== undefined);
    const exited = once(child, 'exit');
    const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await once(gone, 'exit');
    assert.equal(await options.limit(gone.pid as number, started), false, 'the system may refuse limits');
    options.onConfined({ user: false }, false);
    assert.equal(await options.limit(pid, started), true);
    options.onConfined({ user: false }, true);
    await assert.rejects(options.limit(gone.pid as number, started), /has set before/);
    assert.deepEqual(
      confirmed.map((protections) => protections.includes('limits')),
      [false, true],
    );
    child.kill('SIGKILL');
    await exited;
  });
});
