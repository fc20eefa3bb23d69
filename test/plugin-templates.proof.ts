import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type RunningServer, startServer, tenon, withoutTenon } from './helpers/server.ts';

const run = promisify(execFile);
const { createPlugin } = createRequire(import.meta.url)('@extism/extism') as typeof import('@extism/extism');

/** Names that are words of both languages, or those of what the templates bring; and the host's functions. */
const schema = {
  version: 'v1-draft',
  exports: {
    sum: {
      description: 'Adds up.',
      input: { contentType: 'application/json', type: 'array', items: { type: 'number' } },
      output: { contentType: 'text/plain; charset=utf-8', type: 'string' },
    },
    draw: { output: { contentType: 'application/x-binary', type: 'buffer' } },
    delete: {},
    int: {},
    i32: {},
    fail: {},
    input: {},
    store: {},
    a$b: {},
    a_b: {},
    __proto: {},
  },
  imports: {
    notify: {
      input: { contentType: 'text/plain; charset=utf-8', type: 'string' },
      output: { contentType: 'text/plain; charset=utf-8', type: 'string' },
    },
    draw: { input: { contentType: 'application/x-binary', type: 'buffer' } },
    default: { output: { contentType: 'application/json', type: 'number' } },
  },
};

interface Language {
  readonly template: string;
  /** Why it can't be built here; nothing when it can. */
  readonly skip: string | false;
  readonly source: string;
  /** What to write instead of the source, to call the host from `sum`. */
  readonly callingHost: (source: string) => string;
}

const languages: readonly Language[] = [
  {
    template: 'assemblyscript',
    skip: false, // npm and the package registry are what brought these tests
    source: 'assembly/index.ts',
    callingHost: (source) =>
      `import { notify } from "./bindings";\n${source.replace(
        /fail\("sum\(\) is not written yet\."\);\s+return "";/,
        'return "host: " + notify(input.map<string>((item) => item.toString()).join(" "));',
      )}`,
  },
  {
    template: 'c',
    skip: missing(['clang', 'wasm-ld']),
    source: 'src/plugin.c',
    callingHost: (source) =>
      source.replace(
        /\(void\)given;\s+fail\("sum\(\) is not written yet\."\);\s+return .*;/,
        'return join(text("host: "), host_notify(text(given.length == 2 ? "1.0 2.5" : "?")));',
      ),
  },
];

/** CI, which installs the compilers, sets the variable: there none may be missing. */
function missing(programs: readonly string[]): string | false {
  const absent = programs.filter((program) => spawnSync(program, ['--version']).error !== undefined);
  if (absent.length === 0) return false;
  assert.ok(!process.env.COMPILERS_REQUIRED, `${absent.join(' and ')} should be installed`);
  return `${absent.join(' and ')} are not installed here`;
}

let server: RunningServer;
let folder: string; // not below the server's: plugins that are begun there would be for its extension point

before(async () => {
  server = await startServer();
  folder = await mkdtemp(join(tmpdir(), 'tenon-templates-'));
});

after(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a command as the demo's owner, who holds its guest. */
async function command(args: readonly string[], cwd = folder): Promise<string> {
  const { TENON_URL, TENON_TOKEN, TENON_APP_ID } = server.quickstart;
  return runCli(args, cwd, { TENON_URL, TENON_TOKEN, TENON_APP_ID });
}

async function runCli(args: readonly string[], cwd: string, variables: NodeJS.ProcessEnv): Promise<string> {
  const env = { ...withoutTenon(process.env), TENON_CONFIG_DIR: folder, ...variables };
  const { stdout } = await run(process.execPath, [tenon, ...args], { cwd, env });
  return stdout.trim();
}

async function limit(extensionPoint: string, limits: object): Promise<void> {
  const { TENON_URL, TENON_TOKEN } = server.quickstart;
  const response = await fetch(`${TENON_URL}/api/v1/extension-points/${extensionPoint}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${TENON_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ limits }),
  });
  assert.equal(response.status, 200, await response.text());
}

/** Loads what is bound under the demo's guest, as a host does. */
async function load(extensionPoint: string, name: string, functions = {}) {
  const list = await command(['bindings', '-e', extensionPoint, server.quickstart.TENON_GUEST_KEY ?? '', '--json']);
  const file = join(folder, `${name}.fetched.wasm`);
  await command(['fetch', JSON.parse(list)[name].contentAddress, '-o', file]);
  return createPlugin({ wasm: [{ data: await readFile(file) }] }, { functions: { 'extism:host/user': functions } });
}

for (const { template, skip, source, callingHost } of languages) {
  describe(`the template for ${template}`, { skip }, () => {
    it('builds and publishes with one command, and greets in Extism', async () => {
      const extensionPoint = server.quickstart.TENON_EXTENSION_POINT_ID ?? '';
      await runCli(['plugin', 'init', template, '--template', template], folder, {}); // without a server: a sample
      const toml = join(folder, template, 'tenon.toml');
      const settings = (await readFile(toml, 'utf8')).replace(
        'module =',
        `extension-point = "${extensionPoint}"\nmodule =`,
      );
      await writeFile(toml, settings);
      await command(['plugin', 'push', '--build'], join(folder, template));
      const plugin = await load(extensionPoint, template);
      try {
        const long = 'Ω'.repeat(100_000); // more than the memory that a module begins with
        for (const name of ['Ada', '', 'Grüße, 世界 👋', '1234567', '12345678', long]) {
          assert.equal((await plugin.call('greet', name))?.text(), `Hello, ${name}!`);
        }
      } finally {
        await plugin.close();
      }
    });

    it("fits an extension point that allows nothing new, has every export, and calls the host's functions", async () => {
      const name = `${template}-sheets`;
      const file = join(folder, `${name}.json`);
      await writeFile(file, JSON.stringify(schema));
      const extensionPoint = await command(['extension-point', 'create', name, '--schema', file]);
      await limit(extensionPoint, { proposals: [], allowWasi: false });
      await command(['plugin', 'init', name, '--template', template, '-e', extensionPoint]);
      await command(['plugin', 'push', '--build'], join(folder, name)); // which looks for every export
      const stubs = await load(extensionPoint, name);
      for (const exported of Object.keys(schema.exports)) {
        await assert.rejects(
          stubs.call(exported, '[1]'),
          new RegExp(`${RegExp.escape(exported)}\\(\\) is not written yet`),
        );
      }
      await stubs.close();

      const path = join(folder, name, source);
      await writeFile(path, callingHost(await readFile(path, 'utf8')));
      await command(['plugin', 'push', '--build'], join(folder, name));
      const heard: string[] = [];
      const plugin = await load(extensionPoint, name, {
        notify(call: { read(block: bigint): { text(): string }; store(text: string): bigint }, block: bigint) {
          heard.push(call.read(block).text());
          return call.store('välkommen');
        },
      });
      assert.equal((await plugin.call('sum', '[1, 2.5]'))?.text(), 'host: välkommen');
      assert.deepEqual(heard, ['1.0 2.5']);
      await plugin.close();
    });
  });
}
