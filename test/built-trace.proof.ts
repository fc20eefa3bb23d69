import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import { exercise } from './engines/exercise-trace.mjs';
import { assertCompiles } from './helpers/assert-compiles.ts';
import {
  buildPackages,
  type EnginePages,
  openEnginePages,
  otherEngines,
  runInChromium,
  runInEngine,
  whyNotHere,
} from './helpers/engines.ts';
import { wat } from './helpers/wat.ts';

const text = `(module
  (import "host" "again" (func $again (param i32)))
  (memory (export "memory") 1)
  (func $fibonacci (export "fibonacci") (param i32) (result i32)
    (if (i32.lt_u (local.get 0) (i32.const 2)) (then
      (drop (memory.grow (local.get 0)))
      (return (local.get 0))))
    (i32.add
      (call $fibonacci (i32.sub (local.get 0) (i32.const 1)))
      (call $fibonacci (i32.sub (local.get 0) (i32.const 2)))))
  (func $fail (export "fail") (param i32)
    (if (i32.eqz (local.get 0)) (then (unreachable)))
    (call $fail (i32.sub (local.get 0) (i32.const 1))))
  (func $reenter (export "reenter") (param i32)
    (call $again (local.get 0))
    (drop (call $fibonacci (i32.const 1)))))`;

let folder: string;
/** Where the built package's entry is. */
let entry: string;
let traced: string;
/** What every engine must say: what the sources say in this process. */
let expected: Awaited<ReturnType<typeof exercise>>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-built-'));
  buildPackages(folder, 'trace');
  entry = join(folder, 'trace', 'index.js');
  traced = join(folder, 'traced.wasm');
  const { bytes } = instrument(wat(text));
  await writeFile(traced, bytes);
  expected = await exercise(import.meta.resolve('@tenon/trace'), { traced: bytes });
});

after(() => rm(folder, { recursive: true, force: true }));

describe('npm run build', () => {
  it('makes a package of which the entry imports nothing but its own files', async () => {
    const files = await readdir(dirname(entry), { recursive: true });
    assert.ok(!files.some((file) => file.includes('.test.')));
    const seen = new Set<string>();
    const visit = async (file: string): Promise<void> => {
      if (seen.has(file)) return;
      seen.add(file);
      assert.ok(files.includes(file), `there is no ${file}`);
      const source = await readFile(join(dirname(entry), file), 'utf8');
      for (const [, specifier = ''] of source.matchAll(/(?:\bfrom|\bimport\()\s*['"]([^'"]+)['"]/g)) {
        assert.match(specifier, /^\.{1,2}\/[\w/-]+\.js$/, `${file} imports ${specifier}`);
        await visit(normalize(join(dirname(file), specifier)));
      }
    };
    await visit('index.js');
    await visit('index.d.ts').catch(() => assert.ok(files.includes('index.d.ts')));
    assert.ok(seen.size > 10, `${seen.size} files`);
  });

  it('makes declarations that a program for browsers compiles with', async () => {
    const program = join(folder, 'program');
    await mkdir(join(program, 'node_modules', '@tenon'), { recursive: true });
    await cp(dirname(entry), join(program, 'node_modules', '@tenon', 'trace'), { recursive: true });
    const source = `import { parseConfiguration, type Span, start, type TraceStatistics } from '@tenon/trace';
      const module = await WebAssembly.compile(new Uint8Array(8));
      const names: string[] = [];
      const context = start(module, {
        ...parseConfiguration({ span_filter: { min_duration_microseconds: 5 } }),
        exporters: [{ export: (spans: readonly Span[]) => void names.push(...spans.map(({ name }) => name)) }],
      });
      export const instance: WebAssembly.Instance = await context.instantiate({ env: {} });
      export const statistics: TraceStatistics = context.statistics();
      // @ts-expect-error: no such option
      start(module, { minDurationMicroseconds: 5 });`;
    await writeFile(join(program, 'program.ts'), source);
    await writeFile(join(program, 'package.json'), '{"type":"module"}');
    assertCompiles(program, 'program.ts');
  });
});

describe('@tenon/trace, as built', () => {
  it('does in this Node.js what its sources do', async () => {
    const found = await exercise(new URL(`file://${entry}`).href, { traced: new Uint8Array(await readFile(traced)) });
    assert.deepEqual(found, expected);
    assert.deepEqual(expected.known.results, [5, 'trap', null]);
    assert.deepEqual(expected.own, { count: 177, isNow: true, ids: 177, areOrdered: true });
    assert.deepEqual(expected.refusal, ['invalid_option', '/span_filter']);
  });

  for (const engine of otherEngines()) {
    it(`does the same in ${engine.name}`, async (test) => {
      if (engine.binary === undefined) {
        test.skip(whyNotHere(engine));
        return;
      }
      const args = ['exercise-trace.mjs', entry, `traced=${traced}`];
      assert.deepEqual(await runInEngine(engine, 'exercise-files.mjs', args, folder), expected);
    });
  }
});

describe('@tenon/trace, as built, in Chromium', () => {
  let pages: EnginePages;

  before(async () => {
    pages = await openEnginePages(dirname(entry), { traced });
  });

  after(() => pages?.close());

  for (const place of ['page', 'worker'] as const) {
    it(`does the same in a ${place}`, async (test) => {
      if (typeof pages.browser === 'string') {
        test.skip(pages.browser);
        return;
      }
      assert.deepEqual(await runInChromium(pages, place, 'exercise-trace.mjs', ['traced']), expected);
    });
  }
});
