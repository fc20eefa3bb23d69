import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseNames } from './tracing-options.ts';

describe('parseNames()', () => {
  it('reads one name a line, whatever ends the lines, without the space around it', () => {
    assert.deepEqual(parseNames('greet\r\n  operator new\t\nlast'), ['greet', 'operator new', 'last']);
  });

  it('leaves out empty lines and comments, and keeps a # inside of a name', () => {
    assert.deepEqual(parseNames('# all\n\n  # of it\nclosure#1\n'), ['closure#1']);
  });

  it('keeps commas, which separate names on the command line', () => {
    assert.deepEqual(parseNames('std::map<int, int>::at'), ['std::map<int, int>::at']);
  });
});
