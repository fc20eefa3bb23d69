import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commentLines } from './comments.ts';
import { distinctNames, identifiers, memberNames } from './names.ts';
import { isRecursive, readPluginInterface } from './plugin-interface.ts';
import { templateNames, templates } from './template.ts';

describe('readPluginInterface()', () => {
  it('reads how inputs and outputs become bytes', () => {
    const { exports, imports, declarations } = readPluginInterface({
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
      imports: { list: { output: { type: 'array', items: { type: 'integer', format: 'uint8', nullable: true } } } },
      components: { schemas: { Greeting: { properties: { text: { type: 'string' } }, required: ['text'] } } },
    });
    const string = { kind: 'string', nullable: false };
    assert.deepEqual(exports, [
      {
        name: 'greet',
        description: 'Greets.',
        input: { encoding: 'text', type: string, description: 'the name' },
        output: {
          encoding: 'json',
          type: { kind: 'object', name: 'Greeting', nullable: false },
          description: '',
        },
      },
      {
        name: 'draw',
        description: '',
        input: undefined,
        output: { encoding: 'binary', type: { kind: 'bytes', nullable: false }, description: '' },
      },
      { name: 'tick', description: '', input: undefined, output: undefined },
    ]);
    const byte = { kind: 'integer', bits: 8, signed: false, isPlain: false, nullable: true };
    assert.deepEqual(imports[0]?.output, {
      encoding: 'json',
      type: { kind: 'array', items: byte, nullable: false },
      description: '',
    });
    const text = { name: 'text', description: '', type: string, isRequired: true };
    assert.deepEqual(declarations, [{ kind: 'object', name: 'Greeting', description: '', fields: [text] }]);
  });

  it('resolves aliases, and those in a cycle to any value', () => {
    const { exports, declarations } = readPluginInterface({
      exports: { a: { input: { $ref: '#/components/schemas/Loop' }, output: { $ref: '#/components/schemas/Nodes' } } },
      components: {
        schemas: {
          Loop: { type: 'array', items: { $ref: '#/components/schemas/Loop' } },
          Nodes: { type: 'array', items: { $ref: '#/components/schemas/Node' }, nullable: true },
          Node: { properties: { next: { $ref: '#/components/schemas/Node' } } },
        },
      },
    });
    const any = { kind: 'any', nullable: false };
    assert.deepEqual(exports[0]?.input?.type, { kind: 'array', items: any, nullable: false });
    const node = { kind: 'object', name: 'Node', nullable: false } as const;
    assert.deepEqual(exports[0]?.output?.type, { kind: 'array', items: node, nullable: true });
    assert.ok(isRecursive(declarations, 'Node', node));
  });

  it('reads nothing of what is no schema', () => {
    for (const schema of [undefined, null, 3, [], { exports: 3 }, { exports: null, imports: 'x', components: [] }]) {
      const empty = { exports: [], imports: [], declarations: [], proposals: undefined };
      assert.deepEqual(readPluginInterface(schema), empty);
    }
  });

  it('leaves out names that would become code', () => {
    const names = ['a"); system("x', 'a\nb', '', '3a', 'a-b', 'a.b', 'é', 'x'.repeat(201), 'good_$1'];
    const hostile = Object.fromEntries(names.map((name) => [name, { properties: {} }]));
    const { exports, declarations } = readPluginInterface({
      exports: hostile,
      components: { schemas: { ...hostile, Type: { properties: hostile } } },
    });
    assert.deepEqual(
      exports.map(({ name }) => name),
      ['good_$1'],
    );
    assert.deepEqual(
      declarations.map(({ name }) => name),
      ['Good__1', 'TypeGood_$1'.replace('$', '_'), 'Type'],
    );
  });
});

describe('the templates', () => {
  const hostile = 'ends */ system("x"); /* and \u202e turns\r\n# include "x"\u0000\u001b[31m \u2028 next \\\n//!';
  const values = ['"); system("x', '\\', '\u2028', '#{x}', '"""', 'ü', '', '-', '*/', '??/"}; system("x'];
  const side = { contentType: 'application/json', $ref: '#/components/schemas/T', description: hostile };
  const entry = { description: hostile, input: side, output: side };
  const schema = {
    exports: { a: entry },
    imports: { b: entry },
    components: {
      schemas: {
        E: { enum: values, description: hostile },
        T: { description: hostile, properties: { e: { $ref: '#/components/schemas/E', description: hostile } } },
      },
    },
  };

  for (const name of templateNames) {
    it(`keeps hostile texts within comments and literals of ${name}`, () => {
      const { generated, source } = templates[name].files(readPluginInterface(schema));
      for (const text of [...generated.values(), ...source.values()]) {
        // The trigraph of a backslash, which older standards of C and C++ have
        const code = name === 'c' || name === 'cpp' ? text.replaceAll('??/', '\\') : text;
        assert.doesNotMatch(code, /[\u0000-\u0008\u000b-\u001f\u202e\u2028]/);
        const outside = code
          .replace(/"(?:[^"\\\n]|\\.)*"/g, '""')
          .replace(/\/\*[\s\S]*?\*\//g, '')
          .replace(/\/\/.*/g, '');
        assert.doesNotMatch(outside, /system\(|# include|turns/);
      }
    });
  }

  it('refuses exports that a language cannot have', () => {
    const named = (name: string) => readPluginInterface({ exports: { [name]: {} } });
    for (const name of ['delete', 'await', 'static']) {
      assert.throws(() => templates.typescript.files(named(name)), { code: 'unsupported_export' });
    }
    for (const language of templateNames.filter((name) => name !== 'typescript')) {
      templates[language].files(named('delete'));
    }
    templates.typescript.files(named('type'));
  });

  it('leaves out proposals that the extension point does not allow', () => {
    const disabled = (proposals?: readonly string[] | null) => {
      const { source } = templates.assemblyscript.files(readPluginInterface({}, proposals));
      return JSON.parse(source.get('asconfig.json') ?? '').options.disable;
    };
    assert.deepEqual([disabled(), disabled(null)], [undefined, undefined]);
    assert.deepEqual(disabled(['bulk-memory', 'simd']), ['mutable-globals', 'sign-extension', 'nontrapping-f2i']);
  });
});

describe('names', () => {
  it('wraps long descriptions', () => {
    const lines = commentLines('word '.repeat(100));
    assert.ok(lines.length > 5 && lines.every((line) => line.length <= 100));
  });

  it('numbers those that would be the same', () => {
    assert.deepEqual(distinctNames(['a', 'a', 'b', 'a'], new Set(['b'])), ['a', 'a_2', 'b_2', 'a_3']);
  });

  it('keeps identifiers that are possible, and changes others', () => {
    const names = identifiers(['int', 'int_', 'a$b', 'a_b', '__', 'plain'], new Set(['int']));
    assert.deepEqual([...names.values()], ['int__2', 'int_', 'a_b_2', 'a_b', '___', 'plain']);
  });

  it('names the members of enumerations', () => {
    const names = memberNames(['a-b', 'a b', '1', '', '👋', 'int'], new Set(['int']));
    assert.deepEqual(names, ['a_b', 'a_b_2', '_1', 'value', 'value__', 'int_']);
  });
});
