import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { body, emptyType, leb, moduleOf, repeated, section, vector } from '../../../test/helpers/module-bytes.ts';
import { wat } from '../../../test/helpers/wat.ts';
import {
  describeModule,
  type InstrumentErrorCode,
  type InstrumentOptions,
  instrument,
  listFunctions,
  listProposals,
} from '../src/index.ts';

const preamble = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** A module of one function without parameters and results, and this body. */
function withBody(code: readonly number[]): Uint8Array {
  const body = [...leb(code.length + 1), 0].concat(code);
  const head = [...preamble, ...[1, 4, 1, 0x60, 0, 0], ...[3, 2, 1, 0], ...[10, ...leb(body.length + 1), 1]];
  return Uint8Array.from(head.concat(body));
}

/** Offset of the first instruction in `withBody`, as long as the sizes take one byte. */
const firstInstruction = 8 + 6 + 4 + 3 + 2;

interface Refusal {
  readonly bytes: Uint8Array | readonly number[];
  readonly code: InstrumentErrorCode;
  readonly offset: number;
  readonly message: RegExp;
}

const refusals: Record<string, Refusal> = {
  nothing: { bytes: [], code: 'not_wasm', offset: 0, message: /found 0 bytes/ },
  text: { bytes: [...new TextEncoder().encode('(module)')], code: 'not_wasm', offset: 0, message: /found 28 6d 6f 64/ },
  'a cut magic': { bytes: [0, 0x61, 0x73], code: 'not_wasm', offset: 3, message: /found 3 bytes/ },
  'a cut version': { bytes: preamble.slice(0, 6), code: 'invalid_module', offset: 6, message: /found 2/ },
  'another version': {
    bytes: [0, 0x61, 0x73, 0x6d, 2, 0, 0, 0],
    code: 'invalid_module',
    offset: 4,
    message: /version 1.*found 02 00 00 00/,
  },
  'a component': {
    bytes: [0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0],
    code: 'component_not_supported',
    offset: 4,
    message: /found a component.*wasm-tools component unbundle.*world that has `import dylibso:observe\/instrument`/,
  },
  'an unknown section': { bytes: [...preamble, 77, 0], code: 'invalid_module', offset: 8, message: /found 77/ },
  'a section beyond the end': { bytes: [...preamble, 1, 9, 0], code: 'invalid_module', offset: 9, message: /found 9/ },
  'a section twice': {
    bytes: [...preamble, 1, 1, 0, 1, 1, 0],
    code: 'invalid_module',
    offset: 11,
    message: /found a second type section/,
  },
  'sections out of order': {
    bytes: [...preamble, 3, 1, 0, 1, 1, 0],
    code: 'invalid_module',
    offset: 11,
    message: /found a type section after the function section/,
  },
  'a count of 2^32 - 1': {
    bytes: [...preamble, 1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f],
    code: 'invalid_module',
    offset: 10,
    message: /found 4294967295/,
  },
  'a LEB128 beyond 32 bits': {
    bytes: [...preamble, 1, 5, 0xff, 0xff, 0xff, 0xff, 0x1f],
    code: 'invalid_module',
    offset: 10,
    message: /at most 32 bits/,
  },
  'a name that is not UTF-8': {
    bytes: [...preamble, 2, 7, 1, 2, 0xc3, 0x28, 0, 0, 0],
    code: 'invalid_module',
    offset: 12,
    message: /UTF-8/,
  },
  'a function without a type': {
    bytes: [...preamble, 3, 2, 1, 0],
    code: 'invalid_module',
    offset: 11,
    message: /found type 0/,
  },
  'a function without a body': {
    bytes: [...preamble, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0],
    code: 'invalid_module',
    offset: 18,
    message: /found no code section/,
  },
  'an export of nothing': {
    bytes: [...preamble, 7, 5, 1, 1, 0x66, 0, 0],
    code: 'invalid_module',
    offset: 14,
    message: /found 0/,
  },
};

