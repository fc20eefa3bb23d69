import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon as runTenon, type Setting } from './helpers/streams.ts';

const sample = fileURLToPath(new URL('../../server/sample/greet.wasm', import.meta.url));

const fitting =
  'version: v1-draft\nexports:\n  greet:\n    input: {type: string, contentType: text/plain; charset=utf-8}\n';
const breaking = 'version: v1-draft\nexports: [greet, count_vowel, render]\n';
const faulty = 'exports:\n  greet:\n    input: {typ: string}\n    output: {type: strnig}\n';

let server: InProcessServer;
let folder: Awaited<ReturnType<typeof makeFolder>>;
let extensionPoint: string;

before(async () => {
  server = await startInProcessServer();
  folder = await makeFolder();
  const quickstart = await readFile(join(server.dataDir, 'quickstart.env'), 'utf8');
  extensionPoint = /^TENON_EXTENSION_POINT_ID=(\S+)$/m.exec(quickstart)?.[1] ?? '';
  await writeFile(join(folder.path, 'fitting.yaml'), fitting);
  await writeFile(join(folder.path, 'breaking.yaml'), breaking);
  await writeFile(join(folder.path, 'faulty.yaml'), faulty);
});

after(async () => {
  await server.stop();
  await folder.remove();
});

const file = (name: string) => join(folder.path, name);

/** Runs a command with the demo owner's token. */
const online = (args: readonly string[], setting: Setting = {}) =>
  runTenon(['extension-point', ...args], { environment: { TENON_DATA_DIR: server.dataDir }, ...setting });

/** Runs a command that knows of no server. */
const offline = (args: readonly string[], setting: Setting = {}) =>
  runTenon(['extension-point', ...args], { environment: {}, workingFolder: folder.path, ...setting });

const generateOnline = (args: readonly string[], setting: Setting = {}) =>
  runTenon(['bindings', 'generate', 'host', ...args], { environment: { TENON_DATA_DIR: server.dataDir }, ...setting });
const generateOffline = (args: readonly string[], setting: Setting = {}) =>
  runTenon(['bindings', 'generate', 'host', ...args], { environment: {}, workingFolder: folder.path, ...setting });

describe('tenon bindings generate host', () => {
  it('writes the types of an extension point, of a file and of stdin', async () => {
    const ofServer = await generateOnline(['-e', extensionPoint]);
    assert.equal(ofServer.exitCode, 0, ofServer.stderr);
    assert.match(ofServer.stdout, /^\/\/ Made by `tenon bindings generate host` from ext_\w+ \("Greetings"\)/);
    assert.match(ofServer.stdout, / {2}greet: \(input: string\) => Promise<string>;/);
    const ofFile = await generateOffline(['--schema', file('fitting.yaml')]);
    assert.equal(ofFile.exitCode, 0, ofFile.stderr);
    assert.match(ofFile.stdout, / {2}greet: \(input: string\) => Promise<void>;/);
    const ofStdin = await generateOffline(['--schema', '-'], { stdin: fitting });
    const withoutFirstLine = (text: string) => text.slice(text.indexOf('\n'));
    assert.equal(withoutFirstLine(ofStdin.stdout), withoutFirstLine(ofFile.stdout));
  });

  it('writes to a file, and says so', async () => {
    const output = file('types.ts');
    const { stdout, stderr } = await generateOffline(['--schema', file('fitting.yaml'), '-o', output]);
    assert.equal(stdout, '');
    assert.match(stderr, /^Wrote .*types\.ts\.\n$/);
    assert.equal(await readFile(output, 'utf8'), (await generateOffline(['--schema', file('fitting.yaml')])).stdout);
    const asJson = await generateOffline(['--schema', file('fitting.yaml'), '--json']);
    assert.equal(JSON.parse(asJson.stdout).files['plugins.ts'], await readFile(output, 'utf8'));
  });

  it('refuses a schema that is none with every fault and its place', async () => {
    const { exitCode, stdout, stderr } = await generateOffline(['--schema', file('faulty.yaml')]);
    assert.equal(exitCode, 7);
    assert.equal(stdout, '');
    assert.match(stderr, /faulty\.yaml is not a valid schema:\n {2}line 3, column 13: .*"type"\?\n {2}line 4, /);
  });

  it('warns of what is ignored, here and on the server', async () => {
    const schema = 'exports:\n  greet:\n    inputs: {}\n';
    const warning = /^warning: line 3, column 5: an export has no "inputs", so it is ignored; did you mean "input"\?$/m;
    assert.match((await generateOffline(['--schema', '-'], { stdin: schema })).stderr, warning);
    const created = await online(['create', 'Warned', '--schema', '-'], { stdin: schema });
    assert.match(created.stderr, warning);
    const id = created.stdout.trim();
    assert.match((await online(['update', '-e', id, '--schema', '-'], { stdin: schema })).stderr, warning);
    assert.match((await online(['try-schema', '-e', id, '--schema', '-'], { stdin: schema })).stderr, warning);
    await writeFile(file('optional.yaml'), 'exports:\n  greet:\n  render:\n    x-tenon-optional: true\n');
    const checked = await offline(['check', sample, '--schema', file('optional.yaml')]);
    assert.equal(checked.exitCode, 0, checked.stderr);
    assert.match(checked.stderr, /^Optional exports that it leaves out: render\.$/m);
  });

  it('says when there is no such file or extension point', async () => {
    assert.match((await generateOffline(['--schema', file('none.yaml')])).stderr, /there is no such file/);
    assert.equal((await generateOnline(['-e', extensionPoint.replace(/.{4}$/, '0000')])).exitCode, 4);
  });
});

