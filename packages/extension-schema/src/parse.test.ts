import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom } from '../../../test/helpers/random.ts';
import { describeFault, parseExtensionPointSchema, readExtensionPointSchema, SchemaError } from './parse.ts';

function refused(schema: unknown): SchemaError {
  try {
    parseExtensionPointSchema(schema);
  } catch (error) {
    assert.ok(error instanceof SchemaError, String(error));
    return error;
  }
  throw new Error('was taken');
}

function refusal(schema: unknown): string {
  const error = refused(schema);
  return `${error.pointer} ${error.message}`;
}

/** Every fault: its pointer, and what and where it is. */
function faultsOf(schema: unknown): string[] {
  return refused(schema).faults.map((fault) => `${fault.pointer} ${describeFault(fault)}`);
}

/** What documents in the wild use, all of it: types left out beside what tells them, nothing behind a name, references. */
const wholeDocument = `---
# yaml-language-server: $schema=https://example.com/schema.json
version: v1-draft
exports:
  ping:
  count_vowels:
    description: |
      Counts the vowels
      of a text.
    codeSamples:
      - lang: typescript
        label: counting
        source: |
          return { count: 3 }
    input: { type: string, contentType: text/plain; charset=utf-8, description: a text }
    output:
      $ref: "#/components/schemas/Report"
      contentType: application/json
  render:
    input: { type: buffer, contentType: application/x-binary }
    output: { type: array, items: { type: boolean }, contentType: application/json, nullable: true }
  lookUp:
    input: { type: object, additionalProperties: { items: { type: string } }, contentType: application/json }
imports:
  kv_read:
    input: { type: string, contentType: text/plain; charset=utf-8 }
    output: { type: buffer, contentType: application/x-binary }
  eat:
    input: { contentType: text/plain; charset=utf-8, $ref: "#/components/schemas/Fruit" }
components:
  schemas:
    Fruit:
      description: what there is to eat
      enum: [apple, orange, "passion fruit"]
    Report:
      description: what was found
      required: [count, fruit]
      properties:
        count: { type: integer, format: int32 }
        total: { type: integer, format: uint64, nullable: true }
        ratio: { type: number, format: float }
        at: { type: string, format: date-time }
        blob: { type: string, format: byte }
        fruit: { $ref: "#/components/schemas/Fruit", description: overrides that of the component }
        type: { type: string }
        any: { type: object }
        list: { type: array }
        counts: { additionalProperties: { type: integer } }
        children: { type: array, items: { $ref: "#/components/schemas/Report" } }
    Names:
      additionalProperties: { type: string }
    Alias:
      $ref: "#/components/schemas/Names"
x-owner: the platform team
`;

