import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const require = createRequire(import.meta.url);
const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest('hex');

/** Work that a package does on its module, in the way its users have it done. Each returns what it computed. */
export const scenarios: Readonly<Record<string, () => Promise<unknown>>> = {
  'C: sql.js': async () => {
    const { Database } = await require('sql.js')();
    const database = new Database();
    database.run('CREATE TABLE t (n INTEGER PRIMARY KEY, word TEXT)');
    for (let n = 0; n < 500; n++) database.run('INSERT INTO t VALUES (?, ?)', [n, `word ${(n * 7919) % 1009}`]);
    const rows = database.exec(
      'SELECT count(*), sum(n), max(word), group_concat(substr(word, 6), "") FROM t WHERE n % 3 = 1',
    );
    return { rows, file: sha256(database.export()) };
  },

  'C: quickjs-emscripten': async () => {
    const { getQuickJS } = await import('quickjs-emscripten');
    const quickjs = await getQuickJS();
    return quickjs.evalCode(`
      const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2);
      const caught = (() => { try { null.x } catch (error) { return String(error) } })();
      const sorted = [...'the quick brown fox'].sort().join('').trim();
      ({ fib: fib(15), caught, sorted, text: JSON.stringify({ a: [1, 2.5, 'é'] }), match: 'a1b22'.match(/\\d+$/)[0] })`);
  },

  'C++: wabt': async () => {
    const wabt = await require('wabt')();
    const text =
      '(module (func $f (param i32) (result i32) (i32.add (local.get 0) (i32.const 1))) (export "f" (func $f)))';
    const module = wabt.parseWat('a.wat', text, {});
    const { buffer } = module.toBinary({ write_debug_names: true });
    const again = wabt.readWasm(buffer, { readDebugNames: true });
    again.applyNames();
    const fault = attempt(() => wabt.parseWat('b.wat', '(module (func (i32.nonsense)))', {}));
    return { bytes: sha256(new Uint8Array(buffer)), text: again.toText({ foldExprs: true }), fault };
  },

  'Rust: @resvg/resvg-wasm': async () => {
    const { initWasm, Resvg } = await import('@resvg/resvg-wasm');
    await initWasm(fs.readFileSync(require.resolve('@resvg/resvg-wasm/index_bg.wasm')));
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40">
      <radialGradient id="g"><stop offset="0" stop-color="#fff"/><stop offset="1" stop-color="#06c"/></radialGradient>
      <circle cx="30" cy="20" r="18" fill="url(#g)" stroke="black" stroke-dasharray="3 2"/></svg>`;
    const fault = attempt(() => new Resvg('<svg'));
    return { png: sha256(new Resvg(svg).render().asPng()), fault };
  },

  'AssemblyScript: @chainsafe/as-sha256': async () => {
    const { digest } = await import('@chainsafe/as-sha256');
    const data = Uint8Array.from({ length: 5_000 }, (_, index) => index % 251);
    const own = Array.from({ length: 100 }, (_, n) => Buffer.from(digest(data.subarray(n))).toString('hex'));
    return { own, areRight: own.every((hash, n) => hash === sha256(data.subarray(n))) };
  },

  'Go: esbuild-wasm': async () => {
    const folder = fs.mkdtempSync(path.join(tmpdir(), 'tenon-esbuild-'));
    try {
      const source = path.join(folder, 'in.ts');
      const target = path.join(folder, 'out.js');
      fs.writeFileSync(
        source,
        'export const add = (first: number, second: number) => { return first + second }\nadd(1, 2)',
      );
      const exitCode = await runGo(['--minify', '--bundle', source, `--outfile=${target}`, '--log-level=silent']);
      return { exitCode, code: fs.readFileSync(target, 'utf8') };
    } finally {
      fs.rmSync(folder, { recursive: true });
    }
  },
};

function attempt(action: () => unknown): string {
  try {
    action();
    return 'nothing was thrown';
  } catch (error) {
    return String(error);
  }
}

interface Go {
  argv: string[];
  env: Record<string, string>;
  exit: (code: number) => void;
  readonly importObject: WebAssembly.Imports;
  readonly run: (instance: WebAssembly.Instance) => Promise<void>;
}

/** Runs esbuild's command line as its own `wasm_exec_node.js` does. */
async function runGo(args: readonly string[]): Promise<number> {
  Object.assign(globalThis, { fs, path });
  require('esbuild-wasm/wasm_exec.js');
  const go = new (globalThis as unknown as { Go: new () => Go }).Go();
  let exitCode = 0;
  go.argv = ['esbuild', ...args];
  go.env = { TMPDIR: tmpdir(), ESBUILD_WORKER_THREADS: '0' };
  go.exit = (code) => {
    exitCode = code;
  };
  const bytes = fs.readFileSync(require.resolve('esbuild-wasm/esbuild.wasm'));
  await go.run(await WebAssembly.instantiate(await WebAssembly.compile(bytes), go.importObject));
  return exitCode;
}
