import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readEnvironmentFlags, readFolderFlags, readPluginConfig, wholeNumber } from './settings.ts';

describe('readEnvironmentFlags()', () => {
  it('takes values as they stand, and hands on what there is', () => {
    assert.deepEqual(readEnvironmentFlags(['A=1', 'B=', 'C=x=y', 'HOME'], { HOME: '/home/ada', SECRET: 's' }), {
      A: '1',
      B: '',
      C: 'x=y',
      HOME: '/home/ada',
    });
  });

  it('refuses what has no name, and names that are not there', () => {
    assert.throws(() => readEnvironmentFlags(['=1'], {}), /--env takes NAME=value/);
    assert.throws(() => readEnvironmentFlags(['NONE'], {}), /no such variable/);
  });
});

describe('readFolderFlags()', () => {
  it('shows a folder as itself, or as another path', () => {
    assert.deepEqual(readFolderFlags(['.', '/var/data::/data']), { '.': '.', '/data': '/var/data' });
  });

  it('refuses a half', () => {
    for (const flag of ['', '::/data', '/var::']) assert.throws(() => readFolderFlags([flag]), /--dir takes a folder/);
  });
});

describe('readPluginConfig()', () => {
  it('has any key', () => {
    assert.deepEqual(
      [...readPluginConfig(['__proto__=1', 'a=b=c', 'e='])],
      [
        ['__proto__', '1'],
        ['a', 'b=c'],
        ['e', ''],
      ],
    );
  });

  it('refuses what has no value', () => {
    for (const flag of ['key', '=value']) assert.throws(() => readPluginConfig([flag]), /takes key=value/);
  });
});

describe('wholeNumber()', () => {
  it('takes numbers between its bounds alone', () => {
    const parse = wholeNumber(1, 10);
    assert.equal(parse('10'), 10);
    for (const text of ['0', '11', '1.5', '-1', '1e1', '', 'x']) assert.throws(() => parse(text), /from 1 to 10/);
  });
});
