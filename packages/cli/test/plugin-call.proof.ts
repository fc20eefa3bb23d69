import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { interruptedError } from '../src/errors.ts';
import { createPluginWorld, moduleOf, type PluginWorld } from './helpers/plugin-world.ts';
import { numbers } from './helpers/trace-modules.ts';
import { wat } from './helpers/wat.ts';

const sample = new URL('../../server/sample/greet.wasm', import.meta.url);

/** A plugin that copies its input to its output, and logs it. `fail` reports it as an error, `spin` never ends. */
const echo = wat(`(module
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (func (export "echo") (result i32)
    (call $output_set (call $input_offset) (call $input_length))
    (i32.const 0))
  (func (export "log") (result i32) (call $log_info (call $input_offset)) (i32.const 0))
  (func (export "fail") (result i32) (call $error_set (call $input_offset)) (i32.const 1))
  (func (export "trap") (result i32) (unreachable))
  (func (export "spin") (result i32) (loop $again (br $again)) (unreachable)))`);

let world: PluginWorld;
const tenon: PluginWorld['tenon'] = (...args) => world.tenon(...args);
const demand: PluginWorld['demand'] = (...args) => world.demand(...args);
let greet: string;
let echoFile: string;

before(async () => {
  world = await createPluginWorld();
  greet = join(world.folder.path, 'greet.wasm');
  echoFile = join(world.folder.path, 'echo.wasm');
  await writeFile(greet, await readFile(sample));
  await writeFile(echoFile, echo);
});

after(() => world.stop());

describe('tenon plugin call: published plugins', () => {
  it('calls what is bound to a guest key, as a host does', async () => {
    const guestKey = world.server.quickstart.TENON_GUEST_KEY ?? '';
    const call = ['plugin', 'call', 'greet', '--plugin', 'greet', '--guest', guestKey, '--input', 'Ada'];
    assert.equal((await demand(call)).stdout, 'Hello, Ada!');
    const { export: name, contentAddress, output } = (await demand([...call, '--json'])).json();
    assert.deepEqual([name, output], ['greet', 'Hello, Ada!']);
    const list = (await demand(['bindings', guestKey, '--json'])).json();
    assert.equal(contentAddress, list.greet.contentAddress);
    const none = await tenon(['plugin', 'call', 'greet', '--plugin', 'other', '--guest', guestKey]);
    assert.deepEqual([none.exitCode, /Bound to it: greet/.test(none.stderr)], [5, true]);
    assert.equal((await tenon(['plugin', 'call', 'greet', '--plugin', 'greet', '--guest', 'no one'])).exitCode, 5);
  });

  it("calls the bound version of tenon.toml's plugin for its publisher, not the newest", async () => {
    const guest = await world.makeGuest();
    const early = await tenon(['plugin', 'call', 'run'], guest.setting);
    assert.match(early.stderr, /^error: There is no plugin "sums".*\nTo publish it: tenon plugin push\. .* --local\n$/);
    await guest.push(1);
    await guest.push(2);
    assert.equal((await guest.plugin('call', 'run')).stdout, '2\n');
    await guest.plugin('rollback', '@1');
    assert.equal((await guest.plugin('call', 'run')).stdout, '1\n');
    const { plugin, version, output } = (await guest.plugin('call', 'run', '--json')).json();
    assert.deepEqual([plugin, version, output], [guest.id, 1, '1\n']);
    await guest.plugin('yank', '@1', '--reason', 'wrong');
    await guest.plugin('yank', '@2', '--reason', 'wrong');
    const { exitCode, stderr } = await tenon(['plugin', 'call', 'run'], guest.setting);
    assert.equal(exitCode, 5);
    assert.match(
      stderr,
      /^error: No version of sums is bound\. .*\nTo call the module of the plugin's folder: --local/,
    );
  });

  it('asks for a guest when several versions are bound', async () => {
    const guest = await world.makeGuest();
    await guest.push(1);
    await demand(
      ['invitation', 'accept', await world.line(['guest', 'invite', `${guest.guestName}-b`])],
      guest.setting,
    );
    const { guests } = (await demand(['app', 'show', '--app', world.app, '--json'], guest.setting)).json();
    const bound: string = (await guest.plugin('status', '--json')).json().guestIds[0];
    const other: string = guests.find(({ id }: { id: string }) => id !== bound).id;
    await guest.push(2, '--guest', other);
    const unclear = await tenon(['plugin', 'call', 'run'], guest.setting);
    assert.equal(unclear.exitCode, 2);
    assert.match(unclear.stderr, /sums is bound in 2 versions\.\nName a guest with --guest:\n {2}gst_/);
    assert.equal((await guest.plugin('call', 'run', '--guest', bound)).stdout, '1\n');
    assert.equal((await guest.plugin('call', 'run', '--guest', other)).stdout, '2\n');
    // A guest key is the team's: a publisher learns nothing about it.
    const key = await tenon(['plugin', 'call', 'run', '--guest', guest.guestName], guest.setting);
    assert.equal(key.exitCode, 3);
    assert.equal(
      (await demand(['plugin', 'call', 'run', '--plugin', guest.id, '--guest', guest.guestName])).stdout,
      '1\n',
    );
  });

  it('runs no bytes that are not those of the address', async () => {
    const guest = await world.makeGuest();
    await guest.push(1);
    const tampering: typeof fetch = async (...request) => {
      const response = await fetch(...request);
      return String(request[0]).includes('/content') ? new Response(moduleOf(7)) : response;
    };
    const outcome = await tenon(['plugin', 'call', 'run'], { ...guest.setting, fetch: tampering });
    assert.deepEqual([outcome.exitCode, outcome.stdout], [1, '']);
    assert.match(outcome.stderr, /don.t match/);
  });
});

