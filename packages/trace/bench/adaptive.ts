/**
 * What tracing adds to programs of four npm packages, as multiples of the CPU time without it: hooks that do nothing, every call
 * timed, adaptive tracing, and adaptive tracing without leaves, as `tenon trace` does. Each runs in a process of its own; they take
 * turns, and the medians count. Installs the packages into a folder that is removed afterwards.
 *
 *     npm run bench -- adaptive [rounds]
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { type InstrumentOptions, instrument } from '@tenon/instrument';
import { interceptEngine } from '../../../test/helpers/real-programs/engine.ts';
import { start, type TraceContext } from '../src/index.ts';

const packages = ['hash-wasm@4.13.0', '@swc/wasm@1.16.18', '@rdkit/rdkit@2026.9.1', '@viz-js/viz@3.31.0'];

const molecules = ['CC(=O)Oc1ccccc1C(=O)O', 'CN1C=NC2=C1C(=O)N(C(=O)N2C)C', 'OC[C@H]1OC(O)[C@H](O)[C@@H](O)[C@@H]1O'];
const edges = Array.from({ length: 60 }, (_, node) => `n${node} -> n${(node * 7 + 3) % 60};`).join('');

type Load = (name: string) => unknown;

/** What preparing returns does the work once. */
const programs: Readonly<Record<string, (load: Load) => Promise<() => unknown>>> = {
  async argon2(load) {
    const { argon2id } = load('hash-wasm') as { argon2id: (options: object) => Promise<string> };
    const password = { password: 'password', salt: 'a salt of 16 bytes', hashLength: 32, outputType: 'hex' };
    return () => argon2id({ ...password, iterations: 1, parallelism: 1, memorySize: 8_192 });
  },
  async swc(load) {
    const { transformSync } = load('@swc/wasm') as { transformSync: (source: string, options: object) => object };
    const source = readFileSync(import.meta.filename, 'utf8');
    return () => transformSync(source, { jsc: { parser: { syntax: 'typescript' }, target: 'es2017' }, minify: true });
  },
  async rdkit(load) {
    interface Molecule {
      get_smiles(): string;
      get_descriptors(): string;
      delete(): void;
    }
    const rdkit = await (load('@rdkit/rdkit') as () => Promise<{ get_mol: (smiles: string) => Molecule }>)();
    return () => {
      for (const smiles of molecules) {
        const molecule = rdkit.get_mol(smiles);
        molecule.get_smiles();
        molecule.get_descriptors();
        molecule.delete();
      }
    };
  },
  async viz(load) {
    interface Viz {
      renderString(dot: string, options: object): string;
    }
    const viz = await (load('@viz-js/viz') as { instance: () => Promise<Viz> }).instance();
    return () => viz.renderString(`digraph {${edges}}`, { format: 'svg' });
  },
};

const ways: Readonly<Record<string, InstrumentOptions>> = {
  bare: {},
  'empty hooks': {},
  'every call timed': {},
  adaptive: { adaptive: true },
  'adaptive, without leaves': { adaptive: true, skipLeaves: true },
};

const emptyHooks = { 'dylibso:observe/instrument': { enter() {}, exit() {}, 'memory-grow'() {} } };

/** Runs a program in one way as often as the parent process asks for, and sends the milliseconds of each. */
async function serve(folder: string, program: string, way: string): Promise<void> {
  const contexts = new Map<WebAssembly.Module, TraceContext>();
  const contextOf = (module: WebAssembly.Module): TraceContext => {
    const context = contexts.get(module) ?? start(module, { exporters: [{ export() {} }] });
    contexts.set(module, context);
    return context;
  };
  const isEmpty = way === 'empty hooks';
  if (way !== 'bare') {
    interceptEngine({
      transform: (bytes) => instrument(bytes, ways[way]).bytes,
      imports: (module) => (isEmpty ? emptyHooks : contextOf(module).imports),
      bind: (instance, module) => (isEmpty ? instance : contextOf(module).bind(instance)),
    });
  }
  const run = await programs[program]?.(createRequire(join(folder, 'index.js')));
  for (let warmUp = 0; warmUp < 6; warmUp++) await run?.();
  process.on('message', async () => {
    const before = process.threadCpuUsage();
    for (let turn = 0; turn < 3; turn++) await run?.();
    const { user, system } = process.threadCpuUsage(before);
    process.send?.((user + system) / 3_000);
  });
  process.send?.('ready');
}

async function measure(folder: string, program: string, rounds: number): Promise<void> {
  const children = Object.keys(ways).map((way) => ({
    way,
    times: [] as number[],
    child: fork(import.meta.filename, ['--serve', folder, program, way], { execArgv: ['--no-warnings'] }),
  }));
  for (const { child } of children) await once(child, 'message');
  for (let round = 0; round < rounds; round++) {
    for (const { child, times } of children) {
      child.send('run');
      const [ms] = await once(child, 'message');
      times.push(ms);
    }
  }
  const medians = children.map(({ times }) => times.toSorted((first, second) => first - second)[rounds >> 1] as number);
  children.forEach(({ way, child }, place) => {
    child.kill();
    const ms = medians[place] as number;
    const ratio = (ms / (medians[0] as number)).toFixed(2);
    console.log(`${program.padEnd(8)} ${way.padEnd(26)} ${ms.toFixed(2).padStart(9)} ms ${ratio.padStart(7)} x`);
  });
}

const [first = '9', folder = '', program = '', way = ''] = process.argv.slice(2);
if (first === '--serve') await serve(folder, program, way);
else {
  const installed = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  process.once('exit', () => rmSync(installed, { recursive: true, force: true }));
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', installed, ...packages]);
  for (const name of Object.keys(programs)) await measure(installed, name, Number(first));
}
