import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { binary } from './helpers/binary.ts';
import { makeFolder } from './helpers/folder.ts';

/** Programs that count their own allocations, by the wrappers of the linker or by a global allocator. */
const programs = {
  C: {
    needs: ['clang', 'wasm-ld'],
    file: 'allocations.c',
    compile: ['clang', '--target=wasm32-wasi', '-O2', '-Wall', '-Wextra', '-Werror'],
    wrapped: ['malloc', 'calloc', 'realloc', 'aligned_alloc', 'posix_memalign', 'free'],
    // Two functions count together.
    counted: ['step', 'from_malloc'],
  },
  'C++': {
    needs: ['clang++', 'wasm-ld'],
    file: 'allocations.cc',
    compile: ['clang++', '--target=wasm32-wasi', '-O2', '-Wall', '-Wextra', '-Werror', '-fno-exceptions'],
    wrapped: ['_Znwm', '_Znam', '_ZdlPv', '_ZdaPv'],
    counted: ['step(int)'],
  },
  Rust: {
    needs: ['/usr/bin/rustc'],
    file: 'allocations.rs',
    compile: ['/usr/bin/rustc', '--target', 'wasm32-wasi', '-O'],
    wrapped: [],
    counted: ['allocations::step'],
  },
} as const;

type Language = keyof typeof programs;

/** Compilers would have whatever wasm-opt they find take the names away. */
const environment = { ...process.env, PATH: '/usr/bin:/bin' };

function whyNot(language: Language): string | false {
  const needs = [...programs[language].needs, 'go'];
  const absent = needs.filter((program) => spawnSync(program, ['--version'], { env: environment }).error !== undefined);
  if (absent.length === 0) return false;
  assert.ok(!process.env.COMPILERS_REQUIRED, `${absent.join(' and ')} should be installed`);
  return `${absent.join(' and ')} are not installed here`;
}

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...environment, HOME: folder.path },
    cwd: folder.path,
    maxBuffer: 2 ** 28,
  });
  assert.equal(status, 0, `${program}: ${stderr}`);
  return stdout;
}

let folder: Awaited<ReturnType<typeof makeFolder>>;

before(async () => {
  folder = await makeFolder();
});

after(() => folder.remove());

/** A profile in pprof's eyes: the total of a type of values, and the values of the functions themselves. */
function pprofTop(file: string, type: string, unit = 'B') {
  const args = [
    'tool',
    'pprof',
    '-top',
    `-unit=${unit}`,
    '-nodefraction=0',
    '-nodecount=100000',
    `-sample_index=${type}`,
    file,
  ];
  const text = run('go', args);
  const total = /(?:of |accounting for 0, 0% of )(\d+)(?:B|ns)? total/.exec(text)?.[1];
  const rows = text.matchAll(/^ *(\d+)(?:B|ns)? +\S+ +\S+ +\d+(?:B|ns)? +\S+ {2}(.+)$/gm);
  return { total: Number(total), flat: new Map(Array.from(rows, ([, flat, name = '']) => [name, Number(flat)])) };
}

describe('the memory of programs', () => {
  for (const language of Object.keys(programs) as Language[]) {
    it(`in ${language} equals their own counts, also for go tool pprof`, { skip: whyNot(language) }, async () => {
      const { file, compile, wrapped, counted } = programs[language];
      const [compiler = '', ...flags] = compile;
      const wraps = wrapped.map((name) => `-Wl,--wrap=${name}`);
      run(compiler, [...flags, join(import.meta.dirname, 'programs', file), '-o', 'program.wasm', ...wraps]);
      const files = ['--pprof', 'time.pb.gz', '--heap-profile', 'heap.pb.gz', '--json', '-o', 'trace.json'];
      const all = ['--min-duration', '0us', '--max-spans', '10000000'];
      const output = run(process.execPath, [binary, 'trace', 'program.wasm', ...all, ...files]);
      const counts = output.trim().split('\n').at(-1)?.split(' ').map(Number) ?? [];
      const [allocations = 0, bytes = 0, frees = 0, freedBytes = 0, failures = 0, calls = 0] = counts;
      assert.ok(allocations > 1_000 && calls >= 1_000, output);

      const { memory, functions, spans } = JSON.parse(await readFile(join(folder.path, 'trace.json'), 'utf8'));
      assert.deepEqual(
        [memory.allocations, memory.allocatedBytes, memory.frees, memory.freedBytes, memory.failures],
        [allocations, bytes, frees, freedBytes, failures],
      );
      assert.deepEqual([memory.unknownFrees, memory.dropped], [0, { allocations: 0, paths: 0 }]);

      const heapTotal = (type: string) => pprofTop('heap.pb.gz', type).total;
      assert.deepEqual(['alloc_objects', 'alloc_space', 'inuse_objects', 'inuse_space'].map(heapTotal), [
        allocations,
        bytes,
        allocations - frees,
        bytes - freedBytes,
      ]);
      const top = pprofTop('time.pb.gz', 'calls');
      const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);
      assert.equal(
        sumOf(counted.map((name) => top.flat.get(name.replace(/\(.*/, '')) ?? top.flat.get(name) ?? 0)),
        calls,
      );
      assert.equal(top.total, sumOf(functions.map((entry: { calls: number }) => entry.calls)));
      assert.equal(
        pprofTop('time.pb.gz', 'time', 'ns').total,
        sumOf(spans.map((span: { selfTimeNano: number }) => span.selfTimeNano)),
      );
    });
  }
});
