import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPlugin } from '@extism/extism';
import { createRecorder, type RecorderOptions } from '@tenon/client/record';
import { fixture } from '@tenon/protocol';
import { isValid } from '@tenon/protocol/validate';
import loadWabt from 'wabt';

const wabt = await loadWabt();

/** `ask` passes its input to the host, with numbers, and returns its answer. `fail` reports its input as an error. */
const source = `(module
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/user" "lookup" (func $lookup (param i64 i64 i32 f64) (result i64)))
  (import "extism:host/user" "note" (func $note (param i64)))
  (func (export "echo") (result i32) (call $output_set (call $input_offset) (call $input_length)) (i32.const 0))
  (func (export "ask") (result i32) (local $found i64)
    (local.set $found (call $lookup (call $input_offset) (i64.const 9007199254740993) (i32.const -7) (f64.const nan)))
    (call $note (i64.const 0))
    (call $output_set (local.get $found) (call $length (local.get $found)))
    (i32.const 0))
  (func (export "fail") (result i32) (call $error_set (call $input_offset)) (i32.const 1))
  (func (export "trap") (result i32) (unreachable)))`;

const wasm = [{ data: assemble(source) }];

function assemble(text: string): Uint8Array {
  const module = wabt.parseWat('test.wat', text);
  try {
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

async function open(options: RecorderOptions = {}, lookup?: (found: string) => string) {
  const recorder = createRecorder(options);
  const functions = {
    'extism:host/user': {
      lookup: (
        context: { read: (at: bigint) => { text: () => string } | null; store: (text: string) => bigint },
        at: bigint,
      ) => context.store((lookup ?? ((text) => `found ${text}`))(context.read(at)?.text() ?? '')),
      note() {},
    },
  };
  const plugin = await recorder.record((wrapped) => createPlugin({ wasm }, { functions: wrapped }), functions);
  return { recorder, plugin };
}

describe('createRecorder()', () => {
  it('records inputs, outputs and host calls of the real runtime', async () => {
    const { recorder, plugin } = await open();
    assert.equal((await plugin.call('ask', 'Ada'))?.text(), 'found Ada');
    await plugin.call('echo', new Uint8Array([0xff, 0]));
    await plugin.call('echo', 'Ada');
    await plugin.call('echo', 'Ada');
    await assert.rejects(plugin.call('fail', 'no such user'), /no such user/);
    await assert.rejects(plugin.call('trap'), /unreachable/);
    await plugin.close();
    const hostCalls = [
      { name: 'lookup', args: ['Ada', { i64: '9007199254740993' }, -7, 'NaN'], returns: 'found Ada' },
      { name: 'note', args: [{ i64: '0' }] },
    ];
    assert.deepEqual(recorder.fixtures, [
      { export: 'ask', input: 'Ada', expect: { equals: 'found Ada' }, hostCalls },
      { export: 'echo', inputBase64: '/wA=', expect: { equals: { base64: '/wA=' } } },
      { export: 'echo', input: 'Ada', expect: { equals: 'Ada' } },
      { export: 'fail', input: 'no such user', expect: { fails: 'no such user' } },
      { export: 'trap', input: '', expect: { fails: true } },
    ]);
    assert.equal(recorder.skippedCalls, 0);
    for (const each of recorder.fixtures) assert.ok(isValid(fixture, each));
  });

  it('redacts by path and by value, also within JSON', async () => {
    const paths: string[] = [];
    const redact = (value: unknown, path: string) => {
      paths.push(path);
      if (path.endsWith('/email')) return 'ada@example.org';
      return typeof value === 'string' ? value.replaceAll('s3cret', '***') : value;
    };
    const { recorder, plugin } = await open({ redact });
    await plugin.call('ask', '{ "email": "real@corp.example", "a/b": ["s3cret", 1, null] }');
    await plugin.call('echo', '{ "kept":  true }');
    await assert.rejects(plugin.call('fail', 'no s3cret'));
    const [ask, echo, fail] = recorder.fixtures;
    const redacted = '{"email":"ada@example.org","a/b":["***",1,null]}';
    assert.deepEqual([ask?.input, ask?.hostCalls?.[0]?.args?.[0]], [redacted, redacted]);
    assert.equal(echo?.input, '{ "kept":  true }', 'unchanged JSON keeps its spaces');
    assert.deepEqual([fail?.input, fail?.expect], ['no ***', { fails: 'no ***' }]);
    assert.ok(!JSON.stringify(recorder.fixtures.slice(1)).includes('s3cret'));
    for (const path of ['/input/a~1b/0', '/hostCalls/lookup/args/0/email', '/hostCalls/lookup/returns', '/error']) {
      assert.ok(paths.includes(path), path);
    }
  });

  it('keeps all digits of integers, and no value of a field that occurs twice', async () => {
    const redact = (value: unknown, path: string) => (path.endsWith('/email') ? 'x' : value);
    const { recorder, plugin } = await open({ redact });
    const inputs = [
      '{"id":9007199254740993,"email":"a@b.example"}',
      '{"email":"secret","email":"x"}',
      '[{ "a:b": "\\":", "e\\u006dail": "secret", "email": "x" }]',
      '{ "a:b" : "\\"::", "id": 9007199254740993, "email": "x" }',
      '{"large":1e400,"email":"a@b.example"}',
      `{"email":"a@b.example","deep":${'['.repeat(20_000)}9007199254740993${']'.repeat(20_000)}}`,
    ];
    for (const input of inputs) await plugin.call('echo', input);
    assert.deepEqual(
      recorder.fixtures.map(({ input }) => input),
      [
        '{"id":9007199254740993,"email":"x"}',
        '{"email":"x"}',
        '[{"a:b":"\\":","email":"x"}]',
        '{ "a:b" : "\\"::", "id": 9007199254740993, "email": "x" }',
      ],
    );
    assert.equal(recorder.skippedCalls, 2);

    const unredacted = await open({});
    await unredacted.plugin.call('echo', '{"a":1,"a": 2}');
    assert.equal(unredacted.recorder.fixtures[0]?.input, '{"a":1,"a": 2}');
  });

  it('leaves out what is too large, too much, redacted, or not repeatable, and fails no call', async () => {
    const tooLarge = await open({ maxValueBytes: 4 });
    assert.equal((await tooLarge.plugin.call('echo', 'abcde'))?.text(), 'abcde');
    await tooLarge.plugin.call('echo', 'abcd');
    assert.deepEqual([tooLarge.recorder.fixtures.length, tooLarge.recorder.skippedCalls], [1, 1]);

    const tooMany = await open({ maxCalls: 2 });
    for (const input of ['a', 'b', 'c', 'a']) await tooMany.plugin.call('echo', input);
    assert.deepEqual([tooMany.recorder.fixtures.length, tooMany.recorder.skippedCalls], [2, 1]);

    const throwing = await open({ redact: (_, path) => (path === '/input' ? undefined : assert.fail()) });
    assert.equal((await throwing.plugin.call('echo', 'a'))?.text(), 'a');
    assert.deepEqual([throwing.recorder.fixtures.length, throwing.recorder.skippedCalls], [0, 1]);

    const failing = await open({}, () => assert.fail('the host fails'));
    await assert.rejects(failing.plugin.call('ask', 'a'), /the host fails/);
    assert.deepEqual([failing.recorder.fixtures.length, failing.recorder.skippedCalls], [0, 1]);
  });

  it('keeps calls of several plugins apart', async () => {
    const recorder = createRecorder();
    const functions = { 'extism:host/user': { lookup: () => 0n, note() {} } };
    const make = () => recorder.record((wrapped) => createPlugin({ wasm }, { functions: wrapped }), functions);
    const [one, two] = await Promise.all([make(), make()]);
    await Promise.all([one.call('ask', '1'), two.call('ask', '2'), one.functionExists('ask')]);
    assert.deepEqual(
      recorder.fixtures.map(({ input, hostCalls }) => [input, hostCalls?.length, hostCalls?.[0]?.args?.[0]]),
      [
        ['1', 2, '1'],
        ['2', 2, '2'],
      ],
    );
  });
});
