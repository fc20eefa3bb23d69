import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { namespacesOf } from './namespaces.ts';

/** By name, its innermost namespace. */
const innermost: Readonly<Record<string, string | undefined>> = {
  // Rust, mangled as before 2026 and since.
  _ZN4core3fmt9Formatter3pad17h0123456789abcdefE: 'core::fmt::Formatter',
  '_ZN52_$LT$my..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$4drop17h0123456789abcdefE': 'my::Vec<T>',
  _RNvNtCs1234_7mycrate3foo3bar: 'mycrate::foo',
  _RNvMs_NtCs1234_7mycrate3fooNtB4_3Bar6method: 'mycrate::foo::Bar',
  _RNvXs_Cs1_7mycrateNtNtCs2_5alloc3vec3VecNtB5_2Tr4drop: 'mycrate',
  _RNCNvCs1_7mycrate4main0: 'mycrate::main',
  _RINvNtC4core3mem4swapmE: 'core::mem',
  '<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop': 'alloc::vec::Vec<T>',
  '<alloc::vec::Vec<T> as my::Trait>::f': 'my::Trait',
  '<&T as core::fmt::Debug>::fmt': 'core::fmt::Debug',
  'core::ptr::drop_in_place<alloc::string::String>': 'core::ptr',
  // C++
  _ZN3foo3BarIiE3bazEv: 'foo::Bar',
  _ZNSt3__26vectorIiNS_9allocatorIiEEE9push_backEOi: 'std::__2::vector',
  _ZThn8_N3foo3Bar1fEv: 'foo::Bar',
  _ZN3fooC2Ev: 'foo',
  _Z3foov: undefined,
  'void std::__2::foo<int>(int)': 'std::__2',
  '(anonymous namespace)::foo(int)': '(anonymous namespace)',
  'foo::Bar::operator()(int) const': 'foo::Bar',
  'foo::Bar::operator bool() const': 'foo::Bar',
  'std::ostream& foo::operator<< <int>(int)': 'foo',
  'non-virtual thunk to foo::Bar::f()': 'foo::Bar',
  'std::function<void (int)>::operator()(int) const': 'std::function<void (int)>',
  // Go, AssemblyScript, others
  'net/http.(*Client).Do': 'net/http.(*Client)',
  '(*main.T).Method': 'main.T',
  'github.com/x/y.F': 'github.com/x/y',
  '~lib/array/Array<i32>#push': '~lib/array/Array<i32>',
  'assembly/index/add': 'assembly/index',
  'env.log': 'env',
  malloc: undefined,
};

describe('namespacesOf()', () => {
  it('finds the namespaces of mangled and demangled names', () => {
    for (const [name, expected] of Object.entries(innermost)) assert.equal(namespacesOf(name).at(-1), expected, name);
    assert.deepEqual(namespacesOf('a::b::f(c::d)'), ['a', 'a::b']);
  });

  it('finds none in malformed names, and ends', () => {
    const chain = `_RNv${'B_'.repeat(500)}1f`;
    const hostile = ['', '::', '<', ')', '_ZN', '_ZN99999f', '_R', '_RB_', '_RNvB_3foo', '_RNvC0', chain];
    for (const name of hostile) assert.deepEqual(namespacesOf(name), [], name);
    for (const part of ['<', '_RNv', 'X', 'a::', ' as ', '(', 'Ms_', '::::', '1a']) {
      assert.ok(namespacesOf(`_R${part.repeat(1_000)}`).length <= 32, part);
      assert.ok(namespacesOf(`_ZN${part.repeat(1_000)}`).length <= 32, part);
      assert.ok(namespacesOf(part.repeat(1_000)).length <= 32, part);
    }
  });
});
