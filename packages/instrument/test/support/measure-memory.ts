// Run as a process of its own: how far the memory of a process rises while it instruments one hostile module.
import process from 'node:process';
import { describeModule, instrument } from '../../src/index.ts';
import { hostileShapes } from './hostile-shapes.ts';

export interface Measured {
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** Imports and exports: of each an object is kept. */
  readonly entries: number;
  readonly peakBytes: number;
}

const [name = '', size = '0'] = process.argv.slice(2);
const shape = hostileShapes[name];
if (shape === undefined) throw new Error(`There is no shape ${name}`);
const { bytes, options } = shape(Number(size));
const before = process.memoryUsage.rss();
const output = instrument(bytes, options).bytes;
const peakBytes = process.resourceUsage().maxRSS * 1_024 - before;
const { imports, exports } = describeModule(bytes);
const measured: Measured = {
  inputBytes: bytes.length,
  outputBytes: output.length,
  entries: imports.length + exports.length,
  peakBytes,
};
process.stdout.write(JSON.stringify(measured));
