import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import wabt from 'wabt';
import { exercise } from './engines/exercise.mjs';
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

const require = createRequire(import.meta.url);

const runModule = `(module
  (memory (export "memory") 1)
  (func $unseen)
  (func $fibonacci (export "fibonacci") (param i32) (result i32)
    (call $unseen)
    (if (i32.lt_u (local.get 0) (i32.const 2)) (then
      (drop (memory.grow (i32.const 1)))
      (return (local.get 0))))
    (i32.add
      (call $fibonacci (i32.sub (local.get 0) (i32.const 1)))
      (call $fibonacci (i32.sub (local.get 0) (i32.const 2))))))`;

let folder: string;
/** Where the built package's entry is. */
let entry: string;
let modules: Readonly<Record<string, string>>;
/** What every engine must say: what the sources say in this process. */
let expected: Awaited<ReturnType<typeof exercise>>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-built-'));
  buildPackages(folder, 'instrument');
  entry = join(folder, 'instrument', 'index.js');
  modules = { run: join(folder, 'run.wasm'), sqlite: require.resolve('sql.js/dist/sql-wasm.wasm') };
  const { parseWat } = await wabt();
  const parsed = parseWat('run.wat', runModule);
  await writeFile(join(folder, 'run.wasm'), parsed.toBinary({ write_debug_names: true }).buffer);
  parsed.destroy();
  expected = await exercise(import.meta.resolve('@tenon/instrument'), await readModules());
});

after(() => rm(folder, { recursive: true, force: true }));

async function readModules(): Promise<Record<string, Uint8Array>> {
  const read = Object.entries(modules).map(async ([name, path]) => [name, new Uint8Array(await readFile(path))]);
  return Object.fromEntries(await Promise.all(read));
}

describe('npm run build', () => {
  it('makes a package that imports nothing but its own files', async () => {
    const files = (await readdir(dirname(entry), { recursive: true })).filter((file) => /\.(js|d\.ts)$/.test(file));
    assert.ok(files.includes('index.js') && files.includes('index.d.ts'));
    assert.ok(!files.some((file) => file.includes('.test.')));
    for (const file of files) {
      const text = await readFile(join(dirname(entry), file), 'utf8');
      for (const [, specifier = ''] of text.matchAll(/(?:\bfrom|\bimport\()\s*['"]([^'"]+)['"]/g)) {
        assert.match(specifier, /^(?:\.|\.\.(?:\/\.\.)*)\/[\w/-]+\.js$/, `${file} imports ${specifier}`);
        assert.ok(files.includes(join(dirname(file), specifier)), `${file} imports ${specifier}`);
      }
    }
  });

  it('makes declarations that a program for browsers compiles with', async () => {
    const program = join(folder, 'program');
    await mkdir(join(program, 'node_modules', '@tenon'), { recursive: true });
    await cp(dirname(entry), join(program, 'node_modules', '@tenon', 'instrument'), { recursive: true });
    const source = `import { instrument, type InstrumentReport, listFunctions } from '@tenon/instrument';
      const { bytes, report } = instrument(new Uint8Array(8), { allowed: ['a*'], patterns: true });
      export const size: number = bytes.length;
      export const traced: InstrumentReport['tracedFunctions'] = report.tracedFunctions;
      export const names: string[] = listFunctions(bytes).functions.map(({ name }) => name);
      // @ts-expect-error: no such option
      instrument(bytes, { allow: [] });`;
    await writeFile(join(program, 'program.ts'), source);
    await writeFile(join(program, 'package.json'), '{"type":"module"}');
    assertCompiles(program, 'program.ts');
  });
});

describe('@tenon/instrument, as built', () => {
  it('does in this Node.js what its sources do', async () => {
    assert.deepEqual(await exercise(new URL(`file://${entry}`).href, await readModules()), expected);
    assert.equal(expected.result, 2);
    assert.equal(expected.events.filter((event) => event.startsWith('enter')).length, 5);
    assert.equal(expected.events.filter((event) => event.startsWith('grow')).length, 3);
    assert.match(expected.refusal, /^invalid_module .+ \(at offset 0x[0-9a-f]+\)$/);
    assert.deepEqual(expected.names, ['unseen', 'fibonacci']);
    assert.ok(instrument(new Uint8Array(await readFile(modules.run ?? ''))).report.tracedFunctions > 0);
  });

  for (const engine of otherEngines()) {
    it(`does the same in ${engine.name}`, async (test) => {
      if (engine.binary === undefined) {
        test.skip(whyNotHere(engine));
        return;
      }
      const files = Object.entries(modules).map(([name, path]) => `${name}=${path}`);
      const found = await runInEngine(engine, 'exercise-files.mjs', ['exercise.mjs', entry, ...files], folder);
      assert.deepEqual(found, expected);
    });
  }
});

describe('@tenon/instrument, as built, in Chromium', () => {
  let pages: EnginePages;

  before(async () => {
    pages = await openEnginePages(dirname(entry), modules);
  });

  after(() => pages?.close());

  for (const place of ['page', 'worker'] as const) {
    it(`does the same in a ${place}`, async (test) => {
      if (typeof pages.browser === 'string') {
        test.skip(pages.browser);
        return;
      }
      assert.deepEqual(await runInChromium(pages, place, 'exercise.mjs', Object.keys(modules)), expected);
    });
  }
});
