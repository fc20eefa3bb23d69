import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outlineOf } from './outline.ts';

const plainValue = { contentType: undefined, description: undefined, values: [], fields: [], remarks: [] };

describe('outlineOf()', () => {
  it('tells exports with their inputs and outputs', () => {
    const { exports } = outlineOf({
      exports: {
        greet: { description: 'Greets.', input: { type: 'string', contentType: 'text/plain' }, output: 'string' },
        ping: {},
      },
    });
    assert.deepEqual(exports, [
      {
        name: 'greet',
        description: 'Greets.',
        input: { ...plainValue, type: 'string', contentType: 'text/plain' },
        output: { ...plainValue, type: 'string' },
        samples: [],
        remarks: [],
      },
      { name: 'ping', description: undefined, input: undefined, output: undefined, samples: [], remarks: [] },
    ]);
  });

  it('names types as people say them', () => {
    const typeOf = (input: unknown) => outlineOf({ exports: { f: { input } } }).exports[0]?.input?.type;
    assert.equal(typeOf({ $ref: '#/components/schemas/Fruit' }), 'Fruit');
    assert.equal(typeOf({ type: 'array', items: { $ref: '#/components/schemas/Fruit' } }), 'list of Fruit');
    assert.equal(typeOf({ items: { type: 'array', items: 'number' } }), 'list of list of number');
    assert.equal(typeOf({ type: ['string', 'null'] }), 'string or null');
    assert.equal(typeOf({ type: 'string', format: 'date', nullable: true }), 'string (date) or null');
    assert.equal(typeOf({ properties: {} }), 'object');
    assert.equal(typeOf({ additionalProperties: { type: 'integer', format: 'int64' } }), 'map of integer (int64)');
    assert.equal(typeOf({ enum: ['a'] }), 'string');
    assert.equal(typeOf({}), 'any');
  });

  it('tells fields, and which of them are required in either way', () => {
    const input = {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' }, b: { type: 'number', required: true }, c: { type: 'boolean' } },
    };
    const fields = outlineOf({ exports: { f: { input } } }).exports[0]?.input?.fields ?? [];
    assert.deepEqual(
      fields.map(({ name, isRequired, value }) => [name, isRequired, value.type, value.remarks]),
      [
        ['a', true, 'string', []],
        ['b', true, 'number', []],
        ['c', false, 'boolean', []],
      ],
    );
  });

  it('tells what lists and maps are of', () => {
    const item = { type: 'object', properties: { id: { type: 'string' } }, description: 'A row.' };
    for (const [input, type] of [
      [{ type: 'array', items: item }, 'list of object'],
      [{ type: 'object', additionalProperties: item }, 'map of object'],
    ] as const) {
      const outline = outlineOf({ exports: { f: { input } } }).exports[0]?.input;
      assert.equal(outline?.type, type);
      assert.equal(outline?.description, 'A row.');
      assert.deepEqual(outline?.fields[0]?.name, 'id');
      assert.deepEqual(outline?.remarks, []);
    }
  });

  it('shows code samples by their label, else by their language', () => {
    const codeSamples = [
      { lang: 'rust', source: 'fn f() {}', label: 'In Rust' },
      { lang: 'go', source: 'func f() {}' },
    ];
    assert.deepEqual(outlineOf({ exports: { f: { codeSamples } } }).exports[0]?.samples, [
      { title: 'In Rust', source: 'fn f() {}' },
      { title: 'go', source: 'func f() {}' },
    ]);
  });

  it('leaves nothing out that it has no place for', () => {
    const { remarks, exports, types } = outlineOf({
      version: 2,
      limits: { timeoutMs: 50 },
      exports: { f: { since: '1.2', input: { type: 'string', enum: ['a', 'b'] } }, g: 7 },
      components: { schemas: { T: { type: 'object', additionalProperties: false } }, examples: [1] },
    });
    assert.deepEqual(remarks, [
      { name: 'version', value: 2 },
      { name: 'components.examples', value: [1] },
      { name: 'limits', value: { timeoutMs: 50 } },
    ]);
    assert.deepEqual(exports[0]?.remarks, [{ name: 'since', value: '1.2' }]);
    assert.deepEqual(exports[0]?.input?.values, ['a', 'b']);
    assert.deepEqual(exports[1]?.remarks, [{ name: 'value', value: 7 }]);
    assert.deepEqual(types[0]?.value.remarks, [{ name: 'additionalProperties', value: false }]);
  });

  it('takes names that mean something to JavaScript as names', () => {
    const schema: unknown = JSON.parse('{"exports":{"__proto__":{"description":"x"},"constructor":{}},"toString":1}');
    const { exports, remarks } = outlineOf(schema);
    assert.deepEqual(
      exports.map(({ name }) => name),
      ['__proto__', 'constructor'],
    );
    assert.deepEqual(remarks, [{ name: 'toString', value: 1 }]);
  });

  it('takes anything for a schema', () => {
    for (const nothing of [undefined, null, 7, 'text', [], {}]) {
      assert.deepEqual(outlineOf(nothing).exports, [], JSON.stringify(nothing));
    }
    assert.deepEqual(
      outlineOf({ imports: ['log', { name: 'now' }, 7] }).imports.map(({ name }) => name),
      ['log', 'now'],
    );
  });

  it('tells what is nested too deep as it stands', () => {
    const nest = (depth: number): object =>
      depth === 0 ? { type: 'string' } : { type: 'object', properties: { next: nest(depth - 1) } };
    let value = outlineOf({ exports: { f: { input: nest(10) } } }).exports[0]?.input;
    let depth = 0;
    while (value?.fields[0] !== undefined) {
      value = value.fields[0].value;
      depth += 1;
    }
    assert.equal(depth, 4);
    assert.equal(value?.remarks[0]?.name, 'properties');
  });
});
