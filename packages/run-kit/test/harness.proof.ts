import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { SimulationReport } from '@tenon/protocol';
import { defaultSimulationLimits, runSimulation, type SimulationInputs } from '../src/simulation/index.ts';

const run = promisify(execFile);
const sources = join(import.meta.dirname, 'harness');
const root = join(import.meta.dirname, '../../..');

/** CI, which installs the compilers, sets the variable: there none may be missing. */
const absent = ['clang', 'wasm-ld'].filter((program) => spawnSync(program, ['--version']).error !== undefined);
assert.ok(absent.length === 0 || !process.env.COMPILERS_REQUIRED, `${absent.join(' and ')} should be installed`);
const skip = absent.length > 0 && `${absent.join(' and ')} are not installed here`;

let folder: string;
let greet: Uint8Array;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-harness-'));
  greet = await readFile(join(root, 'packages/server/sample/greet.wasm'));
});

after(() => rm(folder, { recursive: true, force: true }));

async function compileC(name: string): Promise<Uint8Array> {
  const output = join(folder, `${name}.wasm`);
  const flags = ['--target=wasm32', '-std=c11', '-O2', '-Wall', '-Wextra', '-Werror', '-ffreestanding', '-nostdlib'];
  await run('clang', [...flags, '-Wl,--no-entry', '-o', output, join(sources, `${name}.c`)]);
  return readFile(output);
}

/** Compiles with the compiler of the template for plugins. */
async function compileAssemblyScript(name: string): Promise<Uint8Array> {
  await copyFile(join(root, 'packages/cli/templates/assemblyscript/package.json'), join(folder, 'package.json'));
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
  // The sources end in .as, because the workspace's TypeScript would take them for its own.
  await writeFile(join(folder, `${name}.ts`), await readFile(join(sources, `${name}.as`)));
  const options = ['--optimize', '--runtime', 'stub', '--use', `abort=${name}/abort`, '--outFile', 'assembly.wasm'];
  await run(process.execPath, ['node_modules/assemblyscript/bin/asc.js', `${name}.ts`, ...options], { cwd: folder });
  return readFile(join(folder, 'assembly.wasm'));
}

function simulate(plugin: Uint8Array, simulation: Partial<SimulationInputs>): SimulationReport {
  return runSimulation({
    plugin,
    simulation: { name: 'greeting', revision: null, ...simulation },
    schemaJson: null,
    limits: defaultSimulationLimits,
  });
}

const outcomes = ({ assertions }: SimulationReport) =>
  assertions.map(({ group, name, passed }) => `${group ?? ''}/${name}: ${passed}`);
const allPassed = [
  '/greets with the mock input: true',
  'vowels/of a word: true',
  'vowels/of no text: true',
  'time/greets within a minute: true',
];

const languages = [
  { language: 'AssemblyScript', compile: () => compileAssemblyScript('greeting'), skip: false },
  { language: 'C', compile: () => compileC('greeting'), skip },
] as const;

for (const { language, compile, skip } of languages) {
  describe(`a test module in ${language}, without an SDK`, { skip }, () => {
    let testModule: Uint8Array;

    before(async () => {
      testModule = await compile();
    });

    it('passes a plugin', () => {
      const report = simulate(greet, { testModule });
      assert.deepEqual([report.verdict, report.detail], ['passed', null]);
      assert.deepEqual(outcomes(report), allPassed);
      assert.deepEqual(report.calls.map((call) => call.input.text?.slice(0, 8)).slice(0, 3), ['Ada', 'umbrella', '']);
      assert.equal(simulate(greet, { testModule, mockInput: Buffer.from('Ada') }).verdict, 'passed');
    });

    it('fails a plugin, and says where', () => {
      const report = simulate(greet, { testModule, mockInput: Buffer.from('Bo') });
      assert.deepEqual([report.verdict, report.detail], ['failed', '1 of 4 assertions failed']);
      assert.deepEqual(
        outcomes(report),
        allPassed.map((line, index) => (index === 0 ? line.replace('true', 'false') : line)),
      );
      assert.match(report.assertions[0]?.reason ?? '', /Hello, Bo!/);
    });
  });
}

describe('a mock host in C', { skip }, () => {
  it('answers a plugin in C, and keeps its state until the plugin is reset', async () => {
    const [plugin, mockHost, testModule] = await Promise.all(['caller', 'mock-host', 'greeting'].map(compileC));
    assert.ok(plugin && mockHost && testModule);
    const report = simulate(plugin, {
      mockHost,
      fixtures: [
        { export: 'greet', input: 'Ada', expect: { equals: '31' } },
        { export: 'greet', input: 'Grace', expect: { equals: '51' } },
        {
          export: 'greet',
          input: 'Bo',
          expect: { equals: 'x7' },
          hostCalls: [
            { name: 'rate', args: ['Bo'], returns: 'x' },
            { name: 'calls', args: [], returns: 7 },
          ],
        },
      ],
    });
    assert.deepEqual(outcomes(report), [
      'greet 1/equals: true',
      'greet 2/equals: true',
      'greet 3/equals: true',
      'greet 3/hostCalls: true',
    ]);
    const missing = simulate(plugin, { mockHost, testModule });
    assert.equal(
      missing.detail,
      '"test" failed: the call of "count_vowels" failed: the plugin exports no function "count_vowels"',
    );
    assert.equal(missing.calls[0]?.output?.text, '31');
    assert.match(
      simulate(plugin, { testModule }).detail ?? '',
      /imports extism:host\/user\.rate, but the simulation has no/,
    );
  });
});
