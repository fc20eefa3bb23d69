import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

const require = createRequire(import.meta.url);

/** Real modules that the tests have anyway: C, C++, Rust and Go. */
const installed = [
  'sql.js/dist/sql-wasm.wasm',
  '@jitl/quickjs-wasmfile-debug-sync/wasm',
  '@resvg/resvg-wasm/index_bg.wasm',
  'esbuild-wasm/esbuild.wasm',
];

/** A module under measurement. */
export interface BenchModule {
  readonly name: string;
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** More modules, which `npm run proof` installs. */
const corpus = path.resolve(import.meta.dirname, '../../corpus/node_modules');
const minCorpusBytes = 1_000_000;

/**
 * The modules in the given files and folders, `*.wasm` and `*.wasm.gz`; without any, those that are installed, and the large ones of
 * the corpus.
 */
export function* loadModules(given: readonly string[]): Generator<BenchModule> {
  const own = given.length > 0 ? given.flatMap(findModules) : installed.map((name) => require.resolve(name));
  const more = given.length === 0 && fs.existsSync(corpus) ? findModules(corpus) : [];
  for (const file of [...own, ...more]) {
    const content = fs.readFileSync(file);
    const bytes = new Uint8Array(file.endsWith('.gz') ? gunzipSync(content) : content);
    if (more.includes(file) && bytes.length < minCorpusBytes) continue;
    yield { name: path.basename(file).replace(/\.wasm(\.gz)?$/, ''), file, bytes };
  }
}

function findModules(given: string): string[] {
  if (!fs.statSync(given).isDirectory()) return [given];
  return fs
    .readdirSync(given, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.wasm(\.gz)?$/.test(name))
    .map((name) => path.join(given, name))
    .filter((file) => fs.statSync(file).isFile())
    .sort();
}
