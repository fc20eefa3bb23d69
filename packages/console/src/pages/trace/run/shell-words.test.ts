import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readVariables, shellWords } from './shell-words.ts';

describe('shellWords()', () => {
  const expected: Readonly<Record<string, readonly string[]>> = {
    '': [],
    '  ': [],
    'a  b\tc\nd': ['a', 'b', 'c', 'd'],
    '--name="Ada Lovelace" -x': ['--name=Ada Lovelace', '-x'],
    "'a b' '' c": ['a b', '', 'c'],
    '"a\\"b" \'a\\b\'': ['a"b', 'a\\b'],
    'a\\ b c\\\\': ['a b', 'c\\'],
    '"never closed it': ['"never closed it'],
    'a\\': ['a', '\\'],
    '"$HOME \\n"': ['$HOME \\n'],
  };
  for (const [text, words] of Object.entries(expected)) {
    it(`divides ${JSON.stringify(text)}`, () => assert.deepEqual(shellWords(text), words));
  }

  it('takes no longer for texts that are made to take long', () => {
    for (const part of ['"', "'", '\\', 'a\\', '"a', 'a"b"']) assert.ok(shellWords(part.repeat(20_001)).length > 0);
  });
});

describe('readVariables()', () => {
  it('reads a variable a line', () => {
    assert.deepEqual(readVariables('A=1\n\nnothing\n=x\nB = a=b \r\nC='), [
      ['A', '1'],
      ['B', ' a=b'],
      ['C', ''],
    ]);
  });
});
