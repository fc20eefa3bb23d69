import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import {
  createStyle,
  displayWidth,
  formatFields,
  formatSize,
  formatTable,
  formatTime,
  hasColours,
  printable,
  printableLines,
  shellWord,
} from './text.ts';

const plain = createStyle(false);

describe('printable()', () => {
  it('disarms what could steer a terminal, or turn the direction of writing', () => {
    assert.equal(printable('a\u001b[2Jb\u0007\u009b\n\u202ec'), 'a\\u{1b}[2Jb\\u{7}\\u{9b}\\u{a}\\u{202e}c');
  });

  it('leaves every other writing as it is', () => {
    assert.equal(printable('Zoë 编辑器 🦀 עברית'), 'Zoë 编辑器 🦀 עברית');
  });
});

describe('printableLines()', () => {
  it('keeps line breaks and tabs', () => {
    assert.equal(printableLines('a\n\tb\u001b'), 'a\n\tb\\u{1b}');
  });
});

describe('displayWidth()', () => {
  for (const [text, width] of [
    ['', 0],
    ['plain', 5],
    ['Zoë', 3],
    ['Zoe\u0308', 3],
    ['编辑器', 6],
    ['🦀', 2],
    ['👩‍💻', 2],
    ['\u001b[1mbold\u001b[22m', 4],
  ] as const) {
    it(`gives ${JSON.stringify(text)} ${width} columns`, () => assert.equal(displayWidth(text), width));
  }
});

describe('formatTable()', () => {
  it('aligns columns, wide characters included', () => {
    const table = formatTable(
      ['NAME', 'ID'],
      [
        ['编辑器', 'x'],
        ['a', 'y'],
      ],
      plain,
    );
    assert.equal(table, 'NAME    ID\n编辑器  x\na       y\n');
  });

  it('cuts off the ends of the widest cells', () => {
    const rows = [['编辑器编辑器编辑器', 'a long text', 'x']];
    assert.equal(formatTable(['A', 'B', 'C'], rows, plain, 24), 'A          B           C\n编辑器编…  a long te…  x\n');
    assert.equal(
      formatTable(['A', 'B', 'C'], rows, plain),
      'A                   B            C\n编辑器编辑器编辑器  a long text  x\n',
    );
  });

  it('keeps columns readable on a terminal that is too narrow', () => {
    assert.equal(
      formatTable(['A', 'B'], [['abcdefghij', 'abcdefghij']], plain, 5),
      'A         B\nabcdefg…  abcdefg…\n',
    );
  });

  it('escapes cells, and adds their style outside', () => {
    const style = (text: string) => `<${text}>`;
    assert.equal(formatTable(['A'], [['a\nb'], [{ text: '\u001b[1m', style }]], plain), 'A\na\\u{a}b\n<\\u{1b}[1m>\n');
  });
});

describe('formatFields()', () => {
  it('aligns values, and the further lines of one that has several', () => {
    assert.equal(
      formatFields(
        [
          ['id', 'x'],
          ['schema', ['{', '}']],
        ],
        plain,
      ),
      'id      x\nschema  {\n        }\n',
    );
  });
});

describe('formatSize()', () => {
  for (const [bytes, text] of [
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [64 * 1024 * 1024, '64.0 MiB'],
    [5 * 1024 ** 3, '5.0 GiB'],
  ] as const) {
    it(`writes ${bytes} as ${text}`, () => assert.equal(formatSize(bytes), text));
  }
});

describe('formatTime()', () => {
  it('is to the minute, and in UTC', () => {
    assert.equal(formatTime('2026-07-01T12:34:56.789Z'), '2026-07-01 12:34Z');
    assert.equal(formatTime(null), 'never');
  });
});

describe('hasColours()', () => {
  const terminal = Object.assign(Object.create(null), { isTTY: true });
  it('is for terminals alone, and minds NO_COLOR and dumb ones', () => {
    assert.equal(hasColours(terminal, {}), true);
    assert.equal(hasColours(terminal, { NO_COLOR: '' }), true); // empty is unset: https://no-color.org
    assert.equal(hasColours(terminal, { NO_COLOR: '1' }), false);
    assert.equal(hasColours(terminal, { TERM: 'dumb' }), false);
    assert.equal(hasColours(Object.create(null), {}), false);
  });
});

describe('shellWord()', () => {
  for (const text of ['plain', 'a b', "it's", '$HOME `date` "x" \\', '', '*', 'ü']) {
    it(`is read by a shell as ${JSON.stringify(text)}`, () => {
      assert.equal(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' }), text);
    });
  }
});
