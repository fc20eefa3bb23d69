import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Capture } from '../test/helpers/streams.ts';
import { createProgress } from './progress.ts';

function watch({ isTerminal = true, isShown = true, isTotalKnown = true } = {}) {
  const stderr = new Capture(isTerminal, 100);
  let nowMs = 0;
  const progress = createProgress(
    { stderr, nowMs: () => nowMs },
    isShown,
    'Uploading',
    isTotalKnown ? 4_000_000 : undefined,
  );
  const advance = (bytes: number, afterMs: number) => {
    nowMs += afterMs;
    progress.advance(bytes);
  };
  return { stderr, progress, advance };
}

describe('createProgress()', () => {
  it('draws a bar in place, and takes it away', () => {
    const { stderr, progress, advance } = watch();
    advance(1_000_000, 500);
    advance(1_000_000, 500);
    progress.end();
    const [before, first, second, end] = stderr.text.split('\r\u001b[K');
    assert.equal(before, '');
    assert.match(first ?? '', /^Uploading ━{6}─{18} {2}25 % {2}976\.6 KiB of 3\.8 MiB {2}1\.9 MiB\/s$/);
    assert.match(second ?? '', /^Uploading ━{12}─{12} {2}50 %/);
    assert.equal(end, '');
  });

  it('says nothing about what is over soon', () => {
    const { stderr, progress, advance } = watch();
    advance(4_000_000, 250);
    progress.end();
    assert.equal(stderr.text, '');
  });

  it('draws no more than ten times a second', () => {
    const { stderr, advance } = watch();
    for (let ms = 0; ms < 2000; ms++) advance(1000, 1);
    assert.ok(stderr.text.split('\r').length - 1 <= 18);
  });

  it('counts what came when the total is not known', () => {
    const { stderr, advance } = watch({ isTotalKnown: false });
    advance(2_097_152, 1000);
    assert.match(stderr.text, /Uploading 2\.0 MiB {2}2\.0 MiB\/s$/);
  });

  it('is for people at a terminal alone', () => {
    for (const setting of [{ isTerminal: false }, { isShown: false }]) {
      const { stderr, progress, advance } = watch(setting);
      advance(1_000_000, 5000);
      progress.end();
      assert.equal(stderr.text, '');
    }
  });
});
