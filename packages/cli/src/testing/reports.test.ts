import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SimulationReport } from '@tenon/protocol';
import { createStyle } from '../text.ts';
import { formatJunit } from './junit.ts';
import { formatSimulation } from './show-report.ts';
import { formatTap } from './tap.ts';
import { type TestRun, verdictOf } from './test-run.ts';

const excerpt = (text: string) => ({ text, size: text.length, sha256: 'x' });

const vowels: SimulationReport = {
  name: 'vowels',
  revision: null,
  verdict: 'failed',
  detail: '1 of 2 assertions failed',
  assertions: [
    { group: null, name: 'counts', passed: true, reason: null },
    { group: 'keeps state', name: 'total is 8', passed: false, reason: 'expected 8\ngot 4' },
  ],
  calls: [
    {
      export: 'count_vowels',
      input: excerpt('some input'),
      output: excerpt('{"count":4}'),
      error: null,
      timeNano: 1_234_567,
      memoryPages: 2,
      functionCalls: 12,
      hostCalls: [{ name: 'log', args: ['hello', { i64: '9007199254740993' }], returns: 0 }],
    },
    {
      export: 'fail',
      input: excerpt(''),
      output: null,
      error: 'unreachable',
      timeNano: 1000,
      memoryPages: null,
      functionCalls: 0,
      hostCalls: [],
    },
  ],
  log: [{ from: 'plugin', level: 'info', text: 'counted' }],
  durationMs: 12.345,
  isCut: true,
};

const late: SimulationReport = {
  ...vowels,
  name: 'late',
  verdict: 'timed_out',
  detail: 'It took longer than 10s.',
  assertions: [],
  calls: [],
  log: [],
  isCut: false,
};

/** What a plugin or a test module may say. */
const evil = 'a\u001b[2J<b "c"> & \'d\' # SKIP \\ \n1..0\nBail out! \u202e\0\ufffe\ud800 ]]>';
const hostile: SimulationReport = {
  ...vowels,
  name: evil,
  detail: evil,
  assertions: [{ group: evil, name: evil, passed: false, reason: evil }],
  log: [{ from: 'plugin', level: 'info', text: evil }],
};

function runOf(...simulations: SimulationReport[]): TestRun {
  return { verdict: verdictOf(simulations), file: 'a.wasm', contentAddress: 'x', simulations };
}

describe('verdictOf()', () => {
  it('is the worst, and none without simulations', () => {
    const of = (...verdicts: SimulationReport['verdict'][]) => verdictOf(verdicts.map((verdict) => ({ verdict })));
    assert.equal(of(), 'none_configured');
    assert.equal(of('passed', 'passed'), 'passed');
    assert.equal(of('passed', 'errored'), 'errored');
    assert.equal(of('errored', 'timed_out'), 'timed_out');
    assert.equal(of('timed_out', 'failed', 'errored'), 'failed');
  });
});

describe('formatTap()', () => {
  it('writes a subtest per simulation', () => {
    assert.equal(
      formatTap(runOf(vowels, late)),
      `TAP version 14
# Subtest: vowels
    ok 1 - counts
    not ok 2 - keeps state: total is 8
      ---
      message: "expected 8\\ngot 4"
      ...
    1..2
not ok 1 - vowels
  ---
  verdict: "failed"
  duration_ms: 12.345
  ...
not ok 2 - late
  ---
  verdict: "timed_out"
  message: "It took longer than 10s."
  duration_ms: 12.345
  ...
1..2
`,
    );
  });

  it('keeps texts within their lines', () => {
    const lines = formatTap(runOf(hostile)).split('\n');
    assert.deepEqual(
      lines.filter((line) => !line.includes('message: ') && /^ *(1\.\.|Bail)|(?<!\\)# SKIP/.test(line)),
      ['    1..1', '1..1'],
    );
    assert.ok(!/[\0-\x09\x0b-\x1f\u202e]/.test(lines.join('')));
  });

  it('has no tests without simulations', () => assert.equal(formatTap(runOf()), 'TAP version 14\n1..0\n'));
});

describe('formatJunit()', () => {
  it('writes a suite per simulation, and a case for what no assertion says', () => {
    assert.equal(
      formatJunit(runOf(vowels, late, { ...late, name: 'broken', verdict: 'errored', detail: null })),
      `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="tenon plugin test" tests="4" failures="2" errors="1" skipped="0" time="0.037035">
  <testsuite name="vowels" tests="2" failures="1" errors="0" skipped="0" time="0.012345">
    <testcase name="counts" classname="vowels"/>
    <testcase name="total is 8" classname="vowels.keeps state">
      <failure message="expected 8\\u{a}got 4" type="assertion">expected 8
got 4</failure>
    </testcase>
    <system-out>plugin info: counted</system-out>
  </testsuite>
  <testsuite name="late" tests="1" failures="1" errors="0" skipped="0" time="0.012345">
    <testcase name="late" classname="late" time="0.012345">
      <failure message="It took longer than 10s." type="timed_out">It took longer than 10s.</failure>
    </testcase>
  </testsuite>
  <testsuite name="broken" tests="1" failures="0" errors="1" skipped="0" time="0.012345">
    <testcase name="broken" classname="broken" time="0.012345">
      <error message="The simulation errored." type="errored">The simulation errored.</error>
    </testcase>
  </testsuite>
</testsuites>
`,
    );
  });

  it('escapes texts, and what XML can’t have', () => {
    const xml = formatJunit(runOf(hostile));
    assert.ok(!/[\0-\x09\x0b-\x1f\u202e\ufffe\ud800]/.test(xml));
    const tags = xml.match(/<[^>]*>/g) ?? [];
    for (const tag of tags) assert.match(tag, /^<(\?xml .*\?|\/?[a-z-]+( [a-z]+="[^"<]*")*\/?)>$/);
    const withoutTags = tags.reduce((text, tag) => text.replace(tag, ''), xml);
    assert.ok(!/[<>"]|&(?!(amp|lt|gt|quot);)/.test(withoutTags), withoutTags);
  });
});

describe('formatSimulation()', () => {
  const plain = createStyle(false);

  it('shows groups, reasons, calls, host calls, and the log of what failed', () => {
    assert.equal(
      formatSimulation(vowels, plain),
      `✖ vowels failed (12 ms, 2 assertions)
  ✔ counts
  keeps state
    ✖ total is 8
        expected 8
        got 4
  calls
    count_vowels("some input") → "{\\"count\\":4}" 1.2 ms
      host log("hello", 9007199254740993) → 0
    fail("") failed 0.0 ms
      unreachable
  log
    plugin info: counted
  The report was too large: parts of it are left out.
`,
    );
  });

  it('shows assertions alone of what passed', () => {
    const passed = { ...vowels, verdict: 'passed', assertions: vowels.assertions.slice(0, 1), isCut: false } as const;
    assert.equal(formatSimulation(passed, plain), '✔ vowels (12 ms, 1 assertion)\n  ✔ counts\n');
    assert.equal(formatSimulation(late, plain), '✖ late timed out (12 ms, 0 assertions)\n  It took longer than 10s.\n');
  });

  it('escapes control characters', () => {
    assert.ok(!/[\0-\x09\x0b-\x1f\u202e]/.test(formatSimulation(hostile, plain)));
  });
});
