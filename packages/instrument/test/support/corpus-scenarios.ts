import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { WASI } from 'node:wasi';
import { corpusPath, corpusRequire } from './corpus.ts';

const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest('hex');
/** Packages that know `import` only. */
const load = (file: string) => import(pathToFileURL(corpusPath(file)).href);

/** Work that packages of the corpus do on their modules. Each returns what it computed. */
export const corpusScenarios: Readonly<Record<string, () => Promise<unknown>>> = {
  'Rust: brotli-wasm': async () => {
    const brotli = corpusRequire('brotli-wasm');
    const text = new TextEncoder().encode('to be or not to be, that is the question. '.repeat(50));
    const compressed = brotli.compress(text, { quality: 9 });
    return { compressed: sha256(compressed), isSame: Buffer.compare(brotli.decompress(compressed), text) === 0 };
  },

  'Rust: source-map': async () => {
    const { SourceMapConsumer } = corpusRequire('source-map');
    const map = { version: 3, sources: ['a.js', 'b.js'], names: ['x'], mappings: 'AAAA;CCCCA,GAAM,SAAC;AAEA,CDAA' };
    return SourceMapConsumer.with(map, null, (consumer: { eachMapping: (visit: (entry: object) => void) => void }) => {
      const entries: string[] = [];
      consumer.eachMapping((entry) => entries.push(JSON.stringify(entry)));
      return entries;
    });
  },

  'Rust: @rollup/wasm-node': async () => {
    const { rollup } = corpusRequire('@rollup/wasm-node');
    const code = 'export const used = (x) => x?.y ?? 2; const unused = () => 3; console.log(used({ y: 1 }));';
    const virtual = { name: 'virtual', resolveId: (id: string) => id, load: () => code };
    const bundle = await rollup({ input: 'main', plugins: [virtual] });
    const { output } = await bundle.generate({ format: 'cjs' });
    return output.map((chunk: { code: string }) => chunk.code);
  },

  'TinyGo: @wasm-fmt/gofmt': async () => {
    const { format } = await load('@wasm-fmt/gofmt/gofmt_node.js');
    return format('package main\nimport "fmt"\nfunc main(){for i:=0;i<3;i++{fmt.Println("Hello",i)}\n}\n');
  },

  'C++: @wasm-fmt/clang-format': async () => {
    const { format } = await load('@wasm-fmt/clang-format/clang-format-node.js');
    return format('int main(){std::vector<int>v{1,2,3};for(auto x:v){f(x);}return 0;}', 'main.cc', 'LLVM');
  },

  'C: wasmoon (Lua)': async () => {
    const { LuaFactory } = corpusRequire('wasmoon');
    const engine = await new LuaFactory().createEngine();
    const fault = await engine.doString('return select(2, pcall(function() error("oh") end))');
    const sum = await engine.doString('local s = 0; for i = 1, 100 do s = s + i * i end; return s');
    return {
      fault: String(fault),
      sum,
      text: await engine.doString('return ("%5.2f|%s"):format(3.14159, ("ab"):rep(3))'),
    };
  },

  'Go: @cdktf/hcl2json': async () => {
    const { parse } = corpusRequire('@cdktf/hcl2json');
    return parse('main.tf', 'resource "a" "b" {\n  count = 3\n  tags = { x = upper(var.z) }\n}\n');
  },

  'C: mupdf': async () => {
    const mupdf = await load('mupdf/dist/mupdf.js');
    const html = new TextEncoder().encode('<html><body><h1>Hello</h1><p>wörld</p></body></html>');
    const document = mupdf.Document.openDocument(html, 'text/html');
    const page = document.loadPage(0);
    const fault = (() => {
      try {
        return mupdf.Document.openDocument(Uint8Array.of(1, 2, 3), 'application/pdf').countPages();
      } catch (error) {
        return String(error);
      }
    })();
    return { pages: document.countPages(), text: page.toStructuredText().asJSON(), fault };
  },

  'C++: canvaskit-wasm': async () => {
    const init = corpusRequire('canvaskit-wasm');
    const kit = await init({ locateFile: (file: string) => corpusPath(`canvaskit-wasm/bin/${file}`) });
    const surface = kit.MakeSurface(64, 64);
    const paint = new kit.Paint();
    paint.setColor(kit.Color(10, 120, 200, 1));
    surface.getCanvas().drawCircle(32, 32, 20, paint);
    surface.flush();
    return sha256(surface.makeImageSnapshot().encodeToBytes());
  },

  'C++: harfbuzzjs': async () => {
    const hb = await load('harfbuzzjs/dist/index.mjs');
    const buffer = new hb.Buffer();
    buffer.addText('abc שלום');
    buffer.guessSegmentProperties();
    hb.shape(new hb.Font(new hb.Face(new hb.Blob(new ArrayBuffer(0)))), buffer);
    return { infos: buffer.getGlyphInfos(), positions: buffer.getGlyphPositions() };
  },

  'Zig: ghostty-web': async () => {
    const bytes = fs.readFileSync(corpusPath('ghostty-web/ghostty-vt.wasm'));
    const { instance } = (await WebAssembly.instantiate(bytes, {
      env: { log() {} },
    })) as unknown as WebAssembly.WebAssemblyInstantiatedSource;
    const call = (name: string, ...args: unknown[]) =>
      (instance.exports[`ghostty_${name}`] as (...args: unknown[]) => number)(...args);
    const memory = () => new Uint8Array((instance.exports.memory as WebAssembly.Memory).buffer);
    const text = new TextEncoder().encode('\u001b[31mred\u001b[0m\r\nline 2\u001b[5;5Hthere');
    const at = call('wasm_alloc_u8_array', text.length);
    memory().set(text, at);
    const terminal = call('terminal_new', 80, 24);
    call('terminal_write', terminal, at, text.length);
    call('render_state_update', terminal);
    const [column, row] = [call('render_state_get_cursor_x', terminal), call('render_state_get_cursor_y', terminal)];
    return { column, row, isSafe: call('paste_is_safe', at, text.length) };
  },

  'Haskell: pandoc-wasm': () => runWasi('pandoc-wasm/src/pandoc.wasm', ['pandoc', '--version']),
};

/** Runs a WASI command to its end, and returns its exit code and what it wrote. */
async function runWasi(file: string, args: string[]): Promise<unknown> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'tenon-wasi-'));
  const output = path.join(folder, 'output');
  const descriptor = fs.openSync(output, 'w');
  try {
    const wasi = new WASI({
      version: 'preview1',
      args,
      env: {},
      stdout: descriptor,
      stderr: descriptor,
      returnOnExit: true,
    });
    const module = await WebAssembly.compile(fs.readFileSync(corpusPath(file)));
    const imports = { ...missingImports(module), ...(wasi.getImportObject() as WebAssembly.Imports) };
    const exitCode = wasi.start(await WebAssembly.instantiate(module, imports));
    return { exitCode, output: fs.readFileSync(output, 'utf8') };
  } finally {
    fs.closeSync(descriptor);
    fs.rmSync(folder, { recursive: true });
  }
}

/** What a module imports from elsewhere than WASI, and doesn't call here. */
function missingImports(module: WebAssembly.Module): WebAssembly.Imports {
  const imports: Record<string, Record<string, () => never>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    if (from === 'wasi_snapshot_preview1' || from === 'dylibso:observe/instrument') continue;
    imports[from] ??= {};
    imports[from][name] = () => {
      throw new Error(`${from}.${name} is not there`);
    };
  }
  return imports;
}
