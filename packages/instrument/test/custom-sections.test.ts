import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leb, sized, text } from '../../../test/helpers/module-bytes.ts';
import { wat } from '../../../test/helpers/wat.ts';
import { type InstrumentOptions, type InstrumentResult, instrument } from '../src/index.ts';
import { customSection, splitModule } from './support/sections.ts';

const input = wat(`(module
  (type $unary (func (param i32) (result i32)))
  (import "env" "log" (func $log (type $unary)))
  (table 2 funcref)
  (elem (i32.const 0) $log $second)
  (func $first (export "first") (type $unary)
    (call $log (i32.const 7))
    (call_indirect (type $unary) (i32.const 1)))
  (func $second (type $unary) (return_call_indirect (type $unary) (i32.const 3) (i32.const 1))))`);
const parts = splitModule(input);
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

// The bodies have no locals. $first: i32.const 7 at 1, call at 3, i32.const at 5, call_indirect at 7.
const callIndirect = 7;
// $second: i32.const 3 at 1, i32.const 1 at 3, return_call_indirect at 5.
const returnCallIndirect = 5;

function withSection(name: string, contents: Uint8Array | number[], options: InstrumentOptions = {}) {
  const result = instrument(parts.withCustom(name, Uint8Array.from(contents)), options);
  assert.ok(WebAssembly.validate(new Uint8Array(result.bytes)));
  return { ...result, section: customSection(result.bytes, name) };
}

function droppedIn({ report }: InstrumentResult): (string | false)[] {
  return report.notes.map((note) => note.code === 'section_dropped' && note.section);
}

/** The opcode at an offset in the body of a function, by its index in the output. */
function opcodeAt(bytes: Uint8Array, functionIndex: number, offset: number): number | undefined {
  const start = bodyStart(bytes, functionIndex);
  return bytes[start + offset];
}

/** Finds a body without the package's own readers. */
function bodyStart(bytes: Uint8Array, functionIndex: number): number {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(new Uint8Array(bytes)));
  let at = 8;
  const u32 = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  for (;;) {
    const id = bytes[at++];
    const size = u32();
    if (id === 10) break;
    at += size;
  }
  u32();
  for (let index = imports.filter(({ kind }) => kind === 'function').length; ; index++) {
    const size = u32();
    if (index === functionIndex) return at;
    at += size;
  }
}

