import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createBodyMemory } from './body-memory.ts';

const MiB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** How many bytes array buffers have, after a garbage collection. */
function memoryInUse(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

describe('createBodyMemory()', () => {
  for (const announced of [undefined, 1, 300_000, 10 * MiB]) {
    it(`concatenates chunks, with ${announced ?? 'nothing'} announced`, () => {
      const memory = createBodyMemory(announced);
      const chunks = [1, 60_000, 100_000, 7, 139_992].map((length, at) => Buffer.alloc(length, at + 1));
      for (const chunk of chunks) memory.add(chunk);
      const bytes = memory.bytes();
      assert.ok(bytes.equals(Buffer.concat(chunks)));
      assert.equal(bytes.buffer.byteLength, 300_000);
    });
  }

  it('is empty without chunks', () => {
    assert.equal(createBodyMemory(100).bytes().length, 0);
  });

  it('allocates at most twice the received bytes, whatever length is announced', () => {
    const before = memoryInUse();
    const memories = Array.from({ length: 100 }, () => createBodyMemory(64 * MiB));
    for (const memory of memories) memory.add(Buffer.alloc(1));
    assert.ok(process.memoryUsage().arrayBuffers - before < 100 * MiB);
    for (const memory of memories) memory.free();
  });

  it('frees the memory immediately', () => {
    const before = memoryInUse();
    const memory = createBodyMemory(64 * MiB);
    const chunk = Buffer.alloc(MiB);
    for (let at = 0; at < 64; at++) memory.add(chunk);
    const bytes = memory.bytes();
    assert.ok(process.memoryUsage().arrayBuffers - before >= 64 * MiB);
    memory.free();
    assert.equal(bytes.length, 0);
    assert.ok(process.memoryUsage().arrayBuffers - before < 8 * MiB);
  });
});