describe('describeModule()', () => {
  for (const [name, { bytes, code, offset, message }] of Object.entries(refusals)) {
    it(`refuses ${name} at its offset, as instrument() does`, () => {
      for (const read of [describeModule, instrument]) {
        assert.throws(() => read(Uint8Array.from(bytes)), { name: 'InstrumentError', code, offset, message });
        assert.throws(() => read(Uint8Array.from(bytes)), {
          message: new RegExp(`\\(at offset 0x${offset.toString(16)}\\)$`),
        });
      }
    });
  }

  it('returns imports and exports with the types of functions', () => {
    const description = describeModule(
      wat(`(module
        (import "env" "f" (func (param i32 i64) (result f32)))
        (import "env" "m" (memory 1))
        (func (export "run") (param externref) (result v128 funcref) (unreachable))
        (global (export "g") i32 (i32.const 0))
        (tag (export "t")) (table (export "tab") 1 funcref))`),
    );
    assert.deepEqual(description, {
      imports: [
        { module: 'env', name: 'f', kind: 'function', type: { params: ['i32', 'i64'], results: ['f32'] } },
        { module: 'env', name: 'm', kind: 'memory' },
      ],
      exports: [
        { name: 'run', kind: 'function', type: { params: ['externref'], results: ['v128', 'funcref'] } },
        { name: 'g', kind: 'global' },
        { name: 't', kind: 'tag' },
        { name: 'tab', kind: 'table' },
      ],
      memories: [{ minimumPages: 1, pageBytes: 65_536, isImported: true, isExported: false, isShared: false }],
      functionCount: 2,
    });
  });

  it('returns the sizes of memories', () => {
    const { memories } = describeModule(
      wat('(module (import "env" "m" (memory 2 3 shared)) (memory (export "own") i64 5 70000))'),
    );
    assert.deepEqual(memories, [
      { minimumPages: 2, maximumPages: 3, pageBytes: 65_536, isImported: true, isExported: false, isShared: true },
      {
        minimumPages: 5,
        maximumPages: 70_000,
        pageBytes: 65_536,
        isImported: false,
        isExported: true,
        isShared: false,
      },
    ]);
    const bytes = Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 4, 1, 0x08, 9, 0]);
    assert.deepEqual(describeModule(bytes).memories[0], {
      minimumPages: 9,
      pageBytes: 1,
      isImported: false,
      isExported: false,
      isShared: false,
    });
  });
});

describe('what is handed in', () => {
  const module = Uint8Array.from(preamble);
  const notBytes: Record<string, [unknown, RegExp]> = {
    'an ArrayBuffer': [module.buffer, /as a Uint8Array, found ArrayBuffer$/],
    'another view': [new DataView(module.buffer), /found DataView$/],
    null: [null, /found null$/],
    nothing: [undefined, /found undefined$/],
    text: ['x', /found a string$/],
    'an array': [[...module], /found Array$/],
    'an object that says that it is one': [{ [Symbol.toStringTag]: 'Uint8Array' }, /found/],
  };
  for (const [what, [bytes, message]] of Object.entries(notBytes)) {
    it(`is refused by a typed error where it is ${what}`, () => {
      for (const read of [describeModule, instrument, listFunctions, listProposals]) {
        assert.throws(() => read(bytes as Uint8Array), { name: 'InstrumentError', code: 'not_wasm', message });
      }
    });
  }

  it('may be a Buffer, and an array of another realm', () => {
    const elsewhere = runInNewContext('Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)') as Uint8Array;
    for (const bytes of [Buffer.from(module), elsewhere]) assert.equal(instrument(bytes).report.totalFunctions, 0);
  });

  it('may have no option that is not known: a slip would trace everything', () => {
    const refusals: [unknown, RegExp][] = [
      [{ alowed: ['f'] }, /found "alowed"$/],
      [{ allowed: ['f'], Patterns: true }, /found "Patterns"$/],
      ['allowed', /to be an object, found a string$/],
      [null, /to be an object, found null$/],
      [['allowed'], /to be an object, found an array$/],
      [{ onProgress: 1 }, /"onProgress" to be a function, found a number$/],
    ];
    for (const [options, message] of refusals) {
      for (const read of [instrument, listFunctions]) {
        const refusal = { name: 'InstrumentError', code: 'invalid_config', message };
        assert.throws(() => read(module, options as InstrumentOptions), refusal);
      }
    }
  });
});

