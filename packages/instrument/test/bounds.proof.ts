import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { InstrumentError, instrument } from '../src/index.ts';
import { type HostileShape, hostileShapes } from './support/hostile-shapes.ts';
import type { Measured } from './support/measure-memory.ts';

const baseSize = 5_000;
/** Sixteen times the size may take six times as long again, for caches and collections: what is quadratic takes sixteen. */
const factor = 16;
const allowedRatio = 96;

describe('instrument() on input that strains it', () => {
  for (const [name, shape] of Object.entries(hostileShapes)) {
    it(`takes time in proportion to ${name}`, (test) => {
      const small = shape(baseSize);
      const large = shape(factor * baseSize);
      assert.ok(WebAssembly.validate(new Uint8Array(large.bytes)), 'the input validates');
      // What is shorter than two milliseconds can't be measured well enough for a ratio.
      const ratio = fastestMs(large) / Math.max(2, fastestMs(small));
      test.diagnostic(`${ratio.toFixed(1)} times the time for ${factor} times the size`);
      assert.ok(ratio < allowedRatio, `${ratio.toFixed(1)} times the time for ${factor} times the size`);
    });
  }

  for (const name of Object.keys(hostileShapes)) {
    it(`keeps to the memory that is stated for ${name}`, async (test) => {
      const script = path.join(import.meta.dirname, 'support/measure-memory.ts');
      const { stdout } = await promisify(execFile)(process.execPath, [script, name, String(factor * baseSize)]);
      const { inputBytes, outputBytes, entries, peakBytes } = JSON.parse(stdout) as Measured;
      // See docs/explanation/proof.md.
      const boundBytes = 4 * (inputBytes + outputBytes) + 100_000_000 + 1_024 * entries;
      test.diagnostic(`${(peakBytes / 1e6).toFixed(0)} MB of ${(boundBytes / 1e6).toFixed(0)} MB`);
      assert.ok(peakBytes < boundBytes, `${peakBytes} bytes, more than ${boundBytes}`);
    });
  }
});

/** Processor time, which other processes don't disturb. */
function fastestMs({ bytes, options }: HostileShape): number {
  const times = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    try {
      instrument(bytes, options);
    } catch (error) {
      assert.ok(error instanceof InstrumentError);
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}
