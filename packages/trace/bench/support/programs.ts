import fs from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const require = createRequire(import.meta.url);
const root = path.resolve(import.meta.dirname, '../../../..');

/** Real programs: what preparing one hands back does its work once, and is called again and again. */
export const programs: Readonly<Record<string, () => Promise<() => unknown>>> = {
  async 'quickjs running a script'() {
    const { getQuickJS } = await import('quickjs-emscripten');
    const quickjs = await getQuickJS();
    const script = `
      const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2);
      const words = Array.from({ length: 2000 }, (_, n) => 'word' + (n * 7919) % 1009);
      const counts = new Map();
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
      const sorted = words.toSorted();
      JSON.stringify([fib(22), counts.size, sorted[1000], sorted.join().replace(/word(\\d)/g, '$1').length])`;
    return () => quickjs.evalCode(script);
  },

  async 'sqlite running queries'() {
    const { Database } = await require('sql.js')();
    const database = new Database();
    database.run('CREATE TABLE words (n INTEGER PRIMARY KEY, word TEXT, length INTEGER)');
    const insert = database.prepare('INSERT INTO words VALUES (?, ?, ?)');
    for (let n = 0; n < 20_000; n++) insert.run([n, `word ${(n * 7919) % 1009}`, n % 17]);
    return () => {
      const groups = database.exec('SELECT length, count(*), max(word) FROM words GROUP BY length ORDER BY 3');
      const pairs = database.exec(
        'SELECT count(*) FROM words a JOIN words b ON b.n = a.n * 2 + 1 WHERE a.word < b.word AND a.word LIKE "%1%"',
      );
      database.run('BEGIN');
      for (let n = 0; n < 200; n++) database.run('UPDATE words SET word = word || "!" WHERE n = ?', [n]);
      database.run('ROLLBACK');
      return [groups, pairs];
    };
  },

  async 'esbuild bundling'() {
    Object.assign(globalThis, { fs, path });
    require('esbuild-wasm/wasm_exec.js');
    const module = await WebAssembly.compile(fs.readFileSync(require.resolve('esbuild-wasm/esbuild.wasm')));
    const folder = fs.mkdtempSync(path.join(tmpdir(), 'tenon-bench-'));
    process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
    const target = path.join(folder, 'out.js');
    const source = path.join(root, 'packages/instrument/src/index.ts');
    return async () => {
      await runGo(module, ['--bundle', '--minify', source, `--outfile=${target}`, '--log-level=silent']);
      return fs.statSync(target).size;
    };
  },
};

interface Go {
  argv: string[];
  env: Record<string, string>;
  exit: (code: number) => void;
  readonly importObject: WebAssembly.Imports;
  readonly run: (instance: WebAssembly.Instance) => Promise<void>;
}

/** Runs esbuild's command line as its own `wasm_exec_node.js` does. */
async function runGo(module: WebAssembly.Module, args: readonly string[]): Promise<void> {
  const go = new (globalThis as unknown as { Go: new () => Go }).Go();
  go.argv = ['esbuild', ...args];
  go.env = { TMPDIR: tmpdir(), ESBUILD_WORKER_THREADS: '0' };
  go.exit = (code) => {
    if (code !== 0) throw new Error(`esbuild ended with ${code}`);
  };
  await go.run(await WebAssembly.instantiate(module, go.importObject));
}