describe('instrument() on instructions', () => {
  const end = 0x0b;
  const bodies: Record<string, [number[], InstrumentErrorCode, number, RegExp]> = {
    'an unknown opcode': [[0x01, 0x27, end], 'invalid_module', 1, /Found opcode 0x27, which no instruction has/],
    'an unknown prefixed opcode': [[0xfc, 0x40, end], 'invalid_module', 0, /Found opcode 0xfc 0x40/],
    'a gap in SIMD': [[0xfd, 0x9a, 0x01, end], 'invalid_module', 0, /Found opcode 0xfd 0x9a/],
    'stack switching': [[0x01, 0xe2, 0, 0, end], 'unsupported_feature', 1, /stack switching/],
    'half precision': [[0xfd, 0xb0, 0x02, end], 'unsupported_feature', 0, /half precision/],
    'shared-everything threads': [[0xfe, 0x4f, 0, 0, end], 'unsupported_feature', 0, /shared-everything/],
    'a call of no function': [[0x10, 5, end], 'invalid_module', 1, /found 5/],
    'a label out of reach': [[0x0c, 1, end], 'invalid_module', 1, /label up to 0, found 1/],
    'a body without its end': [[0x01], 'invalid_module', 1, /found the end of the body/],
    'code behind the end': [[end, end], 'invalid_module', 1, /end of the body after its last end/],
    'legacy and exnref of exceptions': [
      [0x06, 0x40, 0x19, end, 0x1f, 0x40, 0, end, end],
      'unsupported_feature',
      4,
      /legacy and exnref/,
    ],
  };
  for (const [name, [code, errorCode, at, message]] of Object.entries(bodies)) {
    it(`refuses ${name}, naming the function and the offset`, () => {
      const offset = firstInstruction + at;
      const suffix = new RegExp(`in function 0 \\(at offset 0x${offset.toString(16)}\\)$`);
      assert.throws(() => instrument(withBody(code)), { code: errorCode, offset, functionIndex: 0, message });
      assert.throws(() => instrument(withBody(code)), { message: suffix });
    });
  }

  it('counts imports when it names a function', () => {
    const input = moduleOf(
      [section.type, emptyType],
      [section.import, repeated(3, [0, 0, 0, 0])],
      [section.function, [2, 0, 0]],
      [section.code, vector([body(), body(0x27)])],
    );
    assert.throws(() => instrument(input), { code: 'invalid_module', functionIndex: 4, message: /in function 4 \(/ });
  });

  it('counts a billion locals without making them', () => {
    const locals = [3, ...leb(1_000_000_000), 0x7f, ...leb(0xffff_ffff), 0x7e, 1, 0x7f];
    const module = withBody([end]);
    const body = [...leb(locals.length + 1), ...locals, end];
    const head = module.subarray(0, 8 + 6 + 4);
    const { bytes } = instrument(Uint8Array.from([...head, 10, ...leb(body.length + 1), 1, ...body]));
    assert.ok(bytes.length > 0);
  });

  it('takes 100,000 nested blocks', () => {
    const depth = 100_000;
    const blocks = new Array<number[]>(depth).fill([0x02, 0x40]).flat();
    const input = withBody(blocks.concat(0x0f, new Array<number>(depth + 1).fill(end)));
    const { bytes } = instrument(input);
    assert.equal(WebAssembly.validate(new Uint8Array(bytes)), WebAssembly.validate(new Uint8Array(input)));
  });

  it('takes padded LEB128', () => {
    const input = withBody([0x10, 0x80, 0x80, 0x80, 0x80, 0x00, 0x41, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x1a, end]);
    assert.ok(WebAssembly.validate(new Uint8Array(input)));
    assert.ok(WebAssembly.validate(new Uint8Array(instrument(input).bytes)));
  });

  it('refuses a module that was instrumented before, by any tool with this interface', () => {
    const { bytes } = instrument(withBody([end]));
    assert.throws(() => instrument(bytes), { code: 'already_instrumented', message: /observe\/instrument\.enter/ });
    const older = wat('(module (import "dylibso_observe" "instrument_enter" (func (param i32))))');
    assert.throws(() => instrument(older), { code: 'already_instrumented' });
    const manual = wat('(module (import "dylibso_observe" "span_enter" (func (param i32))))');
    assert.deepEqual(instrument(manual).bytes, manual);
  });

  it('leaves a function untraced that would pass the engines’ limit of a body, and notes it', () => {
    const nops = new Uint8Array(7_654_321 - 5).fill(0x01);
    const body = withBody([]);
    const head = [...body.subarray(0, 8 + 6)];
    const big = [...leb(nops.length + 2), 0];
    const small = [2, 0, end];
    const code = big.length + nops.length + 1 + small.length + 1;
    const input = new Uint8Array(head.length + 5 + 1 + leb(code).length + code);
    input.set([...head, 3, 3, 2, 0, 0, 10, ...leb(code), 2, ...big]);
    input.set(nops, input.length - nops.length - 1 - small.length);
    input.set([end, ...small], input.length - 1 - small.length);
    assert.ok(WebAssembly.validate(new Uint8Array(input)), 'the input validates');
    const { bytes, report } = instrument(input);
    assert.ok(WebAssembly.validate(new Uint8Array(bytes)), 'the output validates');
    assert.equal(report.tracedFunctions, 1);
    assert.ok(report.notes[0]?.code === 'function_left_untraced' && report.notes[0].functionIndex === 0);
  });
});