describe('tenon extension-point check', () => {
  it('tells that a module fits a schema, without a server, and what it is like', async () => {
    const { exitCode, stdout, stderr } = await offline(['check', sample, '--schema', file('fitting.yaml')]);
    assert.equal(exitCode, 0, stderr);
    assert.match(stderr, /greet\.wasm fits the schema .*fitting\.yaml\.\n$/);
    assert.match(
      stdout,
      /^exports +greet, count_vowels\nimports +extism:host\/env\nmemory +1 page at the start\nproposals/,
    );
  });

  it('tells all that does not fit, and ends with 7', async () => {
    const { exitCode, stdout, stderr } = await offline(['check', sample, '--schema', file('breaking.yaml')]);
    assert.equal(exitCode, 7);
    assert.equal(
      stdout,
      'The module does not export the function "count_vowel"; it exports "count_vowels".\n' +
        'The module does not export the function "render".\n',
    );
    assert.match(stderr, /error: .*greet\.wasm does not fit the schema .*breaking\.yaml: 2 faults\.\n$/);
  });

  it('says the same as JSON', async () => {
    const args = ['check', '-', '--schema', file('breaking.yaml'), '--json'];
    const { exitCode, stdout, stderr } = await offline(args, { stdin: await readFile(sample) });
    assert.equal(exitCode, 7);
    const { fits, mismatches, interface: found } = JSON.parse(stdout);
    assert.deepEqual([fits, mismatches.length, mismatches[1].pointer], [false, 2, '/exports/render']);
    assert.deepEqual([found.initialMemoryPages, found.sizeBytes], [1, (await readFile(sample)).length]);
    assert.equal(JSON.parse(stderr).error.code, 'interface_mismatch');
  });

  it('asks the server for the schema and the limits of an extension point', async () => {
    const fits = await online(['check', sample]);
    assert.equal(fits.exitCode, 0, fits.stderr);
    assert.match(fits.stderr, /fits the extension point "Greetings"/);
    const created = await online(['create', 'Strict', '--schema', file('breaking.yaml')]);
    const { exitCode } = await online(['check', sample, '-e', created.stdout.trim()]);
    assert.equal(exitCode, 7);
    assert.match((await offline(['check', sample])).stderr, /TENON_URL|Which extension point/);
  });

  it('refuses what is no module, and two readers of stdin', async () => {
    const noModule = await offline(['check', file('fitting.yaml'), '--schema', file('fitting.yaml')]);
    assert.deepEqual([noModule.exitCode, /begins with 00 61 73 6d/.test(noModule.stderr)], [7, true]);
    const invalid = file('invalid.wasm');
    // A function of type () -> i32 whose body is empty: only validation sees that.
    await writeFile(invalid, Buffer.from('0061736d010000000105016000017f030201000a040102000b', 'hex'));
    const notValid = await offline(['check', invalid, '--schema', file('fitting.yaml')]);
    assert.deepEqual([notValid.exitCode, /does not accept the module/.test(notValid.stderr)], [7, true]);
    const both = await offline(['check', '-', '--schema', '-'], { stdin: 'x' });
    assert.deepEqual([both.exitCode, /can not both come from stdin/.test(both.stderr)], [2, true]);
  });
});

describe('tenon extension-point try-schema', () => {
  it('tells which bound plugins a schema would break, and ends with 5', async () => {
    const { exitCode, stdout, stderr } = await online([
      'try-schema',
      '-e',
      extensionPoint,
      '--schema',
      file('breaking.yaml'),
    ]);
    assert.equal(exitCode, 5, stderr);
    const lines = stdout.trimEnd().split('\n');
    assert.match(lines[0] ?? '', /^PLUGIN +VERSION +BY +BOUND +WHY$/);
    assert.match(
      lines[1] ?? '',
      /^greet +1 +Demo owner +1 guest +The module does not export the function "count_vowel"/,
    );
    assert.match(lines[2] ?? '', /^ +The module does not export the function "render"\.$/);
    assert.equal(lines.length, 3);
    assert.match(stderr, /error: The schema would break 1 of 1 bound plugin\. Nothing was changed\./);
    const asJson = await online(['try-schema', '-e', extensionPoint, '--schema', '-', '--json'], { stdin: breaking });
    assert.equal(JSON.parse(asJson.stdout).objects[0].isBrokenAlready, false);
  });

  it('tells that it breaks none', async () => {
    const { exitCode, stdout, stderr } = await online([
      'try-schema',
      '-e',
      extensionPoint,
      '--schema',
      file('fitting.yaml'),
    ]);
    assert.deepEqual([exitCode, stdout], [0, '']);
    assert.match(stderr, /^The schema breaks none of 1 bound plugin\.\n$/);
  });

  it('shows each fault of a schema that is none', async () => {
    const { exitCode, stderr } = await online(['try-schema', '-e', extensionPoint, '--schema', file('faulty.yaml')]);
    assert.equal(exitCode, 7);
    assert.match(stderr, /line 3, column 13/);
    assert.match(stderr, /\/schema\/exports\/greet\/output\/type {2}line 4, column 20/);
  });

  it('demands a schema', async () => {
    assert.equal((await online(['try-schema', '-e', extensionPoint])).exitCode, 2);
  });
});

describe('tenon plugin push', () => {
  it('shows each way in which a module does not fit', async () => {
    const created = await online(['create', 'Stricter', '--schema', file('breaking.yaml')]);
    const { exitCode, stderr } = await runTenon(['plugin', 'push', sample, '-e', created.stdout.trim()], {
      environment: { TENON_DATA_DIR: server.dataDir },
    });
    assert.equal(exitCode, 7);
    assert.match(stderr, /"count_vowel"; it exports "count_vowels"/);
    assert.match(stderr, /"render"/);
  });
});
