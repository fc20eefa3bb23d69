import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import vm from 'node:vm';
import { createRandom } from '../../../../../test/helpers/random.ts';

/** Runs binaryen's `wasm-opt` in this process, where a call takes milliseconds. Returns its exit code. */
type WasmOpt = (args: readonly string[]) => number;

/**
 * The command line tool that comes with binaryen, as it is but for its last line: `main` is handed over instead of run.
 * It reads and writes the real file system.
 */
async function loadWasmOpt(): Promise<WasmOpt> {
  const require = createRequire(import.meta.url);
  const file = path.join(path.dirname(require.resolve('binaryen')), 'bin/wasm-opt');
  const source = fs.readFileSync(file, 'utf8').replace(/^#!.*\n/, '');
  const runs = /createWasm\(\)\.then\(\(\)=>run\(\)\);?\s*$/;
  if (!runs.test(source))
    throw new Error("wasm-opt does not end as this loader expects: look at the package's new version");
  const body = source.replace(runs, 'createWasm().then(()=>run()).then(()=>ready(callMain));');
  const start = vm.runInThisContext(`(function(Module,require,__filename,__dirname,process,ready){${body}})`);
  const ofTool = createRequire(file);
  // It warns on the real standard error with every other module.
  const quietFs = {
    ...fs,
    writeSync: (fd: number, data: Uint8Array, offset: number, length: number, position: number | null) =>
      fd <= 2 ? length : fs.writeSync(fd, data, offset, length, position),
  };
  const quietRequire = (name: string) => (/^(node:)?fs$/.test(name) ? quietFs : ofTool(name));
  return new Promise((resolve) => {
    start({ noInitialRun: true, noExitRuntime: true }, quietRequire, file, path.dirname(file), process, resolve);
  });
}

/** What V8 does not have, or has with another encoding. */
const lacking = [
  ...['shared-everything', 'stack-switching', 'custom-descriptors', 'strings', 'fp16', 'wide-arithmetic'],
  ...['custom-page-sizes', 'compact-imports', 'relaxed-atomics', 'multibyte', 'acquire-release-atomics'],
].map((feature) => `--disable-${feature}`);

const featureSets = [
  ['-all', ...lacking],
  ['-all', ...lacking],
  ['-all', ...lacking, '--disable-gc'],
  ['-all', ...lacking, '--disable-exception-handling', '--disable-gc'],
  ['-mvp'],
] as const;
const passSets = [[], [], [], [], [], ['-O1'], ['-O3'], ['--vacuum', '--merge-blocks']] as const;

/** After so many modules the tool is started afresh: it was made to run once. */
const modulesPerStart = 500;

/**
 * Makes valid modules that do things, by binaryen, from the bytes of a seed. Undefined where binaryen itself breaks down,
 * which is not what is tested here.
 */
export type ModuleMaker = (seed: number) => Promise<Uint8Array | undefined>;

export function createModuleMaker(folder: string): ModuleMaker {
  let wasmOpt: WasmOpt | undefined;
  let made = 0;
  return async (seed) => {
    if (wasmOpt === undefined || made++ % modulesPerStart === 0) wasmOpt = await loadWasmOpt();
    try {
      return makeModule(wasmOpt, folder, seed);
    } catch {
      // What it leaves behind after a trap or an abort is of no more use.
      wasmOpt = undefined;
      return undefined;
    }
  };
}

/** Both generations of exception handling would occur in one module, which engines refuse: all is made the newer one. */
function makeModule(wasmOpt: WasmOpt, folder: string, seed: number): Uint8Array {
  const random = createRandom(seed);
  const input = path.join(folder, 'in');
  const output = path.join(folder, 'out.wasm');
  const outputLength = 200 + random.below(random.pick([1_000, 4_000, 12_000]));
  fs.writeFileSync(input, createHash('shake256', { outputLength }).update(`seed ${seed}`).digest());
  const names = random.below(3) === 0 ? ['-g'] : [];
  const args = [...random.pick(featureSets), ...random.pick(passSets), '--translate-to-exnref', '--denan', ...names];
  const exitCode = wasmOpt(['-ttf', input, '-o', output, '-q', ...args]);
  if (exitCode !== 0) throw new Error(`wasm-opt ended with ${exitCode} for seed ${seed}: ${args.join(' ')}`);
  return new Uint8Array(fs.readFileSync(output));
}
