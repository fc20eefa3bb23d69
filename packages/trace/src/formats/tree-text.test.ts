import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { makeSpan, smallTrace } from '../../test/support/make-span.ts';
import { treeText } from './tree-text.ts';

describe('treeText()', () => {
  it('takes calls of one function together', () => {
    assert.equal(
      treeText(smallTrace()),
      [
        '  total     self   memory',
        '12.8 ms  3.07 µs           _start',
        '12.8 ms  1.41 µs  192 KiB  └─ main',
        '1.00 ms  1.00 ms              ├─ parse(int) ×3 (340 shorter calls, 321 µs)',
        '11.8 ms  11.8 ms              └─ run ✗ unreachable',
        '',
      ].join('\n'),
    );
  });

  it('shows each call where that is asked for', () => {
    const lines = treeText(smallTrace(), { calls: 'each' }).split('\n').slice(1, -1);
    assert.deepEqual(
      lines.map((line) => line.slice(27)),
      [
        '_start',
        '└─ main',
        '   ├─ parse(int)',
        '   ├─ parse(int) (340 shorter calls, 321 µs)',
        '   ├─ parse(int)',
        '   └─ run ✗ unreachable',
      ],
    );
  });

  it('says how many of the calls in a line failed, and why the first did', () => {
    const failed = (id: number, message: string) =>
      makeSpan({ id, start: id, end: id + 1, name: 'f', function: undefined, status: { code: 'error', message } });
    const text = treeText([
      failed(1, 'one'),
      failed(2, 'other'),
      makeSpan({ id: 3, start: 5, end: 6, name: 'f', function: undefined }),
    ]);
    assert.match(text, /f ×3 ✗ 2 failed: one$/m);
  });

  it('shows where functions are declared', () => {
    const traced = { index: 1, rawName: 'f', name: 'f', file: '/home/me/project/src/f\u001b.c', line: 7 };
    const span = makeSpan({ id: 1, start: 0, end: 5, name: 'f', function: traced });
    assert.match(treeText([span, { ...span, spanId: 'x' }]), / {2}f src\/f\\u\{1b\}\.c:7 ×2\n$/);
    assert.match(treeText([{ ...span, function: { ...traced, line: undefined } }]), / {2}f src\/f\\u\{1b\}\.c\n$/);
  });

  it('leaves the column for memory out where none grew', () => {
    const text = treeText([makeSpan({ id: 1, start: 0, end: 5, name: 'main' })]);
    assert.equal(text, 'total  self\n 5 ns  5 ns  main\n');
  });

  it('draws branches that lead on', () => {
    const spans = [
      makeSpan({ id: 1, start: 0, end: 100, name: 'a' }),
      makeSpan({ id: 2, parent: 1, start: 1, end: 10, name: 'b' }),
      makeSpan({ id: 3, parent: 2, start: 2, end: 9, name: 'c' }),
      makeSpan({ id: 4, parent: 1, start: 10, end: 20, name: 'd' }),
      makeSpan({ id: 5, start: 200, end: 300, name: 'e' }),
    ];
    const names = treeText(spans)
      .split('\n')
      .slice(1, -1)
      .map((line) => line.slice(16));
    assert.deepEqual(names, ['a', '├─ b', '│  └─ c', '└─ d', 'e']);
  });

  it('says the same in colour', () => {
    const coloured = treeText(smallTrace(), { color: true });
    assert.notEqual(coloured, treeText(smallTrace()));
    assert.equal(stripVTControlCharacters(coloured), treeText(smallTrace()));
    assert.ok(coloured.includes('\u001b[31m✗ unreachable\u001b[39m'));
  });

  it('writes what could move a cursor or turn the direction as escapes', () => {
    const name = 'a\u001b[2Jb\u202ec\r\nd';
    const text = treeText([makeSpan({ id: 1, start: 0, end: 5, name, status: { code: 'error', message: '\u0007' } })]);
    assert.ok(text.endsWith('  a\\u{1b}[2Jb\\u{202e}c\\u{d}\\u{a}d ✗ \\u{7}\n'), text);
  });

  it('counts what it does not show', () => {
    const chain = Array.from({ length: 50_000 }, (_, index) =>
      makeSpan({ id: index + 1, ...(index > 0 && { parent: index }), start: index, end: 200_000 - index }),
    );
    const deep = treeText(chain, { maxDepth: 10 });
    assert.equal(deep.split('\n').length, 1 + 10 + 2);
    assert.ok(deep.endsWith('… and 49,990 calls that are not shown\n'));
    const long = treeText(
      chain.map((span) => ({ ...span, parentSpanId: undefined })),
      { maxLines: 20 },
    );
    assert.equal(long.split('\n').length, 1 + 20 + 2);
    assert.ok(long.endsWith('… and 49,980 calls that are not shown\n'));
  });

  it('cuts a name that fills the screen', () => {
    const text = treeText([makeSpan({ id: 1, start: 0, end: 5, name: 'x'.repeat(1_000_000) })], { maxNameLength: 12 });
    assert.ok(text.endsWith('  xxxxxxxxxxxx…\n'));
  });

  it('writes nothing for nothing', () => {
    assert.equal(treeText([]), '');
  });
});
