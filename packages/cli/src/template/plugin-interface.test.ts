import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assemblyScriptFiles } from './assemblyscript.ts';
import { cFiles } from './c.ts';
import { commentLines, distinctNames, readPluginInterface } from './plugin-interface.ts';

describe('readPluginInterface()', () => {
  it('tells how input and output travel', () => {
    const { exports, imports } = readPluginInterface({
      version: 'v1-draft',
      exports: {
        greet: {
          description: 'Greets.',
          input: { contentType: 'text/plain; charset=utf-8', type: 'string', description: 'the name' },
          output: { contentType: 'application/json', $ref: '#/components/schemas/Greeting' },
        },
        draw: { output: { contentType: 'application/x-binary', type: 'buffer' } },
        tick: {},
      },
      imports: { list: { output: { type: 'array', items: { $ref: '#/components/schemas/Row' } } } },
    });
    assert.deepEqual(exports, [
      {
        name: 'greet',
        description: 'Greets.',
        input: { payload: 'text', words: 'text/plain; charset=utf-8: the name' },
        output: { payload: 'text', words: 'application/json, Greeting' },
      },
      {
        name: 'draw',
        description: '',
        input: undefined,
        output: { payload: 'bytes', words: 'application/x-binary, buffer' },
      },
      { name: 'tick', description: '', input: undefined, output: undefined },
    ]);
    assert.deepEqual(imports[0]?.output, { payload: 'text', words: 'application/json, list of Row' });
  });

  it('reads nothing of what is no schema', () => {
    for (const schema of [undefined, null, 3, [], { exports: 3 }, { exports: null, imports: 'x' }]) {
      assert.deepEqual(readPluginInterface(schema), { exports: [], imports: [], proposals: undefined });
    }
  });

  it('leaves out names that would become code', () => {
    const names = ['a"); system("x', 'a\nb', '', '3a', 'a-b', 'a.b', 'é', 'x'.repeat(201), 'good_$1'];
    const schema = { exports: Object.fromEntries(names.map((name) => [name, {}])) };
    assert.deepEqual(
      readPluginInterface(schema).exports.map(({ name }) => name),
      ['good_$1'],
    );
  });
});

describe('commentLines()', () => {
  it('keeps a description within its comment', () => {
    const hostile = {
      description: 'ends */ system("x"); /* and \u202e turns\r\n# include "x"\u0000\u001b[31m \u2028 next',
      input: { payload: 'text' as const, words: 'text */ #error' },
      output: undefined,
    };
    const schema = readPluginInterface({ exports: { a: {} }, imports: { b: {} } });
    const [a] = schema.exports;
    assert.ok(a !== undefined);
    const lines = commentLines({ ...a, ...hostile });
    const text = lines.join('\n');
    assert.doesNotMatch(text, /\*\/|\/\*|[\u0000-\u0009\u000b-\u001f\u202e\u2028]/);
    const entry = { ...a, ...hostile };
    for (const files of [
      assemblyScriptFiles({ exports: [entry], imports: [entry] }),
      cFiles({ exports: [entry], imports: [entry] }),
    ]) {
      for (const code of files.values()) {
        const outside = code.replace(/\/\*[\s\S]*?\*\//g, '');
        assert.doesNotMatch(outside, /system|#error/);
      }
    }
  });

  it('wraps long descriptions', () => {
    const lines = commentLines({ name: 'a', description: 'word '.repeat(100), input: undefined, output: undefined });
    assert.ok(lines.length > 5 && lines.every((line) => line.length <= 100));
  });
});

describe('distinctNames()', () => {
  it('numbers those that would be the same', () => {
    assert.deepEqual(distinctNames(['a', 'a', 'b', 'a'], new Set(['b'])), ['a', 'a_2', 'b_2', 'a_3']);
  });
});

describe('assemblyScriptFiles()', () => {
  it("exports under the schema's names, words of the language too", () => {
    const { exports } = readPluginInterface({ exports: { delete: {}, delete_: {}, i32: {}, fail: {}, plain: {} } });
    const index = assemblyScriptFiles({ exports, imports: [] }).get('assembly/index.ts') ?? '';
    assert.match(index, /^export function plain\(\): i32/m);
    assert.match(index, /^export function delete_\(\): i32/m);
    assert.match(index, /^export \{ delete__2 as delete, i32_ as i32, fail_ as fail \};$/m);
  });
});

describe('the configuration of asc', () => {
  it('leaves out the proposals that the extension point does not allow', () => {
    const disabled = (proposals?: readonly string[] | null) =>
      JSON.parse(assemblyScriptFiles(readPluginInterface({}, proposals)).get('asconfig.json') ?? '').options.disable;
    assert.deepEqual([disabled(), disabled(null)], [undefined, undefined]);
    assert.deepEqual(disabled(['bulk-memory', 'simd']), ['mutable-globals', 'sign-extension', 'nontrapping-f2i']);
  });
});
