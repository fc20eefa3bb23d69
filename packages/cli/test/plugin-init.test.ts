import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon as runTenon, type Setting } from './helpers/streams.ts';
import { hasScript, inTerminal } from './helpers/terminal.ts';

let server: InProcessServer;
let folder: Awaited<ReturnType<typeof makeFolder>>;
let extensionPoint: string;

const schema = {
  version: 'v1-draft',
  exports: {
    sum: {
      description: 'Adds a row up.',
      input: { contentType: 'application/json', type: 'array', items: { type: 'number' } },
      output: { contentType: 'text/plain; charset=utf-8', type: 'string', description: 'the total' },
    },
    draw: { output: { contentType: 'application/x-binary', type: 'buffer' } },
  },
  imports: { notify: { input: { contentType: 'text/plain; charset=utf-8', type: 'string' } } },
};

before(async () => {
  server = await startInProcessServer();
  folder = await makeFolder();
  const setting = { stdin: JSON.stringify(schema), environment: { TENON_DATA_DIR: server.dataDir } };
  extensionPoint = (await runTenon(['ext', 'create', 'Sheets', '--schema', '-'], setting)).stdout.trim();
});

after(async () => {
  await server.stop();
  await folder.remove();
});

/** Runs a command for a user without a login, unless another environment is given. */
function tenon(args: readonly string[], setting: Setting = {}) {
  const environment = { TENON_CONFIG_DIR: folder.path, TENON_DATA_DIR: join(folder.path, 'none') };
  return runTenon(args, { environment, workingFolder: folder.path, ...setting });
}

async function filesBelow(name: string): Promise<string[]> {
  const entries = await readdir(join(folder.path, name), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(join(folder.path, name).length + 1)).sort();
}

const read = (...names: string[]) => readFile(join(folder.path, ...names), 'utf8');

