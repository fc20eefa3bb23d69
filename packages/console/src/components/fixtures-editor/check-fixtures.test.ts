import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkFixtures, placeFaults } from './check-fixtures.ts';
import { exampleFixtures, fixturesText, namesIn } from './example-fixtures.ts';
import { fixtureHelpAt, suggestFor } from './fixture-help.ts';

const names = { exports: ['greet', 'count_vowels'], imports: ['sendNotice'] };

/** The faults of a text, a line each. */
function faults(text: string): string[] {
  const checked = checkFixtures(text, names);
  return checked.isSound ? [] : checked.faults.map(({ line, column, detail }) => `${line}:${column} ${detail}`);
}

describe('fixtures as text', () => {
  it('are sound', () => {
    const text = `[
  { "export": "greet", "input": "Ada", "expect": { "equals": "Hello, Ada!" } },
  { "name": "bytes", "export": "greet", "inputBase64": "AA==", "expect": { "equals": { "base64": "AA==" } },
    "hostCalls": [{ "name": "sendNotice", "args": ["x", 1, { "i64": "9007199254740993" }], "returns": "" }] },
  { "export": "count_vowels", "expect": { "fails": "too short", "matchesSchema": false, "jsonSubset": null } }
]`;
    assert.deepEqual(faults(text), []);
  });

  for (const [text, ...expected] of [
    ['', '1:1 expected a value, but the text ends'],
    ['{}', '1:1 expected a list of fixtures: [ { "export": …, "expect": … } ]'],
    ['[]', '1:1 expected one fixture or more'],
    ['[1]', '1:2 expected an object'],
    ['[{\n  "export": "greet",\n  "expect": {"fails": true},\n}]', '4:1 JSON has no comma after the last item'],
    ['[{"export": "greet" "expect": {}}]', '1:21 expected "," or "}", but found "\\""'],
    ['[{"export": "greet', '1:13 this text has no closing quotation mark'],
    ['[{"export": tru}]', '1:13 "tru" is not a JSON value'],
    ['[{"export": "\\x"}]', '1:13 this text has an invalid escape or a control character'],
    ['[{"a": 1, "a": 2}]', '1:11 the key "a" occurs twice'],
    ['[] x', '1:4 the JSON ends before this'],
    [`${'['.repeat(1000)}`, '1:202 more than 200 levels'],
    ['[{"export": "greet"}]', '1:2 "expect" is missing'],
    [
      '[{"export": "gret", "expect": {"fails": true}}]',
      '1:13 "gret" is not an export of the schema; did you mean "greet"?',
    ],
    [
      '[{"exprt": "greet", "expect": {"fails": true}}]',
      '1:2 "export" is missing',
      '1:3 there is no key "exprt"; did you mean "export"?',
    ],
    ['[{"export": "greet", "expect": {}}]', '1:32 expected at least one of equals, jsonSubset, matchesSchema, fails'],
    [
      '[{"export": "greet", "input": {"a": 1}, "expect": {"fails": 1}}]',
      '1:31 "input" must be a text; for this JSON, write "{\\"a\\":1}"',
      '1:61 "fails" must be true, false, or a text',
    ],
    [
      '[{"export": "greet", "input": "", "inputBase64": "", "expect": {"equals": 1}}]',
      '1:35 use either "input" or "inputBase64"',
      '1:75 "equals" must be a text or { "base64": … }; for JSON, use "jsonSubset"',
    ],
    [
      '[{"export": "greet", "expect": {"fails": true}, "hostCalls": [{"name": "sendNotise", "args": 1}]}]',
      '1:72 "sendNotise" is not an import of the schema; did you mean "sendNotice"?',
      '1:94 "args" must be a list',
    ],
  ] as const) {
    it(`have faults with their places: ${text.slice(0, 60)}`, () => assert.deepEqual(faults(text), expected));
  }

  it('takes members such as __proto__ as data', () => {
    assert.deepEqual(faults('[{"__proto__": {"export": "greet", "expect": {"fails": true}}}]'), [
      '1:2 "export" is missing',
      '1:2 "expect" is missing',
      '1:3 there is no key "__proto__"; expected one of name, export, input, inputBase64, expect, hostCalls',
    ]);
  });

  it('have the faults that the server found at their places, or at what is around them', () => {
    const text = '[\n  {"export": "f",\n   "expect": {"equals": "x"}}\n]';
    const found = placeFaults(text, [
      { pointer: '/0/expect/equals', detail: 'a' },
      { pointer: '/0/hostCalls/3', detail: 'b' },
    ]);
    assert.deepEqual(
      found.map(({ line, column, detail }) => [line, column, detail]),
      [
        [2, 3, 'b'],
        [3, 25, 'a'],
      ],
    );
  });

  it('of a million characters are checked in a second', () => {
    const one = '{"export": "greet", "input": "Ada", "expect": {"equals": "Hello, Ada!"}}';
    const startMs = performance.now();
    assert.deepEqual(faults(`[${Array.from({ length: 14_000 }, () => one).join(',\n')}]`), []);
    assert.ok(performance.now() - startMs < 5_000);
  });
});

