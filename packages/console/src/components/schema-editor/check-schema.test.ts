import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkSchema, schemaText, type TextFault } from './check-schema.ts';

describe('checkSchema()', () => {
  it('gives the schema of YAML and of JSON, with exports as a map', () => {
    const schema = { exports: { greet: {} } };
    assert.deepEqual(checkSchema('exports: [greet]\n'), { isSound: true, schema, warnings: [] });
    assert.deepEqual(checkSchema('{"exports": {"greet": {}}}'), { isSound: true, schema, warnings: [] });
  });

  it('says of every fault where it is', () => {
    const text = 'exports:\n  greet:\n    description: 7\n    input: {type: text}\n';
    const faults = faultsOf(text);
    assert.deepEqual(
      faults.map(({ from, to, line, column }) => [text.slice(from, to), line, column]),
      [
        ['7', 3, 18],
        ['text}', 4, 19],
      ],
    );
    assert.match(faults[0]?.detail ?? '', /expected text, found a number/);
  });

  it('says of every warning where it is', () => {
    const text = 'exports:\n  greet:\n    descripton: Greets.\n';
    const checked = checkSchema(text);
    assert.ok(checked.isSound);
    const [warning, ...others] = checked.warnings;
    assert.deepEqual([warning?.severity, warning?.line, warning?.column, others.length], ['warning', 3, 5, 0]);
    assert.equal(text.slice(warning?.from, warning?.to), 'descripton');
    assert.match(warning?.detail ?? '', /did you mean "description"/);
  });

  it('counts lines of any kind of ending as the parser does', () => {
    const text = 'version: v1-draft\r\nexports:\r\n  greet: 7\r\n';
    assert.deepEqual(
      faultsOf(text).map(({ from, line }) => [text.slice(from, from + 1), line]),
      [['7', 3]],
    );
  });

  it('never points outside of the text', () => {
    for (const text of [
      '',
      '- a\n- b\n',
      '7',
      'a: [',
      'a: "',
      '{',
      'a:\n\t- b',
      'exports: 7',
      '%',
      'a: *x',
      '? [a]\n: b',
    ]) {
      for (const { from, to } of faultsOf(text)) {
        assert.ok(from >= 0 && from <= to && to <= text.length, `${JSON.stringify(text)}: ${from} to ${to}`);
      }
    }
  });
});

describe('schemaText()', () => {
  it('is read back as the same schema', () => {
    const schema = {
      version: 'v1-draft',
      exports: {
        yes: { description: 'Two\nlines, and # no comment' },
        n: { input: { type: 'string', enum: ['true', '1', '~'], nullable: true } },
      },
      components: { schemas: { T: { type: 'object', properties: { constructor: { type: 'number' } } } } },
      'x-list': [1, 'true', false, null, { deep: ['~'] }],
    };
    assert.deepEqual(checkSchema(schemaText(schema)), { isSound: true, schema, warnings: [] });
  });

  it('repeats what stands there twice', () => {
    const same = { type: 'string' };
    assert.doesNotMatch(schemaText({ exports: { f: { input: same, output: same } } }), /[&*]/);
  });
});

function faultsOf(text: string): readonly TextFault[] {
  const checked = checkSchema(text);
  assert.ok(!checked.isSound, text);
  assert.ok(checked.faults.length > 0, text);
  return checked.faults;
}
