import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  checkInterface,
  type ExternKind,
  functionNames,
  type InterfaceLimits,
  type ModuleInterface,
  maxMismatches,
  moduleInterface,
  optionalExports,
  summarizeMismatches,
} from './interface-check.ts';

/** `greet` for an exported function, `memory:memory` for another kind; `module.name` for an imported function. */
function moduleOf(exports: string, imports = '', more: Partial<ModuleInterface> = {}): ModuleInterface {
  const words = (text: string) => text.split(' ').filter((word) => word !== '');
  return {
    sizeBytes: 1000,
    initialMemoryPages: 2,
    proposals: [],
    exports: words(exports).map((word) => {
      const [name = '', kind = 'function'] = word.split('=');
      return { name, kind: kind as ExternKind };
    }),
    imports: words(imports).map((word) => {
      const [path = '', kind = 'function'] = word.split('=');
      const [module = '', name = ''] = path.split('.');
      return { module, name, kind: kind as ExternKind };
    }),
    ...more,
  };
}

const schema = {
  version: 'v1-draft',
  exports: { greet: {}, count_vowels: {} },
  imports: { kv_read: {}, kv_write: {} },
};

const reported = (module: ModuleInterface, of: unknown = schema, limits: InterfaceLimits = {}) =>
  checkInterface(module, of, limits).map(({ code, pointer, detail }) => `${code} ${pointer} ${detail}`);