describe('tenon plugin init', () => {
  it('begins a sample in AssemblyScript without a server, and says what is next', async () => {
    const { exitCode, stdout, stderr } = await tenon(['plugin', 'init', 'greeter']);
    assert.deepEqual([exitCode, stdout], [0, 'greeter\n']);
    assert.match(
      stderr,
      /^Created the plugin greeter in greeter\/ \(14 files\)\. Next:\n {2}cd greeter\n[\s\S]*tenon plugin push --build\n$/,
    );
    assert.deepEqual(await filesBelow('greeter'), [
      '.gitignore',
      'README.md',
      'asconfig.json',
      'assembly/bindings.ts',
      'assembly/decimal.ts',
      'assembly/exports.ts',
      'assembly/extism.ts',
      'assembly/index.ts',
      'assembly/json-text.ts',
      'assembly/json.ts',
      'assembly/tsconfig.json',
      'package.json',
      'tenon.toml',
      'tests/exports.json',
    ]);
    assert.match(await read('greeter', 'assembly', 'index.ts'), /^export function greet\(input: string\): string \{/m);
    assert.doesNotMatch(await read('greeter', 'README.md'), /\{\{|undefined| $/m);
  });

  it('creates one in C, chosen by flags, and writes JSON', async () => {
    const { json } = await tenon(['plugin', 'init', 'in/c', '--template', 'c', '--name', 'sums', '--json']);
    assert.deepEqual(json(), {
      folder: join(folder.path, 'in', 'c'),
      name: 'sums',
      template: 'c',
      generator: null,
      extensionPoint: null,
      server: null,
      exports: [],
      files: [
        'tenon.toml',
        'README.md',
        '.gitignore',
        'src/decimal.h',
        'src/extism.h',
        'src/json-text.h',
        'src/json.h',
        'src/bindings.h',
        'src/plugin.c',
        'tests/exports.json',
      ],
    });
    assert.match(
      await read('in', 'c', 'tenon.toml'),
      /^\[plugin\]\nname = "sums"\nmodule = "plugin\.wasm"\nbuild = "clang /,
    );
  });

  it("makes a stub for each export of the extension point's schema, and the host's functions", async () => {
    const environment = { TENON_DATA_DIR: server.dataDir };
    for (const template of ['assemblyscript', 'c'] as const) {
      const args = ['plugin', 'init', `sheets-${template}`, '--template', template, '-e', extensionPoint, '--json'];
      const made = (await tenon(args, { environment })).json();
      assert.deepEqual([made.extensionPoint, made.server, made.exports], [extensionPoint, server.url, ['sum', 'draw']]);
    }
    const script = await read('sheets-assemblyscript', 'assembly', 'index.ts');
    assert.ok(
      script.includes(`/**
 * Adds a row up.
 *
 * Input: application/json, list of number
 * Output: text/plain; charset=utf-8: the total
 */
export function sum(input: Array<f64>): string {
  fail("sum() is not written yet.");
  return "";
}`),
      script,
    );
    assert.match(
      await read('sheets-assemblyscript', 'assembly', 'bindings.ts'),
      /@external\("extism:host\/user", "notify"\)/,
    );
    assert.match(await read('sheets-c', 'src', 'plugin.c'), /^struct bytes plugin_draw\(void\) \{$/m);
    assert.match(await read('sheets-c', 'src', 'bindings.h'), /^LIBRARY void host_notify\(struct bytes given\) \{$/m);
    assert.match(await read('sheets-c', 'README.md'), /exports: `sum`, `draw`/);
  });

  it('leaves optional exports out, unless they are named', async () => {
    const environment = { TENON_DATA_DIR: server.dataDir };
    const optional = { 'x-tenon-optional': true };
    const exports = { must: {}, may: optional, might: { ...optional, output: { type: 'string' } } };
    const stdin = JSON.stringify({ version: 'v1-draft', exports });
    const id = (await tenon(['ext', 'create', 'Optional', '--schema', '-'], { environment, stdin })).stdout.trim();
    const init = (folder: string, ...args: string[]) =>
      tenon(['plugin', 'init', folder, '--template', 'rust', '-e', id, ...args], { environment });
    const without = await init('optional-none');
    assert.match(
      without.stderr,
      /^Left out optional exports, which --optional-export includes: may, might\.\nCreated the plugin/,
    );
    assert.doesNotMatch(await read('optional-none', 'src', 'bindings.rs'), /\bmay\b|might/);
    assert.doesNotMatch(await read('optional-none', 'src', 'plugin.rs'), /\bmay\b|might/);
    const one = await init('optional-one', '--optional-export', 'might', '--json');
    assert.deepEqual([one.json().exports, one.stderr], [['must', 'might'], '']);
    assert.match(await read('optional-one', 'src', 'plugin.rs'), /fn might\(/);
    assert.match(await read('optional-one', 'README.md'), /tenon bindings generate rust --optional-export might/);
    const wrong = await init('optional-never', '--optional-export', 'must');
    assert.equal(wrong.exitCode, 2);
    assert.match(wrong.stderr, /"must" is not an optional export of the extension point\. It has: may, might\./);

    const generate = (...args: string[]) => tenon(['bindings', 'generate', ...args, '-e', id], { environment });
    const all = await generate('rust', '-o', join(folder.path, 'optional-one'), '--optional-export', 'may,might');
    assert.equal(all.exitCode, 0, all.stderr);
    assert.doesNotMatch(all.stderr, /Left out/);
    assert.match(await read('optional-one', 'src', 'bindings.rs'), /\bmay\b/);
    assert.match(
      (await generate('rust', '-o', join(folder.path, 'optional-one'))).stderr,
      /^Left out optional exports.*: may, might\.\n/,
    );
    assert.match((await generate('host')).stdout, /\bmight\b/);
    assert.equal((await generate('host', '--optional-export', 'may')).exitCode, 2);
    assert.equal((await tenon(['plugin', 'init', 'optional-never', '--optional-export', 'may'])).exitCode, 2);
    await assert.rejects(readdir(join(folder.path, 'optional-never')), { code: 'ENOENT' });
  });

  it('says which file the stubs are in', async () => {
    const environment = { ...server.quickstart };
    for (const [template, source] of [
      ['assemblyscript', 'assembly/index.ts'],
      ['c', 'src/plugin.c'],
    ] as const) {
      const { stderr } = await tenon(['plugin', 'init', `stub-${template}`, '--template', template], { environment });
      assert.ok(
        stderr.endsWith(`\n  cd stub-${template}\n  write its exports in ${source}\n  tenon plugin push --build\n`),
        stderr,
      );
    }
  });

  it('takes the extension point of the environment', async () => {
    const environment = { ...server.quickstart };
    const made = (await tenon(['plugin', 'init', 'from-environment', '--json'], { environment })).json();
    assert.deepEqual([made.extensionPoint, made.exports], [server.quickstart.TENON_EXTENSION_POINT_ID, ['greet']]);
  });

  it('takes a name, or the only extension point, and otherwise lists those there are', async () => {
    const { TENON_URL = '', TENON_TOKEN = '', TENON_EXTENSION_POINT_ID = '' } = server.quickstart;
    const environment = { TENON_URL, TENON_TOKEN };
    const byName = await tenon(['plugin', 'init', 'by-name', '-e', 'Sheets', '--json'], { environment });
    assert.equal(byName.json().extensionPoint, extensionPoint);
    const several = await tenon(['plugin', 'init', 'undecided'], { environment });
    assert.deepEqual([several.exitCode, several.stdout], [2, '']);
    assert.match(several.stderr, /^error: Which extension point\?\nName it with --extension-point /);
    assert.ok(several.stderr.includes(`  ${extensionPoint}  Sheets\n`), several.stderr);
    assert.ok(several.stderr.includes(`  ${TENON_EXTENSION_POINT_ID}  `), several.stderr);
    const away = ['--server', 'http://127.0.0.1:9', '--token', 'tnn_x'];
    assert.equal((await tenon(['plugin', 'init', 'undecided', '-e', 'Sheets', ...away])).exitCode, 6);
    await assert.rejects(readdir(join(folder.path, 'undecided')), { code: 'ENOENT' });
    const other = (await tenon(['app', 'create', 'Other'], { environment })).stdout.trim();
    const elsewhere = { environment: { ...environment, TENON_APP_ID: other } };
    const sample = (await tenon(['plugin', 'init', 'sample', '--json'], elsewhere)).json();
    assert.deepEqual([sample.extensionPoint, sample.exports], [null, []]);
    const create = ['ext', 'create', 'Only', '--app', other, '--schema', '-'];
    const only = (await tenon(create, { ...elsewhere, stdin: JSON.stringify(schema) })).stdout.trim();
    assert.equal((await tenon(['plugin', 'init', 'only', '--json'], elsewhere)).json().extensionPoint, only);
  });

  it('makes a sample, and says so, where the server does not answer or there is none', async () => {
    const away = await tenon([
      'plugin',
      'init',
      'away',
      '-e',
      extensionPoint,
      '--server',
      'http://127.0.0.1:9',
      '--token',
      'tnn_x',
    ]);
    assert.equal(away.exitCode, 0, away.stderr);
    assert.match(away.stderr, /^warning: No answer from http:\/\/127\.0\.0\.1:9.*the sources are a sample/m);
    const toml = await read('away', 'tenon.toml');
    assert.ok(toml.includes(extensionPoint) && toml.includes('http://127.0.0.1:9'), toml);
    const none = await tenon(['plugin', 'init', 'none', '-e', extensionPoint]);
    assert.match(none.stderr, /^warning: No server is named.*the sources are a sample/m);
  });

  it('begins nothing for an extension point that there is not', async () => {
    const environment = { TENON_DATA_DIR: server.dataDir };
    const unknown = extensionPoint.replace(/.{5}$/, '00000');
    assert.equal((await tenon(['plugin', 'init', 'never', '-e', unknown], { environment })).exitCode, 4);
    assert.equal((await tenon(['plugin', 'init', 'never', '-e', 'ext_1'], { environment })).exitCode, 4);
    assert.equal((await tenon(['plugin', 'init', 'never', '--template', 'cobol'])).exitCode, 2);
    assert.equal((await tenon(['plugin', 'init', 'never', '--name', 'a b'])).exitCode, 2);
    await assert.rejects(readdir(join(folder.path, 'never')), { code: 'ENOENT' });
  });

  it('overwrites nothing, and writes all or nothing', async () => {
    const target = join(folder.path, 'taken');
    await mkdir(target);
    await writeFile(join(target, 'README.md'), 'mine');
    await symlink(join(folder.path, 'not-there'), join(target, 'package.json'));
    const { exitCode, stderr } = await tenon(['plugin', 'init', 'taken']);
    assert.equal(exitCode, 2);
    assert.match(stderr, /there are README\.md, package\.json already\. Nothing was written/);
    assert.deepEqual(
      [await filesBelow('taken'), await read('taken', 'README.md')],
      [['README.md', 'package.json'], 'mine'],
    );

    await mkdir(join(folder.path, 'odd'));
    await writeFile(join(folder.path, 'odd', 'assembly'), 'a file in the place of the folder');
    assert.equal((await tenon(['plugin', 'init', 'odd'])).exitCode, 1);
    assert.deepEqual(await filesBelow('odd'), ['assembly']);
  });

  it('begins beside what is there already', async () => {
    await mkdir(join(folder.path, 'repository'));
    await writeFile(join(folder.path, 'repository', 'LICENSE'), 'mine');
    const setting = { workingFolder: join(folder.path, 'repository') };
    assert.equal((await tenon(['plugin', 'init', '--template', 'c'], setting)).stdout, '.\n');
    assert.match(await read('repository', 'tenon.toml'), /^name = "repository"$/m);
  });
});

describe('tenon plugin init in a real terminal', { skip: !hasScript() }, () => {
  it('asks for what is not said: name, language, extension point', async () => {
    const target = join(folder.path, 'asked');
    const { ended } = inTerminal(['plugin', 'init', target], {
      environment: { TENON_DATA_DIR: server.dataDir },
      replies: [
        [/What is the plugin called\? \[asked\] /, 'no good name\r'],
        [/a letter or digit first\.\r?\n[\s\S]*called\? \[asked\] /, 'sums\r'],
        [/1 {2}assemblyscript[\s\S]*2 {2}c: [\s\S]*A number \[1\] /, 'c\r'],
        [/Which extension point[\s\S]*2 {2}[^\n]*: Sheets[\s\S]*A number \[1\] /, '2\r'],
      ],
    });
    const { exitCode, screen } = await ended;
    assert.equal(exitCode, 0, screen);
    const toml = await read('asked', 'tenon.toml');
    assert.match(toml, /^name = "sums"$/m);
    assert.ok(toml.includes(extensionPoint), toml);
    assert.match(await read('asked', 'src', 'plugin.c'), /^struct bytes plugin_sum\(/m);
  });

  it('asks nothing with --yes', async () => {
    const target = join(folder.path, 'unasked');
    const { exitCode, screen } = await inTerminal(['plugin', 'init', target, '--yes'], {
      environment: { TENON_DATA_DIR: join(folder.path, 'none'), TENON_CONFIG_DIR: folder.path },
    }).ended;
    assert.equal(exitCode, 0, screen);
    assert.doesNotMatch(screen, /\?/);
  });

  it('writes nothing after Ctrl-C', async () => {
    const target = join(folder.path, 'cancelled');
    const { exitCode } = await inTerminal(['plugin', 'init', target], {
      environment: { TENON_DATA_DIR: server.dataDir },
      replies: [[/called\? \[cancelled\] /, '\u0003']],
    }).ended;
    assert.equal(exitCode, 130);
    await assert.rejects(readdir(target), { code: 'ENOENT' });
  });
});
