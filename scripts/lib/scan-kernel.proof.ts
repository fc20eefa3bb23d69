import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { assembleKernel, kernelPath } from './scan-kernel.mjs';

describe('scan-kernel-bytes.ts', () => {
  it('is made of the kernel as it stands: node scripts/write-scan-kernel.mjs', async () => {
    assert.equal(await readFile(kernelPath, 'utf8'), assembleKernel());
  });
});