describe('examples of fixtures', () => {
  it('call each export with an input of its type, and are sound', () => {
    const schema = {
      exports: {
        greet: { input: { type: 'string', contentType: 'text/plain; charset=utf-8' }, output: { type: 'string' } },
        count_vowels: {},
        order: { input: { $ref: '#/components/schemas/Order', contentType: 'application/json' } },
        convert: { input: { type: 'buffer', contentType: 'application/x-binary' } },
      },
      imports: { sendNotice: {} },
      components: {
        schemas: {
          Order: {
            required: ['id', 'items'],
            properties: {
              id: { type: 'integer' },
              note: { type: 'string' },
              items: { type: 'array', items: { enum: ['a'] } },
            },
          },
        },
      },
    };
    const fixtures = exampleFixtures(schema);
    assert.deepEqual(
      fixtures.map(({ export: name, input, inputBase64, expect }) => [name, input ?? inputBase64, expect]),
      [
        ['greet', 'example', { matchesSchema: true }],
        ['count_vowels', undefined, { fails: false }],
        ['order', '{"id":1,"items":["a"]}', { fails: false }],
        ['convert', 'ZXhhbXBsZQ==', { fails: false }],
      ],
    );
    assert.ok(checkFixtures(fixturesText(fixtures), namesIn(schema)).isSound);
  });

  it('of types that contain themselves end', () => {
    const node = { required: ['next'], properties: { next: { $ref: '#/components/schemas/Node' } } };
    const schema = {
      exports: { f: { input: { $ref: '#/components/schemas/Node', contentType: 'application/json' } } },
      components: { schemas: { Node: node, Loop: { $ref: '#/components/schemas/Loop' } } },
    };
    assert.match(exampleFixtures(schema)[0]?.input ?? '', /^(\{"next":){6}/);
  });
});

describe('the editor of fixtures', () => {
  const suggest = suggestFor(names);
  const labels = (text: string, isAsked = false) => {
    const at = text.indexOf('|');
    return suggest(text.replace('|', ''), at, isAsked)?.items.map(({ label }) => label);
  };

  it('suggests keys, names of exports and imports', () => {
    assert.deepEqual(labels('[{"export": "gr|"}]'), ['"greet"', '"count_vowels"']);
    assert.deepEqual(labels('[{"expect": {"fa|"}}]'), ['equals', 'jsonSubset', 'matchesSchema', 'fails']);
    assert.deepEqual(labels('[{"hostCalls": [{"name": |}]}]'), ['"sendNotice"']);
    assert.deepEqual(labels('[{"export": "greet", |}]', true), ['name', 'input', 'inputBase64', 'expect', 'hostCalls']);
    assert.deepEqual(labels('[{"expect": {"fails": |}}]'), ['true', 'false']);
    assert.equal(labels('[{|}]'), undefined);
    assert.equal(labels('[{"expect": {"jsonSubset": {"a|"}}}]'), undefined);
  });

  it('says what a key means', () => {
    const text = '[{"expect": {"fails": true}}]';
    assert.match(fixtureHelpAt(text, text.indexOf('fails') + 2)?.description ?? '', /^Whether the call must fail/);
    assert.equal(fixtureHelpAt('[{"other": 1}]', 4), undefined);
  });
});