describe('instrument() on sections with offsets or indices', () => {
  // Two hooks come behind the import.
  const first = 1 + 2;
  const second = 2 + 2;

  it('moves code metadata, apart from that of whole functions', () => {
    for (const name of ['trace_inst', 'compilation_priority', 'instr_freq', 'branch_hint']) {
      const items = [2, 0, 1, 9, callIndirect, 1, 33];
      const { bytes, section, report } = withSection(`metadata.code.${name}`, [1, 1, ...items]);
      assert.deepEqual(report.notes, []);
      const [count, index, itemCount, forFunction, , payload, moved] = section ?? [];
      assert.deepEqual([count, index, itemCount, forFunction, payload], [1, first, 2, 0, 9]);
      assert.equal(opcodeAt(bytes, first, moved as number), 0x11);
    }
  });

  it('moves call targets, and changes their indices', () => {
    const functions = [2, 1, 1, callIndirect, 4, 0, 60, 2, 40, 2, 1, returnCallIndirect, 2, 1, 100];
    const { bytes, section, report } = withSection('metadata.code.call_targets', functions);
    assert.deepEqual(report.notes, []);
    const [, , , moved = 0, ...rest] = section ?? [];
    // The import is called through its wrapper, which comes last.
    assert.deepEqual(rest.slice(0, 8), [4, 5, 60, second, 40, second, 1, rest[7]]);
    assert.equal(opcodeAt(bytes, first, moved), 0x11);
    assert.equal(opcodeAt(bytes, second, rest[7] as number), 0x13);
    assert.deepEqual(rest.slice(8), [2, first, 100]);
  });

  it('changes lists of functions', () => {
    const annotated = withSection('.llvm.func_attr.annotate.hot', [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]);
    assert.deepEqual([...(annotated.section ?? [])], [first, 0, 0, 0, 0, 0, 0, 0, second, 0, 0, 0]);
    const hinted = withSection('compilationHints', [2, 0x15, 0x2a]);
    assert.deepEqual([...(hinted.section ?? [])], [3, 0x15, 0x2a, 0]);
    assert.deepEqual([...annotated.report.notes, ...hinted.report.notes], []);
  });

  it('makes a new build ID, and reports the old one', () => {
    for (const length of [0, 1, 16, 20, 33]) {
      const id = Array.from({ length }, (_, at) => at);
      const { report, section } = withSection('build_id', [length, ...id]);
      const hex = (bytes: number[]) => Buffer.from(bytes).toString('hex');
      assert.deepEqual(report.buildId, { input: hex(id), output: hex([...(section ?? [])].slice(1)) });
      assert.equal(section?.[0], length);
      if (length > 0) assert.notEqual(report.buildId?.input, report.buildId?.output);
      assert.deepEqual(withSection('build_id', [length, ...id]).section, section, 'deterministic');
      if (length < 16) continue;
      const others = [
        withSection('build_id', [length, ...id], { allowed: ['first'] }),
        withSection('build_id', [length, ...id.with(0, 9)]),
      ];
      for (const other of others) assert.notDeepEqual(other.section, section);
    }
    const unchanged = withSection('build_id', [1, 5], { allowed: [] });
    assert.equal(unchanged.report.buildId, undefined);
    assert.deepEqual([...(unchanged.section ?? [])], [1, 5]);
  });

  it('drops what it can not rewrite, and notes each', () => {
    const dropped = ['.debug_info', 'external_debug_info', 'metadata.code.other', 'corestack', 'instTrace'];
    for (const name of dropped) {
      const result = withSection(name, [0]);
      assert.equal(result.section, undefined);
      assert.deepEqual(droppedIn(result), [name]);
      assert.match(result.report.notes[0]?.message ?? '', /was dropped: it /);
    }
  });

  it('drops malformed sections, and notes each', () => {
    const malformed: [string, number[]][] = [
      ['build_id', [2, 1]],
      ['build_id', [1, 1, 1]],
      ['compilationHints', [1, 0]],
      ['compilationHints', [2, 0]],
      ['.llvm.func_attr.annotate.x', [1, 0, 0]],
      ['.llvm.func_attr.annotate.x', [9, 0, 0, 0]],
      ['metadata.code.instr_freq', [1, 0, 1, 3, 1, 0]], // an import has no body
      ['metadata.code.instr_freq', [1, 1, 2, 3, 1, 0, 3, 1, 0]],
      ['metadata.code.instr_freq', [1, 1, 1, 3, 9, 0]],
      ['metadata.code.call_targets', [1, 1, 1, callIndirect, 2, 9, 100]],
      ['metadata.code.call_targets', [1, 1, 1, callIndirect, 1, 1]],
      ['sourceMappingURL', [9]],
      ['sourceMappingURL', [1, 0x61, 0]],
    ];
    for (const [name, contents] of malformed) {
      const result = withSection(name, contents);
      assert.equal(result.section, undefined, `${name} ${contents}`);
      assert.deepEqual(droppedIn(result), [name], `${name} ${contents}`);
      assert.match(result.report.notes[0]?.message ?? '', /it is malformed: /);
    }
    const twice = instrument(
      splitModule(parts.withCustom('build_id', Uint8Array.of(1, 1))).withCustom('build_id', Uint8Array.of(1, 2)),
    );
    assert.deepEqual(droppedIn(twice), ['build_id']);
  });
});