describe('parseExtensionPointSchema()', () => {
  it('accepts an object, its JSON text and its YAML text', () => {
    const expected = '{"version":"v1-draft","exports":{"greet":{"input":{"type":"string"}}}}';
    const object = { version: 'v1-draft', exports: { greet: { input: { type: 'string' } } } };
    assert.equal(parseExtensionPointSchema(object), expected);
    assert.equal(parseExtensionPointSchema(JSON.stringify(object)), expected);
    assert.equal(parseExtensionPointSchema(JSON.stringify(object, null, '\t')), expected);
    assert.equal(
      parseExtensionPointSchema('version: v1-draft\nexports:\n  greet:\n    input:\n      type: string\n'),
      expected,
    );
  });

  it('accepts and keeps all features of the format', () => {
    const taken = JSON.parse(parseExtensionPointSchema(wholeDocument));
    assert.deepEqual(Object.keys(taken.exports), ['ping', 'count_vowels', 'render', 'lookUp']);
    assert.deepEqual(taken.exports.ping, {});
    assert.equal(taken.exports.count_vowels.codeSamples[0].source, 'return { count: 3 }\n');
    assert.deepEqual(taken.components.schemas.Fruit.enum, ['apple', 'orange', 'passion fruit']);
    assert.equal(taken['x-owner'], 'the platform team');
  });

  it('accepts its own result unchanged', () => {
    for (const schema of [wholeDocument, 'exports: [greet, count]', 'version: v0\nexports: [greet]', '{}']) {
      const once = parseExtensionPointSchema(schema);
      assert.equal(parseExtensionPointSchema(once), once);
      assert.equal(parseExtensionPointSchema(JSON.parse(once)), once);
    }
  });

  it('converts lists of exports and imports to maps', () => {
    assert.equal(
      parseExtensionPointSchema('version: v0\nexports: [greet, count_vowels]'),
      '{"version":"v0","exports":{"greet":{},"count_vowels":{}}}',
    );
    assert.equal(
      parseExtensionPointSchema({ exports: [{ name: 'greet', description: 'says hello' }] }),
      '{"exports":{"greet":{"description":"says hello"}}}',
    );
    assert.equal(
      parseExtensionPointSchema({ version: 'v1-draft', exports: ['a', { name: 'b' }], imports: ['kv'] }),
      '{"version":"v1-draft","exports":{"a":{},"b":{}},"imports":{"kv":{}}}',
    );
  });

  it('adds an empty map to a schema without exports', () => {
    assert.equal(parseExtensionPointSchema({}), '{"exports":{}}');
    assert.equal(parseExtensionPointSchema('exports:\n'), '{"exports":{}}');
    assert.equal(parseExtensionPointSchema('imports:\ncomponents:\n'), '{"imports":{},"exports":{}}');
  });

  it('accepts names of Object.prototype', () => {
    const text = parseExtensionPointSchema('exports: [constructor, __proto__, toString]');
    assert.equal(text, '{"exports":{"constructor":{},"__proto__":{},"toString":{}}}');
    const nested = '{"components":{"schemas":{"__proto__":{"properties":{"__proto__":{"type":"string"}}}}}}';
    assert.equal(parseExtensionPointSchema(nested), nested.replace(/}$/, ',"exports":{}}'));
    assert.match(refusal(JSON.parse('{"__proto__":{"polluted":true}}')), /the schema has no "__proto__"/);
    assert.match(refusal({ exports: { a: { input: { $ref: '#/components/schemas/toString' } } } }), /no component/);
    assert.match(refusal({ exports: { a: { input: { constructor: 1 } } } }), /has no "constructor"/);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  const typeFaults: readonly [type: string, pointer: string, detail: RegExp][] = [
    ['{ type: strnig }', '/type', /expected one of "string", .*found "strnig"; did you mean "string"\?$/],
    ['{ type: 7 }', '/type', /found a number$/],
    ['{ type: string, format: int32 }', '/format', /"string" has no format "int32"; there are "date-time", "byte"$/],
    ['{ type: integer, format: int23 }', '/format', /did you mean "int32"\?$/],
    ['{ type: integer, format: float }', '/format', /"integer" has no format "float"/],
    ['{ type: number, format: byte }', '/format', /there are "float", "double"/],
    ['{ type: boolean, format: byte }', '/format', /"boolean" has no formats/],
    ['{ type: buffer, format: byte }', '/format', /"buffer" has no formats/],
    ['{ enum: [a], format: int32 }', '/format', /"string" has no format/],
    ['{ type: string, format: [byte] }', '/format', /expected text, found a list/],
    ['{ type: string, nullable: yes please }', '/nullable', /expected true or false, found text/],
    ['{ type: string, description: 3 }', '/description', /expected text, found a number/],
    ['{ ref: "#/components/schemas/B" }', '/ref', /did you mean "\$ref"/],
    ['{ description: nothing more }', '', /needs a "type", or one of "\$ref", "enum"/],
    ['{}', '', /needs a "type"/],
    ['~', '', /as an object, found nothing/],
    ['string', '', /as an object, found text/],
    ['{ type: string, items: { type: string } }', '/type', /with "items" the type is "array", not "string"/],
    ['{ type: string, properties: { a: { type: string } } }', '/type', /the type is "object", not "string"/],
    ['{ type: integer, enum: [a] }', '/type', /the type is "string", not "integer"/],
    ['{ type: array, additionalProperties: { type: string } }', '/type', /the type is "object", not "array"/],
    ['{ enum: [a], items: { type: string } }', '/items', /"items" can't be combined with "enum"/],
    [
      '{ properties: {}, additionalProperties: { type: string } }',
      '/additionalProperties',
      /can't be combined with "properties"/,
    ],
    ['{ $ref: "#/components/schemas/B", enum: [a] }', '/enum', /"enum" can't be combined with "\$ref"/],
    ['{ $ref: "#/components/schemas/Bee" }', '/$ref', /there is no component "Bee"$/],
    ['{ $ref: "#/components/schemas/Frut" }', '/$ref', /no component "Frut"; did you mean "Fruit"\?/],
    ['{ $ref: "#/components/schemas/Fruit/enum" }', '/$ref', /no component "Fruit\/enum"/],
    ['{ $ref: Fruit }', '/$ref', /that begins with "#\/components\/schemas\/", found "Fruit"/],
    ['{ $ref: [Fruit] }', '/$ref', /a reference as text, found a list/],
    ['{ enum: [] }', '/enum', /at least one value/],
    ['{ enum: [a, 1] }', '/enum/1', /expected text, found a number/],
    ['{ enum: [a, b, a] }', '/enum/2', /"a" is repeated/],
    ['{ properties: [a] }', '/properties', /a map of fields, found a list/],
    ['{ properties: { "gh ost": { type: string } } }', '/properties/gh ost', /"gh ost" is not an identifier/],
    ['{ properties: { 1st: { type: string } } }', '/properties/1st', /is not an identifier/],
    ['{ properties: { a: { typ: string } } }', '/properties/a/typ', /did you mean "type"/],
    ['{ properties: { a: } }', '/properties/a', /as an object, found nothing/],
    [
      '{ properties: { count: { type: string } }, required: [conut] }',
      '/required/0',
      /no field "conut"; did you mean "count"/,
    ],
    ['{ properties: {}, required: count }', '/required', /a list of field names, found text/],
    ['{ items: [ { type: string } ] }', '/items', /as an object, found a list/],
    ['{ additionalProperties: text }', '/additionalProperties', /as an object, found text/],
    ['{ enum: 7 }', '/enum', /a list of values, found a number/],
    ['{ oneOf: [] , discriminator: { propertyName: kind } }', '/oneOf', /at least one reference/],
    ['{ oneOf: [ { $ref: "#/components/schemas/U" } ] }', '/oneOf', /needs "discriminator"/],
    ['{ oneOf: U, discriminator: { propertyName: kind } }', '/oneOf', /a list of references, found text/],
    ['{ oneOf: [ { type: string } ], discriminator: { propertyName: kind } }', '/oneOf/0', /a variant is a "\$ref"/],
    [
      '{ oneOf: [ { $ref: "#/components/schemas/B" } ], discriminator: { propertyName: kind } }',
      '/oneOf/0',
      /"properties"/,
    ],
    [
      '{ oneOf: [ { $ref: "#/components/schemas/U" } ], discriminator: { propertyName: a } }',
      '/oneOf/0',
      /required field "a"/,
    ],
    [
      '{ oneOf: [ { $ref: "#/components/schemas/U" }, { $ref: "#/components/schemas/V" } ], discriminator: { propertyName: kind } }',
      '/oneOf/1',
      /"U" and "V" have the same kind "u"/,
    ],
    [
      '{ oneOf: [ { $ref: "#/components/schemas/U" } ], discriminator: { propertyNam: kind } }',
      '/discriminator/propertyNam',
      /did you mean "propertyName"/,
    ],
    [
      '{ oneOf: [ { $ref: "#/components/schemas/U" } ], discriminator: { propertyName: a b } }',
      '/discriminator/propertyName',
      /not an identifier/,
    ],
    ['{ items: { items: { type: nubmer } } }', '/items/items/type', /did you mean "number"/],
  ];

  for (const [type, pointer, detail] of typeFaults) {
    it(`refuses the type ${type} as a component, a field, an item and a parameter`, () => {
      const variant = '{ required: [kind], properties: { kind: { enum: [u] }, a: { type: string } } }';
      const others = `B: { type: string }, Fruit: { enum: [apple] }, U: ${variant}, V: ${variant}`;
      for (const [around, place] of [
        [`components: { schemas: { ${others}, A: ${type} } }`, '/components/schemas/A'],
        [
          `components: { schemas: { ${others}, A: { properties: { f: ${type} } } } }`,
          '/components/schemas/A/properties/f',
        ],
        [`components: { schemas: { ${others}, A: { items: ${type} } } }`, '/components/schemas/A/items'],
        [`{ exports: { run: { output: ${type} } }, components: { schemas: { ${others} } } }`, '/exports/run/output'],
      ] as const) {
        const error = refused(around);
        assert.equal(error.pointer, place + pointer, error.message);
        assert.match(error.detail, detail);
        assert.equal(error.position?.line, 1);
      }
    });
  }

  const documentFaults: readonly [document: string, fault: RegExp][] = [
    [
      'version: v2\nexports: {}',
      /^\/version line 1, column 10: expected one of "v0", "v1-draft", found "v2"; did you mean "v0"/,
    ],
    ['version: v1draft', /^\/version .*did you mean "v1-draft"/],
    ['version: 1', /^\/version .*found a number/],
    ['export: [a]', /^\/export line 1, column 1: the schema has no "export"; did you mean "exports"/],
    ['exports: greet', /^\/exports .*found text/],
    ['exports: 7', /^\/exports .*found a number/],
    ['exports: [greet, 7]', /^\/exports\/1 .*name/],
    ['exports: [greet, greet]', /^\/exports\/1 line 1, column 18: .*listed twice/],
    ['exports:\n  - greet\n  - {name: greet}', /^\/exports\/1\/name line 3, column 12: .*listed twice/],
    ['exports: [{description: x}]', /^\/exports\/0 .*"name"/],
    ['exports: [greet-all]', /^\/exports\/0 .*"greet-all" is not an identifier/],
    ['exports:\n  greet all:', /^\/exports\/greet all line 2, column 3: .*is not an identifier/],
    ['exports: {"10": }', /^\/exports\/10 .*not an identifier/],
    ['exports: {a: [1]}', /^\/exports\/a .*an export as an object, found a list/],
    ['exports: {a: {codeSamples: [{lang: go}]}}', /^\/exports\/a\/codeSamples\/0 .*needs "source"/],
    ['exports: {a: {codeSamples: [{source: x}]}}', /^\/exports\/a\/codeSamples\/0 .*needs "lang"/],
    ['exports: {a: {codeSamples: {lang: go}}}', /^\/exports\/a\/codeSamples .*a list of code samples, found an object/],
    ['exports: {a: {codeSamples: [{lang: 1, source: x}]}}', /^\/exports\/a\/codeSamples\/0\/lang .*text/],
    [
      'exports: {a: {input: {type: string, contentType: text/html}}}',
      /^\/exports\/a\/input\/contentType .*found "text\/html"$/,
    ],
    ['exports: {a: {input: {type: string, contentType: aplication/json}}}', /did you mean "application\/json"/],
    ['imports: {a-b: }', /^\/imports\/a-b .*not an identifier/],
    ['imports: {a: {output: {type: strin}}}', /^\/imports\/a\/output\/type .*did you mean "string"/],
    ['imports: 1', /^\/imports .*map of imports/],
    ['components: []', /^\/components .*an object, found a list/],
    ['components: {schema: {}}', /^\/components\/schema .*did you mean "schemas"/],
    ['components: {schemas: [a]}', /^\/components\/schemas .*map of components/],
    ['components: {schemas: {a b: {type: string}}}', /^\/components\/schemas\/a b .*not an identifier/],
    ['version: v0\nexports: [{name: a}]', /^\/exports\/0 .*"v0" allows only names/],
    ['version: v0\nexports: {a: {description: x}}', /^\/exports\/a .*"v0" allows only names/],
    ['version: v0\nexports: [a]\nimports: [b]', /^\/imports line 3, column 1: the schema has no "imports"/],
    ['version: v0\nexports: [a b]', /^\/exports\/0 .*not an identifier/],
    ['version: v0\nexports: 3', /^\/exports .*a list of exports/],
    ['exports: [a]\nimports: [b]', /^\/imports .*has no "imports"/],
  ];

  for (const [document, fault] of documentFaults) {
    it(`refuses ${JSON.stringify(document)}`, () => assert.match(refusal(document), fault));
  }

  const typeWarnings: readonly [type: string, pointer: string, detail: RegExp, result: object][] = [
    ['{ enum: a }', '/enum', /found text: read as \["a"\]$/, { enum: ['a'] }],
    [
      '{ type: string, pattern: x }',
      '/pattern',
      /^a \w+ has no "pattern", so it is ignored$/,
      { type: 'string', pattern: 'x' },
    ],
    [
      '{ type: string, descripton: x }',
      '/descripton',
      /ignored; did you mean "description"\?$/,
      { type: 'string', descripton: 'x' },
    ],
    [
      '{ type: array, item: { type: string } }',
      '/item',
      /did you mean "items"/,
      { type: 'array', item: { type: 'string' } },
    ],
    ['{ type: string, required: true }', '/required', /belongs to the object that has the field/, { type: 'string' }],
    ['{ type: object, required: [a] }', '/required', /needs "properties", so it is ignored$/, { type: 'object' }],
    ['{ additionalProperties: true }', '/additionalProperties', /the type of a map's values/, { type: 'object' }],
    [
      '{ properties: {}, additionalProperties: false }',
      '/additionalProperties',
      /so it is ignored$/,
      { properties: {} },
    ],
    [
      '{ $ref: "#/components/schemas/B", type: object }',
      '/type',
      /the component has the "type"/,
      { $ref: '#/components/schemas/B' },
    ],
    [
      '{ type: string, x-tenon-optinal: 1 }',
      '/x-tenon-optinal',
      /so it is ignored/,
      { type: 'string', 'x-tenon-optinal': 1 },
    ],
    ['{ type: object, discriminator: kind }', '/discriminator', /needs "oneOf", so it is ignored$/, { type: 'object' }],
    [
      '{ oneOf: [ { $ref: "#/components/schemas/U" } ], discriminator: kind }',
      '/discriminator',
      /expected an object, found text: read as \{ propertyName: "kind" \}$/,
      { oneOf: [{ $ref: '#/components/schemas/U' }], discriminator: { propertyName: 'kind' } },
    ],
    [
      '{ oneOf: [ { $ref: "#/components/schemas/U" } ], discriminator: { propertyName: kind, mapping: {} } }',
      '/discriminator/mapping',
      /a discriminator has no "mapping", so it is ignored/,
      { oneOf: [{ $ref: '#/components/schemas/U' }], discriminator: { propertyName: 'kind', mapping: {} } },
    ],
  ];
  for (const [type, pointer, detail, result] of typeWarnings) {
    it(`accepts ${type} with a warning`, () => {
      const others = 'B: { type: string }, U: { required: [kind], properties: { kind: { enum: [u] } } }';
      const { json, warnings } = readExtensionPointSchema(
        `exports: {}\ncomponents: { schemas: { A: ${type}, ${others} } }`,
      );
      assert.equal(warnings[0]?.pointer, `/components/schemas/A${pointer}`);
      assert.match(warnings[0]?.detail ?? '', detail);
      assert.equal(warnings[0]?.position?.line, 2);
      assert.deepEqual(JSON.parse(json).components.schemas.A, result);
      assert.equal(parseExtensionPointSchema(json), json);
    });
  }

  it('warns of keys of functions that other tools ignore', () => {
    const schema = { exports: { a: { inputs: 1, contentType: 'x', 'x-tenon-optional': true }, b: { examples: [] } } };
    const { warnings } = readExtensionPointSchema(schema);
    assert.deepEqual(
      warnings.map(({ detail }) => detail),
      [
        'an export has no "inputs", so it is ignored; did you mean "input"?',
        'an export has no "contentType", so it is ignored; it belongs to an "input" or "output"',
        'an export has no "examples", so it is ignored; there are "description", "input", "output", "codeSamples", "x-tenon-optional"',
      ],
    );
    assert.match(refusal({ exports: { a: { 'x-tenon-optional': 'yes' } } }), /expected true or false, found text/);
    const onImport = readExtensionPointSchema({ exports: {}, imports: { a: { 'x-tenon-optional': true } } });
    assert.match(onImport.warnings[0]?.detail ?? '', /an import has no "x-tenon-optional", so it is ignored/);
  });

  it('gives at most twenty warnings, and none of a schema with faults', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key${at}`, at]));
    const { warnings } = readExtensionPointSchema({ exports: { a: many } });
    assert.equal(warnings.length, 20);
    assert.deepEqual(faultsOf({ exports: { a: { ...many, input: {} } } }).length, 1);
  });

  it('does not report consequences of another fault', () => {
    for (const type of ['{ type: strnig, format: byte, items: { type: string } }', '{ typ: string, nullable: true }']) {
      assert.equal(faultsOf(`components: { schemas: { A: ${type} } }`).length, 1, type);
    }
  });

  it('accepts a content type in any notation', () => {
    for (const contentType of ['Text/Plain;charset=UTF-8', 'text/plain ;  charset=utf-8', 'APPLICATION/JSON']) {
      parseExtensionPointSchema({ exports: { a: { input: { type: 'string', contentType } } } });
    }
  });

  it('reports components that only reference each other, once for each cycle', () => {
    const schemas = (entries: Record<string, string>) => ({
      components: {
        schemas: Object.fromEntries(
          Object.entries(entries).map(([name, to]) => [name, { $ref: `#/components/schemas/${to}` }]),
        ),
      },
    });
    const faults = faultsOf(schemas({ In: 'A', A: 'B', B: 'C', C: 'A', Self: 'Self' }));
    assert.equal(faults.length, 2);
    assert.match(faults[0] ?? '', /^\/components\/schemas\/A\/\$ref .*In → A → B → C → A$/);
    assert.match(faults[1] ?? '', /^\/components\/schemas\/Self\/\$ref .*Self → Self$/);
  });

  it('accepts a recursive component', () => {
    parseExtensionPointSchema(
      'components: {schemas: {Tree: {properties: {kids: {items: {$ref: "#/components/schemas/Tree"}}}}}}',
    );
  });

  it('reports several faults in the order of the text, each with its position', () => {
    const text = [
      'version: v1-draft',
      'exports:',
      '  greet:',
      '    input:',
      '      typ: string',
      '    output:',
      '      $ref: "#/components/schemas/Reprt"',
      '      contentType: application/jsn',
      'components:',
      '  schemas:',
      '    Report:',
      '      required: [cuont]',
      '      properties:',
      '        count: &count',
      '          type: integer',
      '          format: int33',
      '        other: *count',
    ].join('\n');
    const words = 'did you mean';
    assert.deepEqual(faultsOf(text), [
      `/exports/greet/input/typ line 5, column 7: a parameter has no "typ"; ${words} "type"?`,
      `/exports/greet/output/$ref line 7, column 13: there is no component "Reprt"; ${words} "Report"?`,
      `/exports/greet/output/contentType line 8, column 20: expected one of "text/plain; charset=utf-8", "application/json", "application/x-binary", found "application/jsn"; ${words} "application/json"?`,
      `/components/schemas/Report/required/0 line 12, column 18: there is no field "cuont"; ${words} "count"?`,
      `/components/schemas/Report/properties/count/format line 16, column 19: the type "integer" has no format "int33"; ${words} "int32"?`,
      `/components/schemas/Report/properties/other/format line 16, column 19: the type "integer" has no format "int33"; ${words} "int32"?`,
    ]);
    assert.match(refused(text).message, /^line 5, column 7: .*\(and 5 more\)$/);
  });

  it('reports faults of an object without positions, with escaped pointers', () => {
    const error = refused({ exports: { 'a/b~c': 1 } });
    assert.equal(error.pointer, '/exports/a~1b~0c');
    assert.equal(error.position, undefined);
    assert.equal(error.message, `${error.detail} (and 1 more)`);
  });

  it('stops at twenty faults', () => {
    const many = `exports:\n${Array.from({ length: 500 }, (_, at) => `  a-${at}: {}`).join('\n')}`;
    const { faults } = refused(many);
    assert.equal(faults.length, 20);
    assert.deepEqual(faults.at(-1)?.position, { line: 21, column: 3 });
    assert.equal(refused({ exports: Array.from({ length: 500 }, (_, at) => at) }).faults.length, 20);
    const syntax = Array.from({ length: 100 }, () => 'a: a: a').join('\n');
    assert.ok(refused(syntax).faults.length <= 20);
    const twice = Array.from({ length: 100 }, () => 'a: 1').join('\n');
    assert.equal(refused(twice).faults.length, 20);
  });

  it('reports the position of a syntax error', () => {
    assert.match(refusal('exports:\n  greet: [\n'), /line \d+, column \d+/);
    assert.match(refusal('{"exports": {"a": 1, "a": 2}}'), /line 1, column 22: the key "a" is repeated.*unique/i);
    assert.match(refusal('exports:\n  a: 1\n  1: 2\n  "1": 3\n'), /line 4, column 3: .*unique/i);
    assert.match(refusal('exports:\n\tgreet:\n'), /line 2, column \d+/);
    assert.match(refusal('exports: {}\n---\nexports: {}\n'), /line 2, column \d+/);
  });

  const places: readonly [text: string, line: number, column: number, detail: RegExp][] = [
    ['\n\n- a', 3, 1, /mapping at the top/],
    ['exports:\n  greet: [\n', 3, 1, /^Flow sequence .* end with a \]$/],
    ['x-a: 1\n? [a]\n: 1\n? [b]\n: 2', 1, 1, /a key that is not a string/],
    ['exports:\n  a:\n    input:\n', 3, 5, /found nothing/],
    ['exports:\n  a:\n    input: ~\n', 3, 12, /found nothing/],
    ['exports:\n  a:\n    input: {type: string, description: }\n', 3, 27, /expected text, found nothing/],
    ['exports:\r\n  a:\r\n    input: 1\r\n', 3, 12, /found a number/],
    ['exports: {a: {input: {type: "🦀", nullable: 1}}}', 1, 29, /found "🦀"/],
    ['exports: &e [a-b]\nimports: *e', 1, 14, /identifier/],
    [`exports: &e [a]\nx-b: [${'*e,'.repeat(200)}]`, 2, 7, /too many aliases/],
    [Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`).join('\n'), 1429, 7, /10000 tokens/],
  ];
  for (const [text, line, column, detail] of places) {
    it(`finds line ${line}, column ${column} of ${JSON.stringify(text.slice(0, 50))}`, () => {
      const error = refused(text);
      assert.deepEqual(error.position, { line, column });
      assert.match(error.detail, detail);
    });
  }

  it('gives the position of a fault as numbers too', () => {
    assert.deepEqual(refused('exports:\n  a: 1\n  a: 2\n').position, { line: 3, column: 3 });
  });

  it('rejects texts that are not a mapping', () => {
    for (const schema of ['', 'just text', '- a\n- b', '42', 'null']) assert.match(refusal(schema), /mapping/, schema);
    assert.match(refusal([]), /expected an object, found a list/);
    assert.match(refusal(null), /expected an object, found nothing/);
  });

  it("rejects values that JSON can't represent", () => {
    assert.match(
      refusal('exports: {}\nx-limit: .inf'),
      /\/x-limit line 2, column 10: Infinity can't be represented in JSON/,
    );
    assert.match(refusal('exports: {}\n? [a, b]\n: c'), /key/);
  });

  it('rejects hostile nesting, size and aliases fast', () => {
    assert.match(refusal(`a: ${'['.repeat(100)}${']'.repeat(100)}`), /line 1, column \d+: .*nested/);
    assert.match(refusal({ a: Array.from({ length: 20_001 }, () => 0) }), /entries/);
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [at, name] of [...'bcdefghi'].entries()) {
      const before = 'abcdefghi'[at];
      bomb.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`);
    }
    assert.match(refusal(bomb.join('\n')), /line \d+, column \d+: .*(aliases|entries)/);
  });

  it('truncates long names, and does not search for similar ones', () => {
    const long = 'x'.repeat(100_000);
    for (const schema of [
      { [long]: 1 },
      { exports: { [`${long}-`]: {} } },
      { exports: { a: { input: { $ref: `#/components/schemas/${long}` } } } },
      { exports: { a: { input: { type: long } } } },
      { components: { schemas: { a: { enum: [long, long] } } } },
    ]) {
      assert.ok(refused(schema).detail.length < 400);
    }
  });

  it('finds the nearest of very many names fast', () => {
    const schemas: Record<string, unknown> = {};
    for (let at = 0; at < 9_000; at++) schemas[`component${at}${'y'.repeat(40)}`] = { type: 'string' };
    const exports: Record<string, unknown> = {};
    for (let at = 0; at < 20; at++) {
      exports[`e${at}`] = { input: { $ref: `#/components/schemas/componant${at}${'y'.repeat(40)}` } };
    }
    const startMs = performance.now();
    assert.equal(refused({ exports, components: { schemas } }).faults.length, 20);
    assert.ok(performance.now() - startMs < 5_000);
  });

  it('follows a long chain of references once', () => {
    const schemas: Record<string, unknown> = { c0: { type: 'string' } };
    for (let at = 1; at < 6_000; at++) schemas[`c${at}`] = { $ref: `#/components/schemas/c${at - 1}` };
    const startMs = performance.now();
    parseExtensionPointSchema({ components: { schemas } });
    assert.ok(performance.now() - startMs < 5_000);
  });

  it('rejects a text with too many tokens or too deep nesting, with a message', () => {
    const many = Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`).join('\n');
    assert.match(refusal(many), /line 1\d{3}, column \d+: .*10000 tokens/);
    assert.match(refusal('['.repeat(20_000)), /nested more than 64 deep/);
    assert.match(refusal('- '.repeat(20_000)), /nested more than 64 deep/);
    assert.match(refusal('? '.repeat(4_000)), /nested more than 64 deep/);
    assert.match(
      refusal(Array.from({ length: 600 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')),
      /nested more than 64 deep/,
    );
  });

  it('counts tokens and nesting before the parser sees the text', () => {
    // The parser would say of each that it is no YAML; the count comes first.
    assert.match(refusal(`a: ]${'['.repeat(70)}`), /line 1, column \d+: nested more than 64 deep$/);
    assert.match(refusal(`a: ]\n${'- '.repeat(300)}`), /line 2, column \d+: nested more than 64 deep$/);
    assert.match(refusal(`a: ]\n${'k: 1\n'.repeat(9_000)}`), /10000 tokens$/);
  });

  it('accepts a text with the maximum nesting depth', () => {
    const deep = (open: string, close: string) => `x-a: ${open.repeat(62)}1${close.repeat(62)}`;
    for (const text of [deep('[', ']'), deep('{a: ', '}'), `x-a:\n  ${'- '.repeat(62)}1`])
      parseExtensionPointSchema(text);
    const block = Array.from({ length: 62 }, (_, at) => `${'  '.repeat(at)}x-${at}: &a${at} !!map`).join('\n');
    parseExtensionPointSchema(`${block}\n${'  '.repeat(62)}x-last: 1`);
  });

  it('accepts any text or rejects it with positions, and accepts its own results', () => {
    const random = createRandom(5);
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ':',
      ' ',
      '\n',
      '\t',
      '-',
      '&a',
      '*a',
      '"',
      "'",
      '|',
      '#',
      '?',
      '~',
      'x-',
      '---\n',
      '$ref',
    ];
    let taken = 0;
    for (let round = 0; round < 600; round++) {
      const at = random.below(wholeDocument.length);
      const piece = random.pick(pieces);
      const text = wholeDocument.slice(0, at) + piece + wholeDocument.slice(at + random.below(4));
      try {
        const json = parseExtensionPointSchema(text);
        assert.equal(parseExtensionPointSchema(json), json);
        taken++;
      } catch (error) {
        assert.ok(error instanceof SchemaError, `${error} of ${text}`);
        for (const { position, detail } of error.faults) {
          const { line = 0, column = 0 } = position ?? {};
          assert.ok(line >= 1 && column >= 1 && line <= text.split('\n').length, `${line}:${column} ${detail}`);
        }
      }
    }
    assert.ok(taken > 30 && taken < 570, `${taken} were taken`);
  });

  it('rejects a cyclic text', () => {
    assert.match(refusal('x-a: &a\n  self: *a\n'), /nested/);
  });
});
