import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeProgram } from '../../../test/helpers/call-trees/make-program.ts';
import { volume } from '../../../test/helpers/volume.ts';
import regressions from './regressions.json' with { type: 'json' };
import { checkCallTree } from './support/check-call-tree.ts';
import { checkSkippedCalls } from './support/check-skipped-calls.ts';

const programCount = volume(400, 4_000);

describe('instrument() on programs whose events are known', () => {
  it(`reports exactly the events of ${programCount} programs, which end as before`, (test) => {
    let calls = 0;
    let events = 0;
    for (let seed = 1; seed <= programCount; seed++) {
      const tally = checkCallTree(seed);
      calls += tally.calls;
      events += tally.events;
    }
    test.diagnostic(`${calls} calls from the host, ${events} events`);
    assert.ok(events > 50 * programCount, `${events} events are too few to show anything`);
  });

  it('reports the same if the functions can skip calls, and nothing makes them', () => {
    for (let seed = 1; seed <= volume(40, 2_000); seed++) checkCallTree(seed, { adaptive: true });
  });

  it('reports some of the calls, from start to end, if functions skip others', (test) => {
    let skipped = 0;
    for (let seed = 1; seed <= volume(60, 3_000); seed++) skipped += checkSkippedCalls(seed);
    test.diagnostic(`${skipped} calls were skipped`);
    assert.ok(skipped > 200, `${skipped} are too few to show anything`);
  });

  for (const seed of regressions.callTrees) {
    it(`still holds for program ${seed}, which failed once`, () => {
      checkCallTree(seed);
    });
  }
});

describe('makeProgram()', () => {
  it('uses every form of call, exit, statement and handler', () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 300; seed++) collect(makeProgram(seed), seen);
    const wanted = [
      ...['generation none', 'generation tags', 'generation legacy', 'generation exnref'],
      ...['path direct', 'path table', 'path ref', 'path global'],
      ...['do call', 'do block', 'do break', 'do when', 'do grow', 'do stay', 'do try', 'do delegate'],
      ...['do catchToFunction', 'do rethrow', 'do exit'],
      ...['by return', 'by br', 'by br_if', 'by br_table', 'by br_on_null', 'by br_on_non_null'],
      ...['by br_on_cast', 'by br_on_cast_fail', 'by tail', 'by trap', 'by throw'],
      ...['trap unreachable', 'trap division', 'trap nullCall', 'trap nullTailCall'],
      ...['act throw', 'act grow', 'act enter', 'tag all', 'tag host'],
      ...['visibility hidden', 'visibility exported', 'visibility imported', 'is64 true', 'isShared true'],
    ];
    assert.deepEqual(
      wanted.filter((form) => !seen.has(form)),
      [],
    );
  });
});

/** Every `key value` of text or a flag that occurs anywhere. */
function collect(value: unknown, seen: Set<string>): void {
  for (const [key, item] of Object.entries(value as object)) {
    if (typeof item === 'object' && item !== null) collect(item, seen);
    else if (typeof item === 'string' || typeof item === 'boolean') seen.add(`${key} ${item}`);
  }
}