describe('instrument() on source maps', () => {
  /** Offsets in the file of two instructions, and behind the code. */
  const [call, indirect, end] = [bodyStart(input, 1) + 3, bodyStart(input, 1) + callIndirect, input.length];
  const fields = (...values: number[]) => values.map(vlq).join('');
  const mappings = [fields(call, 0, 4, 2), fields(indirect - call, 0, 1, -2, 0), fields(end - indirect)].join();
  const map = { version: 3, file: 'a.wasm', sources: ['a.ts'], names: ['f'], mappings, scopes: 'A' };
  const json = JSON.stringify(map);
  const url = (value: string) => [...text(value)];
  const data = (value: string) => url(`data:application/json;base64,${btoa(value)}`);

  /** The columns of a map, and the other fields of its segments. */
  function columns(rewritten: string | undefined): number[] {
    const parsed = JSON.parse(rewritten ?? '') as typeof map;
    assert.deepEqual({ ...parsed, mappings: '', scopes: 'A' }, { ...map, mappings: '' });
    assert.equal(Object.hasOwn(parsed, 'scopes'), false);
    let column = 0;
    return parsed.mappings.split(',').map((segment) => {
      column += unvlq(segment);
      return column;
    });
  }

  function assertMoved(bytes: Uint8Array, rewritten: string | undefined): void {
    const [movedCall = 0, movedIndirect = 0, movedEnd = 0] = columns(rewritten);
    assert.equal(bytes[movedCall], 0x10);
    assert.equal(bytes[movedIndirect], 0x11);
    assert.ok(movedEnd > movedIndirect && movedEnd < bytes.length);
  }

  const inlineMap = (section: Uint8Array | undefined) => {
    const value = new TextDecoder().decode(section?.subarray(leb((section?.length ?? 0) - 2).length));
    return atob(value.slice(value.indexOf(',') + 1));
  };

  it('rewrites one in the module, wherever its section lies', () => {
    for (const encoded of [data(json), url(`data:application/json,${encodeURIComponent(json)}`)]) {
      const { bytes, section, report } = withSection('sourceMappingURL', encoded);
      assert.deepEqual(report.notes, []);
      assertMoved(bytes, inlineMap(section));
    }
    // Before the code, every offset is further on by the size of the section.
    const contents = Buffer.concat([text('sourceMappingURL'), Uint8Array.from(data(json))]);
    const section = Buffer.concat([Uint8Array.of(0), sized([contents])]);
    const before = Uint8Array.from(Buffer.concat([input.subarray(0, 8), section, input.subarray(8)]));
    const { bytes, report } = instrument(before);
    assert.deepEqual(report.notes, []);
    assert.ok(WebAssembly.validate(new Uint8Array(bytes)));
    assert.ok(customSection(bytes, 'sourceMappingURL'));
  });

  it('rewrites one that is given, and keeps its URL or sets another one', () => {
    const named = withSection('sourceMappingURL', url('./a.wasm.map'), { sourceMap: json });
    assertMoved(named.bytes, named.sourceMap);
    assert.deepEqual([...(named.section ?? [])], url('./a.wasm.map'));
    const renamed = withSection('sourceMappingURL', url('a.map'), {
      sourceMap: `)]}'\n${json}`,
      sourceMapUrl: 'b.map',
    });
    assert.deepEqual([...(renamed.section ?? [])], url('b.map'));
    assert.deepEqual(renamed.sourceMap, named.sourceMap);
    const embedded = withSection('sourceMappingURL', url('a.map'), { sourceMap: json, sourceMapUrl: 'data:' });
    assert.equal(inlineMap(embedded.section), named.sourceMap);
    assertMoved(named.bytes, instrument(input, { sourceMap: json }).sourceMap);
    assert.equal(instrument(input, { sourceMap: json, allowed: [] }).sourceMap, json);
    const absent = withSection('sourceMappingURL', url('a.map'));
    assert.deepEqual(
      [absent.section, absent.sourceMap, droppedIn(absent)],
      [undefined, undefined, ['sourceMappingURL']],
    );
  });

  it('rewrites the sections of an index map', () => {
    const inner = { version: 3, sources: ['a.ts'], names: [], mappings: fields(callIndirect - 3, 0, 0, 0) };
    const index = { version: 3, sections: [{ offset: { line: 0, column: call }, map: inner }] };
    const { bytes, sourceMap } = instrument(input, { sourceMap: JSON.stringify(index) });
    const [section] = (JSON.parse(sourceMap ?? '') as typeof index).sections;
    assert.equal(bytes[section?.offset.column ?? 0], 0x10);
    assert.equal(bytes[(section?.offset.column ?? 0) + unvlq(section?.map.mappings ?? '')], 0x11);
  });

  it('drops malformed ones, and notes it', () => {
    const malformed = [
      '',
      'null',
      '[]',
      '{}',
      '{"version":2,"mappings":"A"}',
      '{"version":3}',
      ...['!', 'AA', 'AAAAAA', 'D', 'gggggggggA', 'zzzzzzzC', 'ö', 'g'].map((text) =>
        JSON.stringify({ version: 3, mappings: text }),
      ),
      '{"version":3,"sections":[{}]}',
      '{"version":3,"sections":[{"offset":{"line":1,"column":0},"map":{}}]}',
      '{"version":3,"sections":[{"offset":{"line":0,"column":-1},"map":{}}]}',
      '{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":{"version":3}}]}',
    ];
    for (const sourceMap of malformed) {
      const given = withSection('sourceMappingURL', url('a.map'), { sourceMap });
      assert.equal(given.sourceMap, undefined, sourceMap);
      assert.deepEqual(
        given.report.notes.map(({ code }) => code),
        ['source_map_dropped', 'section_dropped'],
        sourceMap,
      );
      assert.deepEqual(droppedIn(withSection('sourceMappingURL', data(sourceMap))), ['sourceMappingURL'], sourceMap);
    }
    const undecodable = ['data:application/json;base64,%', 'data:application/json,%ff', 'data:'];
    for (const value of undecodable) {
      assert.deepEqual(droppedIn(withSection('sourceMappingURL', url(value))), ['sourceMappingURL'], value);
    }
  });
});

function vlq(value: number): string {
  let result = '';
  for (let rest = value < 0 ? -2 * value + 1 : 2 * value; ; rest >>>= 5) {
    result += digits[(rest & 31) | (rest > 31 ? 32 : 0)];
    if (rest <= 31) return result;
  }
}

/** The first field of a segment. */
function unvlq(segment: string): number {
  let value = 0;
  for (let at = 0; ; at++) {
    const digit = digits.indexOf(segment[at] as string);
    value |= (digit & 31) << (5 * at);
    if (digit < 32) return value & 1 ? -(value >> 1) : value >> 1;
  }
}
