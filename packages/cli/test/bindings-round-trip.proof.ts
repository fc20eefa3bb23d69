import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createRandom } from '../../../test/helpers/random.ts';
import { readPluginInterface } from '../src/template/plugin-interface.ts';
import { renderTemplate, type TemplateName, templates } from '../src/template/template.ts';
import { type Call, type Host, inExtism, inGo, inQuickJs, type Result } from './helpers/bindings/hosts.ts';
import { canonical, everything, schema } from './helpers/bindings/schema.ts';

const run = promisify(execFile);

interface Language {
  readonly name: TemplateName;
  readonly needs: readonly string[];
  /** Builds the plugin; without it, the template's own command does. */
  readonly build?: (folder: string) => Promise<unknown>;
  readonly host: Host;
  /** Replaces a stub's body; `viaHost` stands for the calls of the host's functions. */
  readonly stub: RegExp;
  readonly bodies: Readonly<Record<'echo' | 'nan' | 'tick' | 'viaHost', string>>;
  readonly finish?: (source: string) => string;
  /** Whether mistakes are described in the words and paths that the other languages use. */
  readonly hasOwnWords?: boolean;
}

/** Debian's Rust has the standard library for WebAssembly; it is preferred to another in the path. */
const systemPath = { ...process.env, PATH: `/usr/bin${delimiter}${process.env.PATH}` };

const languages: readonly Language[] = [
  {
    name: 'assemblyscript',
    needs: [],
    host: inExtism(),
    stub: /fail\("(\w+)\(\) is not written yet\."\);(?:\s+return .*)?/g,
    bodies: {
      echo: 'return input;',
      nan: 'return NaN;',
      tick: 'return;',
      viaHost:
        'note("hi"); if (pick() != Color.delete_ || blob(new Uint8Array(3)).length != 3) fail("wrong"); return reflect(input);',
    },
    finish: (source) => source.replace('import { Box', 'import { blob, note, pick, reflect, Box'),
  },
  {
    name: 'c',
    needs: ['clang', 'wasm-ld'],
    host: inExtism(),
    stub: /fail\("(\w+)\(\) is not written yet\."\);(?:\s+return .*)?/g,
    bodies: {
      echo: 'return given;',
      nan: 'return __builtin_nan("");',
      tick: 'return;',
      viaHost:
        'host_note(text("hi")); if (host_pick() != COLOR_DELETE || host_blob((struct bytes){take(3), 3}).length != 3) fail("wrong"); return host_reflect(given);',
    },
  },
  {
    name: 'cpp',
    needs: ['clang++', 'wasm-ld'],
    host: inExtism(),
    stub: /extism::fail\("(\w+)\(\) is not written yet\."\);(?:\s+return .*)?/g,
    bodies: {
      echo: 'return input;',
      nan: 'return __builtin_nan("");',
      tick: 'return;',
      viaHost:
        'host::note("hi"); if (host::pick() != Color::delete_ || host::blob(Bytes(3, 0)).size() != 3) extism::fail("wrong"); return host::reflect(input);',
    },
    finish: (source) => source.replaceAll('&)', '&input)'),
  },
  {
    name: 'rust',
    needs: ['/usr/bin/rustc', '/usr/bin/cargo'],
    build: (folder) => run('cargo', ['build', '--release', '--offline'], { cwd: folder, env: systemPath }),
    host: inExtism(templates.rust.module),
    stub: /Err\("(\w+)\(\) is not written yet\."\.to_string\(\)\)/g,
    bodies: {
      echo: 'Ok(input)',
      nan: 'Ok(f64::NAN)',
      tick: 'Ok(())',
      viaHost:
        'note("hi")?; if pick()? != Color::Delete || blob(&[0; 3])?.len() != 3 { return Err("wrong".into()) } reflect(&input)',
    },
    finish: (source) => source.replaceAll('(_input', '(input'),
  },
  {
    name: 'go',
    needs: ['go'],
    build: async (folder) => {
      // Go before 1.24 has no exports in WebAssembly: that part is only type-checked.
      const env = { ...process.env, GOTOOLCHAIN: 'local' };
      await run('go', ['vet', '.'], { cwd: folder, env });
      await run('go', ['vet', '-tags', 'tinygo', '.'], { cwd: folder, env });
    },
    host: inGo,
    stub: /(?:var output .*\s+return output, |return )errors\.New\("(\w+)\(\) is not written yet\."\)/g,
    bodies: {
      echo: 'return input, nil',
      nan: 'return math.NaN(), nil',
      tick: 'return nil',
      viaHost: `if err := HostNote("hi"); err != nil { return input, err }
	if color, _ := HostPick(); color != ColorDelete { return input, errors.New("wrong") }
	if data, _ := HostBlob(make([]byte, 3)); len(data) != 3 { return input, errors.New("wrong") }
	return HostReflect(input)`,
    },
    finish: (source) => source.replace('"errors"', '"errors"\n\t"math"'),
    hasOwnWords: true,
  },
  {
    name: 'typescript',
    needs: [],
    build: async (folder) => {
      const json = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
      delete json.devDependencies.esbuild; // its installation runs a script; the repository has the same in WebAssembly
      await writeFile(join(folder, 'package.json'), JSON.stringify(json));
      await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
      await run('npm', ['run', 'check'], { cwd: folder });
      const bundle = ['src/exports.ts', '--bundle', '--format=cjs', '--target=es2020', '--outfile=dist/plugin.js'];
      const program = join(import.meta.dirname, '../../../node_modules/esbuild-wasm/bin/esbuild');
      await run(process.execPath, [program, ...bundle], { cwd: folder });
    },
    host: inQuickJs,
    stub: /throw new Error\('(\w+)\(\) is not written yet\.'\);/g,
    bodies: {
      echo: 'return input;',
      nan: 'return NaN;',
      tick: 'return;',
      viaHost:
        "note('hi'); if (pick() !== 'delete' || blob(new Uint8Array(3)).length !== 3) throw new Error('wrong'); return reflect(input);",
    },
    finish: (source) => `import { blob, note, pick, reflect } from './bindings';\n${source}`,
  },
];

