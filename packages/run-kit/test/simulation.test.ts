import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { defaultSimulationLimits, runSimulation } from '../src/simulation/index.ts';

const greet = readFileSync(new URL('../../server/sample/greet.wasm', import.meta.url));

describe('runSimulation() with fixtures', () => {
  it('passes and fails with assertions by name', () => {
    const report = runSimulation({
      plugin: greet,
      simulation: {
        name: 'greetings',
        revision: 3,
        fixtures: [
          { name: 'Ada', export: 'greet', input: 'Ada', expect: { equals: 'Hello, Ada!' } },
          { export: 'count_vowels', input: 'aeiou', expect: { jsonSubset: { count: 5 } } },
          { export: 'count_vowels', input: 'xyz', expect: { jsonSubset: { count: 1 } } },
          { export: 'missing', expect: { fails: 'no function' } },
        ],
      },
      schemaJson: null,
      limits: defaultSimulationLimits,
    });
    assert.equal(report.verdict, 'failed');
    assert.equal(report.detail, '1 of 4 assertions failed');
    assert.deepEqual(
      report.assertions.map(({ group, name, passed, reason }) => [group, name, passed, reason]),
      [
        ['Ada', 'equals', true, null],
        ['count_vowels 2', 'jsonSubset', true, null],
        ['count_vowels 3', 'jsonSubset', false, '/count: expected 1, found 0'],
        ['missing 4', 'fails', true, null],
      ],
    );
    const [first] = report.calls;
    assert.deepEqual(first?.output, {
      text: 'Hello, Ada!',
      size: 11,
      sha256: createHash('sha256').update('Hello, Ada!').digest('base64url'),
    });
    assert.ok((first?.functionCalls ?? 0) > 0);
    assert.equal(report.calls[3]?.error, 'the plugin exports no function "missing"');
  });
});
