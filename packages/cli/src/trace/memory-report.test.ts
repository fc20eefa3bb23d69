import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HeapPath, HeapProfile, HeapTotals } from '@tenon/trace';
import { createStyle } from '../text.ts';
import { formatMemory, memoryAsJson } from './memory-report.ts';

const style = createStyle(false);

function pathOf(names: readonly string[], allocations: number, allocatedBytes: number, liveBytes = 0): HeapPath {
  const path = names.map((name, index) => ({ index, rawName: name, name }));
  return { path, allocations, allocatedBytes, liveAllocations: liveBytes > 0 ? 1 : 0, liveBytes };
}

function heapOf(paths: readonly HeapPath[], more: Partial<HeapProfile> = {}): HeapProfile {
  const sum = (of: (path: HeapPath) => number) => paths.reduce((total, path) => total + of(path), 0);
  const totals: HeapTotals = {
    allocations: sum((path) => path.allocations),
    allocatedBytes: sum((path) => path.allocatedBytes),
    liveAllocations: sum((path) => path.liveAllocations),
    liveBytes: sum((path) => path.liveBytes),
    frees: 3,
    freedBytes: 30,
    failures: 0,
    unknownFrees: 0,
    peakBytes: 2_048,
    peakTimeUnixNano: 1_790_000_000_000_000_001n,
  };
  return { ...totals, paths, instances: [totals], dropped: { allocations: 0, paths: 0 }, ...more };
}

const paths = [
  pathOf(['run', 'parse', 'malloc'], 2, 200, 100),
  pathOf(['run', 'parse', 'calloc'], 1, 24),
  pathOf(['malloc'], 1, 3_000, 3_000),
];

describe('formatMemory()', () => {
  it('shows totals, callers by allocated bytes, and paths with live allocations', () => {
    assert.equal(
      formatMemory(heapOf(paths), 10, style),
      `memory: 2.0 KiB at the peak, 4 allocations (3.1 KiB), 3 freed, 2 live at the end (3.0 KiB)

allocated  calls     live  function
  2.9 KiB      1  2.9 KiB  (host)
    224 B      3    100 B  parse

   live  count  not freed, by call path
2.9 KiB      1  (host) › malloc
  100 B      1  run › parse › malloc
`,
    );
  });

  it('shortens its tables and long paths, and escapes names', () => {
    const deep = pathOf(['a', 'b', 'c', 'd', 'e\u202ef', 'g', 'malloc'], 1, 10, 10);
    const text = formatMemory(heapOf([...paths, deep]), 1, style);
    assert.match(text, /… and 2 more functions; --top shows more/);
    assert.match(text, /… and 2 more paths; --top shows more/);
    const all = formatMemory(heapOf([deep]), 5, style);
    assert.match(all, / {2}… › b › c › d › e.*f › g › malloc/);
    assert.doesNotMatch(all, /\u202e/);
  });

  it('notes what was not counted', () => {
    const more = { failures: 1, unknownFrees: 2, dropped: { allocations: 3, paths: 4 } };
    const notes = formatMemory(heapOf(paths, more), 0, style)
      .split('\n')
      .filter((line) => line.startsWith('note: '));
    assert.deepEqual(notes, [
      'note: 1 allocation failed.',
      'note: 2 frees of memory whose allocation was not traced.',
      'note: 3 allocations not counted: too many are live.',
      'note: 4 call paths shortened: too many.',
    ]);
  });

  it('shows the highest peak of several instances', () => {
    const [instance] = heapOf(paths).instances as [HeapTotals];
    const heap = heapOf(paths, { peakBytes: 9_999, instances: [instance, { ...instance, peakBytes: 4_096 }] });
    assert.match(formatMemory(heap, 0, style), /^memory of 2 instances: 4\.0 KiB at the peak of one,/);
  });

  it('has numbers that JSON can hold', () => {
    const { peakTimeUnixNano } = JSON.parse(JSON.stringify(memoryAsJson(heapOf(paths))));
    assert.equal(peakTimeUnixNano, '1790000000000000001');
  });
});
