import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RunSources, sourceStack, stackLines } from './source-stack.ts';

const asked: number[] = [];
const sources: RunSources = {
  functionSource: () => undefined,
  locate(offset) {
    asked.push(offset);
    if (offset !== 0x1b4) return [];
    return [
      { file: '/src/inline.h', line: 2, column: 10, function: '_Z6squarei' },
      { file: '/src/main.c', line: 14, column: 5 },
    ];
  },
};
const demangle = (name: string) => (name === '_Z6squarei' ? 'square(int)' : name);

function errorWith(...lines: string[]): Error {
  const error = new WebAssembly.RuntimeError('unreachable');
  error.stack = ['RuntimeError: unreachable', ...lines].join('\n');
  return error;
}

const expected = [
  { function: 'square(int)', file: '/src/inline.h', line: 2, column: 10 },
  { function: 'run(int)', file: '/src/main.c', line: 14, column: 5 },
  { function: '_start' },
];

describe('sourceStack()', () => {
  it("reads V8's stacks, with inlined calls", () => {
    const stack = errorWith(
      '    at run(int) (wasm://wasm/0003a0d2:wasm-function[8]:0x1b4)',
      '    at _start (wasm://wasm/0003a0d2:wasm-function[3]:0x9f)',
      '    at call (file:///app/run.ts:3:9)',
    );
    assert.deepEqual(sourceStack(stack, sources, demangle), expected);
    assert.deepEqual(asked, [0x1b4, 0x9f]);
  });

  it("reads SpiderMonkey's stacks", () => {
    const url = 'https://example.com/worker.js line 5 > WebAssembly.Module:wasm-function';
    const stack = errorWith(`run(int)@${url}[8]:0x1b4`, `_start@${url}[3]:0x9f`, 'call@https://example.com/a.js:1:2');
    assert.deepEqual(sourceStack(stack, sources, demangle), expected);
  });

  it('is empty without sources, and for what is no error', () => {
    const stack = errorWith('    at f (wasm://wasm/0003a0d2:wasm-function[8]:0x1)');
    assert.deepEqual(sourceStack(stack, sources, demangle), [], 'no frame has a source');
    assert.deepEqual(sourceStack(stack, undefined, demangle), []);
    for (const thrown of [undefined, 1, { stack: 'x' }, new Error('')]) {
      assert.deepEqual(sourceStack(thrown, sources, demangle), []);
    }
  });

  it('is written as V8 writes it', () => {
    const frames = [
      ...expected,
      { function: 'f', file: 'f.c', line: 0, column: 3 },
      { function: 'g', file: 'g.c', line: 7, column: 0 },
    ];
    assert.deepEqual(stackLines(frames), [
      'at square(int) (/src/inline.h:2:10)',
      'at run(int) (/src/main.c:14:5)',
      'at _start',
      'at f (f.c)',
      'at g (g.c:7)',
    ]);
  });

  it('shows 50 frames at most', () => {
    const frame = '    at f (wasm://wasm/0003a0d2:wasm-function[8]:0x1b4)';
    assert.equal(sourceStack(errorWith(...Array.from({ length: 1_000 }, () => frame)), sources, demangle).length, 50);
  });
});
