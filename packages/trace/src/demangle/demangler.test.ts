import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createDemangler } from './demangler.ts';

const wasm = readFileSync(new URL(import.meta.resolve('gecko-profiler-demangle/index_bg.wasm')));

/** C++: examples of https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling-examples and names of real programs. */
const cppNames: readonly [raw: string, name: string][] = [
  ['_Z1fv', 'f()'],
  ['_Z1fi', 'f(int)'],
  ['_Z3foo3bar', 'foo(bar)'],
  ['_ZrmIiE1XIT_ES2_S2_', 'operator%<int>(X<int>, X<int>)'],
  ['_ZN5space3fooEibc', 'space::foo(int, bool, char)'],
  ['_ZplR1XS0_', 'operator+(X&, X&)'],
  ['_ZlsRK1XS1_', 'operator<<(X const&, X const&)'],
  ['_Z3fooIiEvT_', 'foo<int>(int)'],
  ['_ZN12_GLOBAL__N_13runEv', '(anonymous namespace)::run()'],
  ['_ZN12_GLOBAL__N_113single_threadE', '(anonymous namespace)::single_thread'],
  ['_ZNSt6vectorIiSaIiEE9push_backERKi', 'std::vector<int, std::allocator<int> >::push_back(int const&)'],
  ['_ZN1AC2Ei', 'A::A(int)'],
  ['_ZN1AD0Ev', 'A::~A()'],
  ['__ZN1AD0Ev', 'A::~A()'],
  ['_Z3fooi.part.0', 'foo(int) [clone .part.0]'],
];

/** Rust: the older kind, and the newer one as in https://rust-lang.github.io/rfcs/2603-rust-symbol-name-mangling-v0.html */
const rustNames: readonly [raw: string, name: string][] = [
  ['_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE', 'core::fmt::Formatter::write_str'],
  ['_ZN3foo3bar17h05af221e174051e9E.llvm.9D1C9369', 'foo::bar'],
  [
    '_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE',
    "<Test + 'static as foo::Bar<Test>>::bar",
  ],
  ['_RNvC6_123foo3bar', '123foo::bar'],
  ['_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y', 'utf8_idents::საჭმელად_გემრიელი_სადილი'],
  ['_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_', 'cc::spawn::{closure#0}::{closure#0}'],
  ['_RINvNtC3std3mem8align_ofdE', 'std::mem::align_of::<f64>'],
  ['_RNvXCs1234_7mycrateNtB2_3FooNtB2_3Bar3baz', '<mycrate::Foo as mycrate::Bar>::baz'],
];

const others = [
  '',
  'main',
  '_start',
  '__wasm_call_ctors',
  '.omp_outlined.',
  'foo(int)',
  '_Reset',
  '_R',
  '_Zygote',
  '$s4main3fooyyF',
];

describe('createDemangler()', () => {
  const demangle = createDemangler(wasm);

  for (const [raw, name] of [...cppNames, ...rustNames]) {
    it(`writes ${raw} as ${name}`, () => assert.equal(demangle(raw), name));
  }

  for (const name of [...others, '_Z4\u{1f4a9}', '_Z\0']) {
    it(`hands ${JSON.stringify(name)} back as it stands`, () => assert.equal(demangle(name), name));
  }

  it('hands back a name that stands for gigabytes, and reads the next one', () => {
    for (const depth of [12, 20, 35]) {
      const name = doubling(depth);
      assert.equal(demangle(name), name);
      assert.equal(demangle('_Z1fi'), 'f(int)');
    }
    assert.notEqual(demangle(doubling(4)), doubling(4));
  });

  it('hands back what is nested too deeply, too long or cut off', () => {
    for (const name of [
      `_Z1f${'P'.repeat(10_000)}i`,
      `_RI${'IC'.repeat(8_000)}`,
      `_Z1fI${'XL'.repeat(3_000)}i1${'EE'.repeat(3_000)}vv`,
      `_ZN${'1a'.repeat(20_000)}E`,
      '_ZN4core3fmt9Formatter9write_str17h0123',
      '_ZN99999999999999999999aE',
    ]) {
      assert.equal(demangle(name), name);
    }
  });

  it('keeps to the lengths that it is given', () => {
    const short = createDemangler(wasm, { maxNameLength: 5, maxResultLength: 5 });
    assert.equal(short('_Z1fi'), '_Z1fi', 'the result has six letters');
    assert.equal(short('_Z1fv'), 'f()');
    assert.equal(short('_Z2ffv'), '_Z2ffv', 'the name has six letters');
  });

  it('stays the same for the same name after 20,000 others', () => {
    for (let index = 0; index < 20_000; index++) demangle(`_ZN5space4f${String(index % 1000).padStart(3, '0')}Ei`);
    assert.equal(demangle('_ZN5space3fooEibc'), 'space::foo(int, bool, char)');
  });

  it('gives names up that take too long altogether, and takes them up again later', () => {
    let ms = 0;
    let tickMs = 0;
    const timed = createDemangler(wasm, {
      now() {
        ms += tickMs;
        return ms;
      },
    });
    tickMs = 800;
    for (const name of ['_Z1', '_Z2', '_Z3', '_Z4']) assert.equal(timed(name), name);
    tickMs = 0;
    assert.equal(timed('_Z1fi'), '_Z1fi', 'four names that mean nothing took two seconds and more');
    ms += 60_000;
    assert.equal(timed('_Z1fi'), 'f(int)');
    tickMs = 1;
    for (let index = 0; index < 10_000; index++)
      assert.equal(timed('_Z1fi'), 'f(int)', 'names that are read in time cost nothing');
  });

  it('refuses another module', () => {
    const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    assert.throws(() => createDemangler(empty), /memory of a module that defines none/);
    const memoryAlone = new Uint8Array([...empty, 5, 3, 1, 0, 1]);
    assert.throws(() => createDemangler(memoryAlone), /exports no function demangle_any/);
    const hugeMemory = new Uint8Array([...empty, 5, 4, 1, 0, 0x80, 1]);
    assert.throws(() => createDemangler(hugeMemory), /begins with 128/);
  });
});

/** `f(P<int, int>, P<P<int, int>, P<int, int>>, …)`: each argument twice as long as the one before. */
function doubling(depth: number): string {
  let name = '_Z1f1PIiiE';
  for (let index = 0; index < depth; index++) {
    const before = index === 0 ? 'S0_' : `S${index.toString(36).toUpperCase()}_`;
    name += `S_I${before}${before}E`;
  }
  return name;
}