describe('checkInterface()', () => {
  it('accepts a module with the exports of the schema, and more', () => {
    assert.deepEqual(reported(moduleOf('greet count_vowels helper memory=memory')), []);
  });

  it('accepts a module without an optional export, and refuses one of another kind', () => {
    const of = { exports: { greet: {}, render: { 'x-tenon-optional': true }, other: { 'x-tenon-optional': 'true' } } };
    assert.deepEqual([...optionalExports(of)], ['render']);
    assert.deepEqual(reported(moduleOf('greet other'), of), []);
    assert.deepEqual(reported(moduleOf('greet other render'), of), []);
    assert.deepEqual(reported(moduleOf('greet other render=memory'), of), [
      'wrong_kind /exports/render The module exports "render" as a memory; it must be a function.',
    ]);
    assert.equal(reported(moduleOf('greet'), of).length, 1);
    for (const none of [
      null,
      7,
      [],
      ['render'],
      { exports: null },
      { exports: ['render'] },
      { exports: { a: null } },
    ]) {
      assert.deepEqual([...optionalExports(none)], []);
    }
  });

  it('accepts imports of the schema, the kernel, WASI and tracing', () => {
    const imports = [
      'extism:host/user.kv_read',
      'extism:host/env.alloc',
      'extism:host/env.log_warn',
      'extism:host/env.http_status_code',
      'env.extism_output_set',
      'env.extism_load_u32',
      'wasi_snapshot_preview1.fd_write',
      'wasi_snapshot_preview1.sock_accept',
      'dylibso:observe/instrument.enter',
      'dylibso:observe/instrument.memory-grow',
      'dylibso:observe/api.span-enter',
      'dylibso_observe.instrument_enter',
    ].join(' ');
    assert.deepEqual(reported(moduleOf('greet count_vowels', imports)), []);
  });

  const cases: readonly [what: string, exports: string, imports: string, mismatches: readonly string[]][] = [
    [
      'an export that is missing, with the name that was meant',
      'gret count_vowels',
      '',
      ['missing_export /exports/greet The module does not export the function "greet"; it exports "gret".'],
    ],
    [
      'an export in other letters',
      'greet countVowels',
      '',
      [
        'missing_export /exports/count_vowels The module does not export the function "count_vowels"; it exports "countVowels".',
      ],
    ],
    [
      'each export that is missing, in the order of the schema, without a name where none is near',
      'memory=memory',
      '',
      [
        'missing_export /exports/greet The module does not export the function "greet".',
        'missing_export /exports/count_vowels The module does not export the function "count_vowels".',
      ],
    ],
    [
      'no name that is no function, or that another export of the schema has',
      'gree=global count_vowels',
      '',
      ['missing_export /exports/greet The module does not export the function "greet".'],
    ],
    [
      'an export of another kind',
      'greet=memory count_vowels',
      '',
      ['wrong_kind /exports/greet The module exports "greet" as a memory; it must be a function.'],
    ],
    [
      'a foreign import, with the name that was meant',
      'greet count_vowels',
      'extism:host/user.kv_raed',
      [
        'foreign_import /imports/extism:host~1user/kv_raed The module imports "kv_raed" from "extism:host/user", which the extension point does not offer; did you mean "kv_read"?',
      ],
    ],
    [
      'a function of the schema that is imported from elsewhere',
      'greet count_vowels',
      'env.kv_read',
      [
        'foreign_import /imports/env/kv_read The module imports "kv_read" from "env", which the extension point does not offer; "kv_read" is in "extism:host/user".',
      ],
    ],
    [
      'unknown functions of the kernel, of WASI and of other modules',
      'greet count_vowels',
      'extism:host/env.aloc wasi_snapshot_preview1.fd_wriet env.extism_alocc wasi_unstable.fd_write a.b',
      [
        'foreign_import /imports/extism:host~1env/aloc The module imports "aloc" from "extism:host/env", which the extension point does not offer; did you mean "alloc"?',
        'foreign_import /imports/wasi_snapshot_preview1/fd_wriet The module imports "fd_wriet" from "wasi_snapshot_preview1", which the extension point does not offer; did you mean "fd_write"?',
        'foreign_import /imports/env/extism_alocc The module imports "extism_alocc" from "env", which the extension point does not offer; did you mean "extism_alloc"?',
        'foreign_import /imports/wasi_unstable/fd_write The module imports "fd_write" from "wasi_unstable", which the extension point does not offer; "fd_write" is in "wasi_snapshot_preview1".',
        'foreign_import /imports/a/b The module imports "b" from "a", which the extension point does not offer.',
      ],
    ],
    [
      'an import twice as one',
      'greet count_vowels',
      'a.b a.b',
      ['foreign_import /imports/a/b The module imports "b" from "a", which the extension point does not offer.'],
    ],
    [
      'an import of another kind',
      'greet count_vowels',
      'extism:host/user.kv_read=global env.memory=memory',
      [
        'wrong_kind /imports/extism:host~1user/kv_read The module imports "kv_read" from "extism:host/user" as a global; it is a function.',
        'foreign_import /imports/env/memory The module imports "memory" from "env", which the extension point does not offer.',
      ],
    ],
  ];
  for (const [what, exports, imports, mismatches] of cases) {
    it(`tells ${what}`, () => assert.deepEqual(reported(moduleOf(exports, imports)), mismatches));
  }

  it('allows any exports and imports for a schema without either', () => {
    const module = moduleOf('', 'a.b wasi_snapshot_preview1.fd_write');
    for (const none of [{}, { exports: {} }, { exports: {}, imports: {} }, null, 'x', 7, []]) {
      assert.deepEqual(reported(module, none), [], JSON.stringify(none));
    }
  });

  it('checks imports for a schema with only exports, and the reverse', () => {
    assert.equal(reported(moduleOf('f', 'a.b'), { exports: { f: {} } }).length, 1);
    assert.equal(reported(moduleOf('f', 'extism:host/user.kv'), { exports: { f: {} } }).length, 1);
    assert.deepEqual(reported(moduleOf('', 'extism:host/user.kv'), { exports: {}, imports: { kv: {} } }), []);
    assert.equal(reported(moduleOf('', 'extism:host/user.kw'), { exports: {}, imports: { kv: {} } }).length, 1);
  });

  it('forbids WASI if the limits do, for any schema', () => {
    const module = moduleOf('greet count_vowels', 'wasi_snapshot_preview1.fd_write');
    const expected = [
      'wasi_not_allowed /imports/wasi_snapshot_preview1/fd_write The module imports "fd_write" of WASI, which the extension point does not allow.',
    ];
    assert.deepEqual(reported(module, schema, { allowWasi: false }), expected);
    assert.deepEqual(reported(module, {}, { allowWasi: false }), expected);
    assert.deepEqual(reported(module, schema, { allowWasi: true }), []);
    const elsewhere = reported(moduleOf('', 'a.fd_write'), schema, { allowWasi: false }).at(-1) ?? '';
    assert.doesNotMatch(elsewhere, /to be had/);
  });

  const limits: readonly [InterfaceLimits, Partial<ModuleInterface>, RegExp | undefined][] = [
    [{ maxModuleBytes: 1000 }, {}, undefined],
    [{ maxModuleBytes: 999 }, {}, /^module_too_large \/limits\/maxModuleBytes .*1,000 bytes.* at most 999/],
    [{ maxModuleBytes: 0 }, {}, /module_too_large/],
    [{ maxModuleBytes: null }, { sizeBytes: 1e12 }, undefined],
    [{ maxInitialMemoryPages: 2 }, {}, undefined],
    [{ maxInitialMemoryPages: 1 }, {}, /^memory_too_large \/limits\/maxInitialMemoryPages .* 2 pages .* at most 1/],
    [{ maxInitialMemoryPages: 0 }, { initialMemoryPages: 0 }, undefined],
    [{ maxInitialMemoryPages: null }, { initialMemoryPages: 2 ** 40 }, undefined],
    [{ proposals: ['simd'] }, { proposals: ['simd'] }, undefined],
    [{ proposals: [] }, { proposals: ['simd'] }, /^proposal_not_allowed \/limits\/proposals .*"simd"/],
    [{ proposals: ['gc'] }, { proposals: ['simd'] }, /"simd"/],
    [{ proposals: null }, { proposals: ['simd'] }, undefined],
    [{ proposals: undefined }, { proposals: ['simd'] }, undefined],
  ];
  for (const [limit, more, expected] of limits) {
    it(`holds ${JSON.stringify(more)} against ${JSON.stringify(limit)}`, () => {
      const found = reported(moduleOf('', '', more), {}, limit);
      if (expected === undefined) return assert.deepEqual(found, []);
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', expected);
    });
  }

  it('reports each proposal that is not allowed', () => {
    const module = moduleOf('', '', { proposals: ['simd', 'threads', 'gc'] });
    assert.equal(checkInterface(module, {}, { proposals: ['threads'] }).length, 2);
  });

  it('reports all kinds of mismatches at once', () => {
    const module = moduleOf('', 'a.b', { proposals: ['simd'] });
    const codes = checkInterface(module, schema, { maxModuleBytes: 1, proposals: [] }).map(({ code }) => code);
    assert.deepEqual(codes, [
      'module_too_large',
      'proposal_not_allowed',
      'missing_export',
      'missing_export',
      'foreign_import',
    ]);
  });

  it('accepts unchecked schemas', () => {
    assert.deepEqual(reported(moduleOf('a-b'), { exports: ['a-b', { name: 'c' }, 7, { noName: 1 }] }).length, 1);
    assert.deepEqual(functionNames({ exports: { __proto__: null, toString: 'x' } }, 'exports'), ['toString']);
    assert.deepEqual(functionNames(JSON.parse('{"exports":{"__proto__":{}}}'), 'exports'), ['__proto__']);
    assert.deepEqual(functionNames({ exports: 'greet' }, 'exports'), []);
    assert.deepEqual(reported(moduleOf('toString'), JSON.parse('{"exports":{"toString":{}}}')), []);
    assert.equal(reported(moduleOf(''), JSON.parse('{"exports":{"toString":{}}}')).length, 1);
  });

  it('escapes names in pointers', () => {
    const [first] = checkInterface(moduleOf('', 'a/~.b'), { exports: { 'x/~': {} } }, {});
    assert.equal(first?.pointer, '/exports/x~1~0');
  });

  it('reports a hundred mismatches and counts the rest, fast', () => {
    const many = Array.from({ length: 30_000 }, (_, at) => `name${at}`);
    const exports = many.map((name): ModuleInterface['exports'][number] => ({ name: `x${name}`, kind: 'function' }));
    const imports = many.map((name) => ({ module: 'extism:host/user', name, kind: 'function' as const }));
    const named = Object.fromEntries(many.map((name) => [name, {}]));
    const startMs = performance.now();
    const found = checkInterface({ ...moduleOf(''), exports, imports }, { exports: named }, {});
    assert.ok(performance.now() - startMs < 30_000);
    assert.equal(found.length, maxMismatches + 1);
    assert.deepEqual(found.at(-1), { code: 'too_many', pointer: '', detail: 'There are 59,900 more.' });
  });

  it('counts nothing if all are reported', () => {
    const names = Array.from({ length: maxMismatches }, (_, at) => [`name${at}`, {}]);
    const found = checkInterface(moduleOf(''), { exports: Object.fromEntries(names) }, {});
    assert.deepEqual([found.length, found.at(-1)?.code], [maxMismatches, 'missing_export']);
  });

  it('truncates long names', () => {
    const long = 'x'.repeat(100_000);
    const module = { ...moduleOf(''), imports: [{ module: long, name: long, kind: 'function' as const }] };
    for (const { detail } of checkInterface(module, { exports: { [long]: {} } }, {})) assert.ok(detail.length < 400);
  });
});

