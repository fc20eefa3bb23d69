import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Fixture, SimulationReport } from '@tenon/protocol';
import { customSection, leb } from '../../../test/helpers/module-bytes.ts';
import { sourceMapOf, sourceMapUrl } from '../../../test/helpers/source-map.ts';
import { pluginModule, simulate } from './helpers/simulation-modules.ts';

const greet = readFileSync(new URL('../../server/sample/greet.wasm', import.meta.url));

const assertions = ({ assertions: list }: SimulationReport) =>
  list.map(({ group, name, passed, reason }) => [group, name, passed, reason]);

/** The assertions of one fixture, without its group: `equals` for one that passed, else its reason. */
function check(fixture: Omit<Fixture, 'export'> & { readonly export?: string }, rest: object = {}): string[] {
  const report = simulate({ fixtures: [{ export: 'json', ...fixture }], ...rest });
  assert.equal(report.verdict, report.assertions.every(({ passed }) => passed) ? 'passed' : 'failed');
  return report.assertions.map(({ name, passed, reason }) => (passed ? name : `${name}: ${reason}`));
}

describe('fixtures', () => {
  it('are assertions by name', () => {
    const report = simulate({
      plugin: greet,
      fixtures: [
        { name: 'Ada', export: 'greet', input: 'Ada', expect: { equals: 'Hello, Ada!' } },
        { export: 'count_vowels', input: 'aeiou', expect: { jsonSubset: { count: 5 } } },
        { export: 'count_vowels', inputBase64: 'eHl6', expect: { jsonSubset: { count: 1 } } },
        { export: 'missing', expect: { fails: 'no function' } },
      ],
    });
    assert.deepEqual([report.verdict, report.detail], ['failed', '1 of 4 assertions failed']);
    assert.deepEqual(assertions(report), [
      ['Ada', 'equals', true, null],
      ['count_vowels 2', 'jsonSubset', true, null],
      ['count_vowels 3', 'jsonSubset', false, '/count: expected 1, found 0'],
      ['missing 4', 'fails', true, null],
    ]);
    const [first] = report.calls;
    const sha256 = createHash('sha256').update('Hello, Ada!').digest('base64url');
    assert.deepEqual(first?.output, { text: 'Hello, Ada!', size: 11, sha256 });
    assert.ok((first?.functionCalls ?? 0) > 0);
    assert.equal(report.calls[2]?.input.text, 'xyz');
  });

  it('compare the output', () => {
    assert.deepEqual(check({ export: 'bytes', expect: { equals: { base64: '/wA=' } } }), ['equals']);
    assert.deepEqual(check({ export: 'bytes', expect: { equals: 'ab' } }), [
      'equals: expected "ab", found base64 "/wA="',
    ]);
    assert.match(check({ expect: { equals: { base64: '!' } } })[0] ?? '', /^equals: expected base64/);
    assert.deepEqual(check({ expect: { jsonSubset: { tags: ['a', 'b'] }, equals: '' } }), [
      'equals: expected "", found "{\\"name\\":\\"Ada\\",\\"age\\":36,\\"tags\\":[\\"a\\",\\"b\\"]}"',
      'jsonSubset',
    ]);
    const subset = (jsonSubset: unknown) => check({ expect: { jsonSubset } })[0];
    assert.equal(subset({ tags: ['a'] }), 'jsonSubset: /tags: expected a list of 1, found one of 2');
    assert.equal(subset({ tags: ['a', 'c'] }), 'jsonSubset: /tags/1: expected "c", found "b"');
    assert.equal(subset({ age: '36' }), 'jsonSubset: /age: expected "36", found 36');
    assert.equal(subset({ toString: 1 }), 'jsonSubset: expected the field "toString", which is missing');
    assert.equal(subset({ name: { first: 'Ada' } }), 'jsonSubset: /name: expected an object, found "Ada"');
    const exact = (id: string, jsonSubset: unknown) =>
      check({ export: 'echo', input: `{"id":${id}}`, expect: { jsonSubset } })[0];
    assert.equal(exact('9007199254740991', { id: 9007199254740991 }), 'jsonSubset');
    assert.equal(
      exact('9007199254740993', { id: 9007199254740991 }),
      'jsonSubset: /id: expected 9007199254740991, found 9007199254740993',
    );
    for (const id of ['9007199254740992', '9007199254740993']) {
      assert.match(exact(id, { id: 2 ** 53 }) ?? '', /^jsonSubset: \/id: the expected number must be between -2\^53/);
    }
    assert.equal(subset(null)?.startsWith('jsonSubset: expected null, found {'), true);
    assert.equal(
      check({ export: 'bytes', expect: { jsonSubset: {} } })[0],
      'jsonSubset: expected JSON, found base64 "/wA="',
    );
  });

  it('name the source line of a trap', () => {
    const module = pluginModule('(func (export "f") (result i32) unreachable)');
    const trap = Buffer.from(module).lastIndexOf(Buffer.of(3, 0, 0x00, 0x0b)) + 2;
    const url = sourceMapUrl(sourceMapOf(['src/f.ts'], [[trap, 0, 11, 4]]));
    const section = customSection('sourceMappingURL', Buffer.concat([Buffer.from(leb(url.length)), url]));
    const plugin = Buffer.concat([module, section]);
    const call = { export: 'f', expect: { fails: 'unreachable at src/f.ts:12:5' } };
    assert.deepEqual(check(call, { plugin }), ['fails']);
  });

  it('expect a call to fail, or to succeed', () => {
    assert.deepEqual(check({ export: 'trap', expect: { fails: true } }), ['fails']);
    assert.deepEqual(check({ export: 'fail', expect: { fails: 'such user' } }), ['fails']);
    assert.deepEqual(check({ export: 'fail', expect: { fails: 'timeout' } }), [
      'fails: expected an error with "timeout", the error is "the plugin reported an error: no such user"',
    ]);
    assert.deepEqual(check({ export: 'echo', input: 'a', expect: { fails: true } }), [
      'fails: expected the call to fail; it returned "a"',
    ]);
    assert.deepEqual(check({ export: 'recurse', expect: { fails: 'stack' } }), ['fails']);
    assert.deepEqual(check({ export: 'trap', expect: { equals: 'a' } }), ['succeeds: the call failed: unreachable']);
    assert.deepEqual(check({ export: 'echo', expect: {} }), ['succeeds']);
    assert.deepEqual(check({ export: 'echo', expect: { fails: false } }), ['succeeds']);
  });

  it('match the schema', () => {
    const schema = (type: object) => ({ schema: { exports: { json: { output: type } } } });
    const fields = { name: { type: 'string' }, age: { type: 'integer' }, tags: { items: { enum: ['a', 'c'] } } };
    const expect = { matchesSchema: true };
    assert.deepEqual(check({ expect }, schema({ type: 'object' })), ['matchesSchema']);
    assert.deepEqual(check({ expect }, schema({ properties: fields, required: ['id'] })), [
      'matchesSchema: /tags/1: expected one of "a", "c", found "b"',
    ]);
    assert.deepEqual(check({ expect }, schema({ properties: { ...fields, id: {} }, required: ['id'] })), [
      'matchesSchema: /tags/1: expected one of "a", "c", found "b"; expected the field "id", which is missing',
    ]);
    assert.deepEqual(check({ expect }), ['matchesSchema: the schema declares no output of json']);
    assert.deepEqual(check({ export: '__proto__', expect: { ...expect, fails: true } }, schema({})), ['fails']);
  });

  it('survive hostile output and fixtures', () => {
    const deep = pluginModule(
      `(func (export "json") (result i32)
        (memory.fill (i32.const 0) (i32.const 91) (i32.const 60000))
        (call $answer (call $text (i32.const 0) (i32.const 60000))))`,
    );
    const nested = JSON.parse(`${'['.repeat(60_000)}${']'.repeat(60_000)}`);
    const subset = check({ expect: { jsonSubset: nested } }, { plugin: deep });
    assert.match(subset[0] ?? '', /^jsonSubset: expected JSON, found "\[\[/);
    const same = pluginModule(
      `(func (export "json") (result i32)
        (memory.fill (i32.const 0) (i32.const 91) (i32.const 5000)) (memory.fill (i32.const 5000) (i32.const 93) (i32.const 5000))
        (call $answer (call $text (i32.const 0) (i32.const 10000))))`,
    );
    assert.match(check({ expect: { jsonSubset: nested } }, { plugin: same })[0] ?? '', /is nested more than 200 deep$/);
    assert.match(check({ expect: { jsonSubset: 1 } }, { plugin: same })[0] ?? '', /^jsonSubset: expected 1, found /);
    const hostCalls = [{ name: 'find', returns: { base64: '?' } }];
    assert.deepEqual(check({ expect: { fails: true }, hostCalls })[0]?.startsWith('fails: expected'), true);
    assert.equal(check({ inputBase64: '?', expect: {} })[0], 'input: expected base64, found "?"');
  });

  it('get a new instance each', () => {
    const fixtures = [1, 2, 3].map(() => ({ export: 'count', expect: { equals: '1' } }));
    assert.equal(simulate({ fixtures }).verdict, 'passed');
    assert.deepEqual([simulate({ fixtures: [] }).verdict, simulate({}).verdict], ['failed', 'failed']);
  });
});

describe('host calls of fixtures', () => {
  const plugin = pluginModule(
    `(func (export "json") (result i32) (call $answer (call $find (call $input_offset) (i64.const 7))))
     (func (export "numbers") (result i32)
       (if (f64.ne (call $mix (i32.const -1) (f32.const 0.1) (f64.const nan) (i64.const -1)) (f64.const 2.5)) (then unreachable))
       (i32.const 0))
     (func (export "twice") (result i32)
       (drop (call $find 'a' (i64.const 0))) (drop (call $find 'b' (i64.const 0))) (i32.const 0))
     (func (export "caught") (result i32)
       (try (do (drop (call $find 'a' (i64.const 0)))) (catch_all)) (i32.const 0))`,
    `(import "extism:host/user" "find" (func $find (param i64 i64) (result i64)))
     (import "env" "mix" (func $mix (param i32 f32 f64 i64) (result f64)))`,
  );
  const schema = { exports: {}, imports: { find: { input: { type: 'integer' }, output: { type: 'integer' } } } };
  const calls = (fixture: Parameters<typeof check>[0], rest: object = {}) => check(fixture, { plugin, ...rest });
  const expect = { equals: 'found' };

  it('are compared in order, and return values', () => {
    const find = { name: 'find', args: ['ada', { i64: '7' }], returns: 'found' };
    assert.deepEqual(calls({ input: 'ada', expect, hostCalls: [find] }), ['equals', 'hostCalls']);
    assert.deepEqual(calls({ input: 'ada', expect, hostCalls: [{ name: 'find', returns: 'found' }] }), [
      'equals',
      'hostCalls',
    ]);
    const bytes = { name: 'find', args: [{ base64: 'YWRh' }, 7], returns: { base64: 'Zm91bmQ=' } };
    assert.deepEqual(calls({ input: 'ada', expect, hostCalls: [bytes] }), ['equals', 'hostCalls']);
    const mix = { name: 'mix', args: [4_294_967_295, 0.1, 'NaN', { i64: '18446744073709551615' }], returns: 2.5 };
    assert.deepEqual(calls({ export: 'numbers', expect: {}, hostCalls: [mix] }), ['succeeds', 'hostCalls']);
    const encoded = { name: 'find', args: [36, 7], returns: 5 };
    const declared = calls({ input: '36', expect: { equals: '5' }, hostCalls: [encoded] }, { schema });
    assert.deepEqual(declared, ['equals', 'hostCalls']);
  });

  it('that differ fail the call, and `fails` is not fulfilled by that', () => {
    const wrong = 'Host call 1: expected find("bo"), the plugin called find("ada", i64 7)';
    assert.deepEqual(calls({ input: 'ada', expect, hostCalls: [{ name: 'find', args: ['bo'] }] }), [
      `succeeds: the call failed: ${wrong}`,
      `hostCalls: ${wrong}`,
    ]);
    const unlisted = 'The plugin called find("ada", i64 7); the fixture lists no calls of host functions';
    assert.deepEqual(calls({ input: 'ada', expect: { fails: true } }), [
      `fails: ${unlisted}`,
      `hostCalls: ${unlisted}`,
    ]);
    assert.deepEqual(
      calls({ export: 'twice', expect: {}, hostCalls: [{ name: 'find' }] }).at(-1),
      'hostCalls: Host call 2: the plugin called find("b", i64 0); the fixture lists only 1',
    );
    assert.deepEqual(calls({ export: 'caught', expect: {}, hostCalls: [{ name: 'mix' }] }), [
      'succeeds',
      'hostCalls: Host call 1: expected mix, the plugin called find("a", i64 0)',
    ]);
    const three = [{ name: 'find' }, { name: 'find' }, { name: 'mix' }];
    assert.deepEqual(calls({ export: 'twice', expect: {}, hostCalls: three }), [
      'succeeds',
      'hostCalls: expected 3 calls of host functions, the plugin made 2; the next is mix',
    ]);
    const malformed = [{ name: 'find', args: [{ base64: '?' }, 7] }];
    assert.deepEqual(calls({ input: 'ada', expect: { fails: true }, hostCalls: malformed }), [
      'fails: Host call 1 of find: expected base64, found "?"',
      'hostCalls: Host call 1 of find: expected base64, found "?"',
    ]);
    assert.match(
      calls({ export: 'twice', expect: {}, hostCalls: [{ name: 'find', returns: 1.5 }] })[0] ?? '',
      /which is not an i64/,
    );
  });

  it('are answered by a mock host if the fixture lists none', () => {
    const mockHost = pluginModule(
      `(func (export "find") (param i64 i64) (result i64) 'found')
       (func (export "mix") (param i32 f32 f64 i64) (result f64) (f64.const 2.5))`,
    );
    const report = simulate({
      plugin,
      mockHost,
      fixtures: [
        { export: 'json', expect },
        { export: 'json', expect: { equals: 'listed' }, hostCalls: [{ name: 'find', returns: 'listed' }] },
        { export: 'numbers', expect: {} },
      ],
    });
    assert.deepEqual([report.verdict, report.detail], ['passed', null]);
    assert.deepEqual(
      report.calls.map(({ hostCalls }) => hostCalls[0]),
      [
        { name: 'find', args: [{ i64: '0' }, { i64: '7' }], returns: 'found' },
        { name: 'find', args: [{ i64: '0' }, { i64: '7' }], returns: 'listed' },
        { name: 'mix', args: [-1, Math.fround(0.1), 'NaN', { i64: '-1' }], returns: 2.5 },
      ],
    );
  });
});
