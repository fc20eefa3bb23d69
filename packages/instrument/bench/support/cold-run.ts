import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const index = new URL('../../src/index.ts', import.meta.url).href;
const cli = path.resolve(import.meta.dirname, '../../../cli/bin/tenon.mjs');

/** Bytes by which a process that instruments the module once grows larger than one that only has it in memory. */
export function measurePeakBytes(bytes: Uint8Array): number {
  return withFile(bytes, (file) => {
    const peakOf = (run: string) => {
      const script = `
        import { existsSync, readFileSync } from 'node:fs';
        import { instrument } from ${JSON.stringify(index)};
        const bytes = readFileSync(${JSON.stringify(file)});
        ${run};
        // Not maxRSS: Linux counts what the process was before it became a Node, which is a copy of this one.
        const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
        const peakKib = /VmHWM:\\s*(\\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS;
        console.log(peakKib * 1024);`;
      return Number(runNode(['--input-type=module', '-e', script]).stdout);
    };
    return peakOf('instrument(bytes)') - peakOf('instrument.length');
  });
}

/** Milliseconds of `tenon instrument`, the check of its result left out, beyond those of a Node that does nothing. */
export function measureColdMs(bytes: Uint8Array): number {
  return withFile(bytes, (file) => {
    const bestOf = (args: readonly string[]) => Math.min(...Array.from({ length: 5 }, () => runNode(args).ms));
    const args = [cli, 'instrument', file, '--no-check', '-o', `${file}.out`];
    return bestOf(args) - bestOf(['-e', '0']);
  });
}

function withFile(bytes: Uint8Array, measure: (file: string) => number): number {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tenon-bench-'));
  try {
    const file = path.join(folder, 'module.wasm');
    fs.writeFileSync(file, bytes);
    return measure(file);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function runNode(args: readonly string[]): { ms: number; stdout: string } {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ').slice(0, 200)} ended with ${status}: ${stderr}`);
  return { ms: performance.now() - start, stdout };
}