/** Why a language can't be built here. CI, which installs the compilers, sets the variable: there none may be missing. */
function missing(programs: readonly string[]): string | false {
  const absent = programs.filter((program) => spawnSync(program, ['--help']).error !== undefined);
  if (absent.length === 0) return false;
  assert.ok(!process.env.COMPILERS_REQUIRED, `${absent.join(' and ')} should be installed`);
  return `${absent.join(' and ')} are not installed here`;
}

async function makePlugin(language: Language, folder: string): Promise<void> {
  const plugin = readPluginInterface(schema);
  const plan = {
    template: language.name,
    name: 'trip',
    extensionPoint: undefined,
    server: undefined,
    plugin,
    optionalExports: [],
  };
  const files = await renderTemplate(plan);
  const { source } = templates[language.name];
  const body = (_: string, name: string) => language.bodies[name as 'tick'] ?? language.bodies.echo;
  const written = (files.get(source) as string).replace(language.stub, body);
  files.set(source, language.finish?.(written) ?? written);
  for (const [name, text] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const command = /^build = "(.*)"$/m.exec(files.get('tenon.toml') ?? '')?.[1] ?? '';
  if (language.build !== undefined) await language.build(folder);
  else await run('sh', ['-c', command], { cwd: folder });
}

const megabyte = Buffer.alloc(1 << 20, 'abc\xff', 'latin1');
const echoed: readonly string[] = [
  everything('', '', false),
  everything('Grüße 👋', 'AP8=', true),
  everything('x👋é\\u0000'.repeat(1000), megabyte.toString('base64'), false),
];
const small = everything('', '', false);

/** Calls that fail, and what the message says. */
const refused: readonly (readonly [name: string, input: string, message: RegExp])[] = [
  ['nan', '', /NaN/i],
  ['echoEnum', 'purple', /red.*purple/s],
  ['echoNumber', '"x"', /expected a number, found a string/],
  ['echoNumber', '1e999', /1e999|Infinity/],
  ['echoNumber', '01', /invalid JSON/],
  ['echoNumber', '[1', /invalid JSON|found a list/],
  ['echoNumber', '', /invalid JSON/],
  ['echoNumber', '['.repeat(100_000), /deep/],
  ['echoList', '[1,2.5]', /input\[1\].*integer/],
  ['echoList', '[9223372036854775808]', /input\[0\].*out of range/],
  ['echoList', '{}', /expected a list, found an object/],
  ['echo', '{}', /input\.string: is missing/],
  [
    'echo',
    small.replace('"value":4', '"value":null'),
    /input\.tree\.children\[1\]\.byName\.ü\.value: expected a number, found null/,
  ],
  ['echo', small.replace('"uint8":255', '"uint8":256'), /input\.uint8.*out of range/],
  ['echo', everything('', '*', false), /input\.bytes: expected base64/],
];

function output(result: Result | undefined): Buffer {
  assert.ok(result !== undefined && 'output' in result, JSON.stringify(result)?.slice(0, 500));
  return result.output;
}

function numbers(): number[] {
  const random = createRandom(67);
  const view = new DataView(new ArrayBuffer(8));
  const any = () => {
    view.setUint32(0, Math.floor(random.next() * 2 ** 32));
    view.setUint32(4, Math.floor(random.next() * 2 ** 32));
    return view.getFloat64(0);
  };
  const short = (at: number) => Math.round(random.next() * 1e6) / 10 ** (at % 8);
  return Array.from({ length: 2000 }, (_, at) => (at % 3 === 0 ? short(at) : any())).filter(Number.isFinite);
}

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-bindings-'));
});
after(async () => {
  await rm(folder, { recursive: true, force: true });
});

