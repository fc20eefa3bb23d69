import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createBoundedDemangler } from './demangle.ts';

const file = readFileSync(new URL(import.meta.resolve('gecko-profiler-demangle/index_bg.wasm')));
const wasm = new Uint8Array(file).buffer;

describe('createBoundedDemangler()', () => {
  it('writes names of C++ and Rust as people do', () => {
    const demangle = createBoundedDemangler(wasm, () => 0);
    assert.equal(demangle('_ZN5space3fooEi'), 'space::foo(int)');
    assert.equal(demangle('_RINvNtC3std3mem8align_ofdE'), 'std::mem::align_of::<f64>');
    assert.equal(demangle('main'), 'main');
  });

  it('leaves names as they are once they have taken too long', () => {
    let nowMs = 0;
    const demangle = createBoundedDemangler(wasm, () => {
      nowMs += 800;
      return nowMs;
    });
    const shown = Array.from({ length: 6 }, () => demangle('_Z1fi'));
    assert.deepEqual(shown, ['f(int)', 'f(int)', 'f(int)', 'f(int)', '_Z1fi', '_Z1fi']);
  });

  it('leaves all names as they are without its module', () => {
    assert.equal(createBoundedDemangler(undefined, () => 0)('_Z1fi'), '_Z1fi');
  });
});