describe('tenon plugin call: local modules', () => {
  const offline = { environment: {} };
  const callEcho = (...args: string[]) => tenon(['plugin', 'call', ...args, '--module', echoFile], offline);

  it('calls a file, and the module of tenon.toml, without a server', async () => {
    const { stdout } = await demand(['plugin', 'call', 'greet', '--module', greet, '--input', 'Ada'], offline);
    assert.equal(stdout, 'Hello, Ada!');
    const guest = await world.makeGuest();
    const setting = { environment: {}, workingFolder: guest.path };
    assert.match((await tenon(['plugin', 'call', 'run', '--local'], setting)).stderr, /there is no such file/);
    await guest.write(moduleOf(5));
    const { file, plugin, output } = (await demand(['plugin', 'call', 'run', '--local', '--json'], setting)).json();
    assert.deepEqual([file, plugin, output], [join(guest.path, 'sums.wasm'), null, '5\n']);
    await writeFile(join(guest.path, 'next.wasm'), moduleOf(6));
    const toml = await readFile(join(guest.path, 'tenon.toml'), 'utf8');
    await writeFile(join(guest.path, 'tenon.toml'), `${toml}build = "cp next.wasm sums.wasm"\n`);
    assert.equal((await demand(['plugin', 'call', 'run', '--build'], setting)).stdout, '6\n');
  });

  it('takes the input from an option, a file, or stdin, and arguments after "--"', async () => {
    const piped = await tenon(['plugin', 'call', 'echo', '--module', echoFile, '--input-file', '-'], {
      ...offline,
      stdin: 'from a pipe',
    });
    assert.equal(piped.stdout, 'from a pipe');
    const module = join(world.folder.path, 'numbers.wasm');
    await writeFile(module, numbers);
    assert.equal((await demand(['plugin', 'call', 'fib', '--module', module, '--', '10'], offline)).stdout, '55\n');
    assert.equal((await tenon(['plugin', 'call', 'fib', '--module', module], offline)).exitCode, 2);
    assert.equal((await tenon(['plugin', 'call', 'nope', '--module', module], offline)).exitCode, 2);
  });

  it('writes binary output unchanged to a pipe or a file, and not to a terminal', async () => {
    const bytes = Buffer.from([0, 255, 27, 10, 128]);
    const input = join(world.folder.path, 'input.bin');
    await writeFile(input, bytes);
    assert.deepEqual((await callEcho('echo', '--input-file', input)).bytes, bytes);
    const shown = await tenon(['plugin', 'call', 'echo', '--module', echoFile, '--input-file', input], {
      ...offline,
      isTerminal: true,
    });
    assert.deepEqual([shown.exitCode, shown.stdout], [2, '']);
    assert.match(shown.stderr, /The output, 5 B, is not text for a terminal/);
    const file = join(world.folder.path, 'output.bin');
    assert.match((await callEcho('echo', '--input-file', input, '-o', file)).stderr, /^Wrote 5 B to /);
    assert.deepEqual(await readFile(file), bytes);
    const { output, outputBase64 } = (await callEcho('echo', '--input-file', input, '--json')).json();
    assert.deepEqual([output, outputBase64], [null, bytes.toString('base64')]);
  });

  it('escapes what would steer a terminal, in the output, the log, and errors', async () => {
    const hostile = 'a\u001b[2J\u202eb\nc';
    const onTerminal = { ...offline, isTerminal: true };
    const shown = (name: string) =>
      tenon(['plugin', 'call', name, '--module', echoFile, '--input', hostile], onTerminal);
    const { stdout } = await shown('echo');
    assert.equal(stdout.includes('\u001b'), false);
    assert.match(stdout, /^a.*b\nc\n$/s);
    for (const name of ['log', 'fail']) {
      const { stderr } = await shown(name);
      assert.equal(stderr.includes('\u001b[2J'), false);
      assert.equal(stderr.includes('\u202e'), false);
    }
    assert.match((await callEcho('log', '--input', 'hello')).stderr, /^plugin info: hello\n$/);
  });

  it('says why a call failed', async () => {
    const failed = await callEcho('fail', '--input', 'no such order');
    assert.deepEqual([failed.exitCode, failed.stdout], [1, '']);
    assert.match(failed.stderr, /^error: The program failed: the plugin reported an error: no such order\n$/);
    assert.match((await callEcho('trap')).stderr, /^error: The program failed: unreachable/);
    const { error } = JSON.parse((await callEcho('trap', '--json')).stderr);
    assert.equal(error.code, 'program_failed');
    await writeFile(join(world.folder.path, 'text.wasm'), 'hello');
    const file = join(world.folder.path, 'text.wasm');
    assert.equal((await tenon(['plugin', 'call', 'run', '--module', file], offline)).exitCode, 7);
    await writeFile(file, wat('(module (import "extism:host/user" "now" (func)) (func (export "run") (call 0)))'));
    const missing = await tenon(['plugin', 'call', 'run', '--module', file], offline);
    assert.match(missing.stderr, /missing imports: extism:host\/user\.now/);
    assert.equal((await tenon(['plugin', 'call', 'run', '--module', file, '--stub-imports'], offline)).exitCode, 0);
  });

  it('stops a call that never ends, at the time limit and by Ctrl-C', async () => {
    const late = await callEcho('spin', '--time-limit', '200ms');
    assert.deepEqual([late.exitCode, late.stdout], [1, '']);
    assert.match(late.stderr, /took longer than 200ms \(--time-limit\)/);
    const controller = new AbortController();
    void setTimeout(300).then(() => controller.abort(interruptedError('SIGINT')));
    const startedMs = performance.now();
    const stopped = await tenon(['plugin', 'call', 'spin', '--module', echoFile], {
      ...offline,
      signal: controller.signal,
    });
    assert.equal(stopped.exitCode, 130);
    assert.ok(performance.now() - startedMs < 10_000);
  });

  it('takes one module', async () => {
    for (const other of [['--local'], ['--build'], ['--plugin', 'greet'], ['--guest', 'acme']]) {
      assert.equal((await callEcho('echo', ...other)).exitCode, 2);
    }
    const both = await tenon(['plugin', 'call', 'echo', '--module', '-', '--input-file', '-'], offline);
    assert.match(both.stderr, /can’t both come from stdin/);
  });
});