describe('summarizeMismatches()', () => {
  it('has three, and the number of the others', () => {
    const mismatches = ['A.', 'B.', 'C.', 'D.', 'E.'].map((detail) => ({
      code: 'foreign_import' as const,
      pointer: '',
      detail,
    }));
    assert.equal(summarizeMismatches(mismatches.slice(0, 1)), 'A.');
    assert.equal(summarizeMismatches(mismatches.slice(0, 3)), 'A. B. C.');
    assert.equal(summarizeMismatches(mismatches), 'A. B. C. And 2 more.');
  });
});

describe('moduleInterface()', () => {
  it('adds the initial sizes of all memories, in pages of 64 KiB', () => {
    const described = { exports: [], imports: [] };
    const pages = (...memories: { minimumPages: number; pageBytes: number }[]) =>
      moduleInterface({ ...described, memories }, [], 8).initialMemoryPages;
    assert.equal(pages(), 0);
    assert.equal(pages({ minimumPages: 3, pageBytes: 65_536 }, { minimumPages: 2, pageBytes: 65_536 }), 5);
    assert.equal(pages({ minimumPages: 65_537, pageBytes: 1 }), 2);
    assert.equal(pages({ minimumPages: 2 ** 48, pageBytes: 65_536 }), 2 ** 48);
  });
});