for (const language of languages) {
  describe(`generated bindings for ${language.name}`, { skip: missing(language.needs) }, () => {
    const call = (calls: readonly Call[]) => language.host(join(folder, language.name), calls);
    before(() => makePlugin(language, join(folder, language.name)));

    it('keep every type of the schema language, in both directions and through a host function', async () => {
      const names = ['echo', 'viaHost'];
      const results = await call(names.flatMap((name) => echoed.map((input) => ({ name, input }))));
      for (const [at, result] of results.entries()) {
        assert.deepEqual(canonical(output(result).toString()), canonical(echoed[at % echoed.length] as string));
      }
    });

    it('keep text and bytes, empty, of 4-byte characters, and of a megabyte', async () => {
      const texts = ['', '👋', 'é'.repeat(1 << 19)].map((input) => ({ name: 'echoText', input }));
      const bytes = [new Uint8Array(), megabyte].map((input) => ({ name: 'echoBytes', input }));
      const calls = [...texts, ...bytes];
      for (const [at, result] of (await call(calls)).entries()) {
        assert.ok(output(result).equals(Buffer.from((calls[at] as Call).input)));
      }
      const others = await call([
        { name: 'echoEnum', input: 'grün' },
        { name: 'echoEnum', input: '??/"};int x;//' },
        { name: 'echoNumber', input: 'null' },
        { name: 'echoList', input: ' [ 9007199254740993 , null, -1 ] ' },
        { name: 'tick', input: '' },
      ]);
      assert.deepEqual(
        others.map((result) => output(result).toString()),
        ['"grün"', String.raw`"??/\"};int x;//"`, 'null', '[9007199254740993,null,-1]', ''],
      );
    });

    it('keep numbers exactly', async () => {
      const all = numbers();
      const results = await call(all.map((value) => ({ name: 'echoNumber', input: JSON.stringify(value) })));
      assert.deepEqual(
        results.map((result) => Number(output(result).toString())),
        all,
      );
    });

    it('refuse what does not fit with the path to it, and go on after it', async () => {
      const results = await call([
        ...refused.map(([name, input]) => ({ name, input })),
        { name: 'echoText', input: 'on' },
      ]);
      for (const [at, [name, input, message]] of refused.entries()) {
        const result = results[at];
        assert.ok(result !== undefined && 'error' in result, `${name} ${input.slice(0, 50)}`);
        if (language.hasOwnWords !== true) assert.match(result.error, message);
      }
      assert.equal(output(results.at(-1)).toString(), 'on');
    });
  });
}
