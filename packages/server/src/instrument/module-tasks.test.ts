import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instrument, proposalNames } from '@tenon/instrument';
import { wasmProposals } from '@tenon/protocol/wasm-proposals';
import { leb } from '../../../../test/helpers/module-bytes.ts';
import { noLimits } from '../db/records.ts';
import { runTask } from './module-tasks.ts';

/** Bytes behind an id and a one-byte size, such as a section. */
function sized(id: number, content: readonly number[]): number[] {
  assert.ok(content.length < 128);
  return [id, content.length, ...content];
}

function name(text: string): number[] {
  const bytes = [...new TextEncoder().encode(text)];
  return [bytes.length, ...bytes];
}

function moduleOf(...sections: readonly number[][]): Uint8Array<ArrayBuffer> {
  return new Uint8Array([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, ...sections.flat()]);
}

const typeSection = sized(1, [1, 0x60, 0, 1, 0x7f]); // () -> i32
const functionSection = sized(3, [1, 0]);
const codeSection = (...operators: number[]) => sized(10, [1, operators.length + 2, 0, ...operators, 0x0b]);
const exportsOf = (...names: string[]) =>
  sized(7, [names.length, ...names.flatMap((exportName) => [...name(exportName), 0, 0])]);
const functionNamed = (text: string) => {
  const names = [1, 0, ...name(text)];
  return sized(0, [...name('name'), 1, names.length, ...names]);
};

const constant = [0x41, 0x01]; // i32.const 1
const missing = 'x (enable with --experimental-wasm-y)';

function errorOf(kind: 'check' | 'instrument', bytes: Uint8Array<ArrayBuffer>) {
  const result = runTask({ kind, bytes });
  assert.equal(result.ok, false);
  return 'error' in result ? result.error : assert.fail('no error');
}

describe('runTask()', () => {
  it('accepts a valid module with any names', () => {
    const bytes = moduleOf(
      typeSection,
      functionSection,
      exportsOf(missing),
      codeSection(...constant),
      functionNamed(missing),
    );
    assert.ok(runTask({ kind: 'check', bytes }).ok);
  });

  it('rejects an invalid module even if its instrumented form is valid', () => {
    // A block of type 1, which only the instrumented module has: (i32) -> ().
    const bytes = moduleOf(typeSection, functionSection, codeSection(...constant, 0x02, 0x01, 0x1a, 0x0b, ...constant));
    assert.ok(WebAssembly.validate(instrument(bytes).bytes));
    assert.equal(errorOf('instrument', bytes).code, 'invalid_module');
  });

  it('returns the interface of a module and its mismatches', () => {
    const bytes = moduleOf(typeSection, functionSection, exportsOf('greet', 'helper'), codeSection(...constant));
    const found = {
      sizeBytes: bytes.length,
      initialMemoryPages: 0,
      proposals: [],
      exports: ['greet', 'helper'].map((of) => ({
        name: of,
        kind: 'function',
        type: { params: [], results: ['i32'] },
      })),
      imports: [],
    };
    const requirements = {
      schemaJson: '{"exports":{"greet":{},"grete":{}}}',
      limits: { ...noLimits, maxModuleBytes: 8 },
    };
    const result = runTask({ kind: 'check', bytes, requirements });
    assert.ok(result.ok && 'checked' in result);
    assert.deepEqual(JSON.parse(result.checked.interfaceJson ?? ''), found);
    assert.deepEqual(
      result.checked.mismatches.map(({ code, pointer }) => [code, pointer]),
      [
        ['module_too_large', '/limits/maxModuleBytes'],
        ['missing_export', '/exports/grete'],
      ],
    );
    const interfaces = [JSON.stringify(found), JSON.stringify({ ...found, exports: [], sizeBytes: 8 })];
    const compared = runTask({ kind: 'compare', interfaces, requirements });
    assert.ok(compared.ok && 'compared' in compared);
    assert.deepEqual(compared.compared[0], result.checked.mismatches);
    assert.deepEqual(
      compared.compared[1]?.map(({ pointer }) => pointer),
      ['/exports/greet', '/exports/grete'],
    );
    const free = runTask({ kind: 'check', bytes });
    assert.ok(free.ok && 'checked' in free);
    assert.deepEqual(free.checked.mismatches, []);
  });

  it('returns the proposals that a module uses, and its memory size', () => {
    const twoPages = sized(5, [1, 0, 2]);
    const bytes = moduleOf(typeSection, functionSection, twoPages, codeSection(...constant, 0xc0)); // i32.extend8_s
    const result = runTask({ kind: 'check', bytes });
    assert.ok(result.ok && 'checked' in result);
    const { proposals, initialMemoryPages } = JSON.parse(result.checked.interfaceJson ?? '');
    assert.deepEqual([proposals, initialMemoryPages], [['sign-extension'], 2]);
  });

  it('returns no interface that is too large to store, but still its mismatches', () => {
    const names = Array.from({ length: 4_000 }, (_, at) => `exported${at}`);
    const entries = names.flatMap((of) => [...name(of), 0, 0]);
    const content = [...leb(names.length), ...entries];
    const exportSection = [7, ...leb(content.length), ...content];
    const bytes = moduleOf(typeSection, functionSection, exportSection, codeSection(...constant));
    const requirements = { schemaJson: '{"exports":{"exported7":{},"other":{}}}', limits: noLimits };
    const result = runTask({ kind: 'check', bytes, requirements });
    assert.ok(result.ok && 'checked' in result);
    assert.equal(result.checked.interfaceJson, null);
    assert.deepEqual(
      result.checked.mismatches.map(({ pointer }) => pointer),
      ['/exports/other'],
    );
  });

  it('knows the same proposals as the protocol', () => {
    assert.deepEqual(proposalNames, wasmProposals);
  });

  it('does not take names in an invalid module for a message about a missing feature', () => {
    const invalid = [
      moduleOf(typeSection, functionSection, codeSection(), functionNamed(missing)),
      moduleOf(typeSection, functionSection, codeSection(), functionNamed(`a" failed: ${missing}`)),
      moduleOf(typeSection, functionSection, codeSection(), functionNamed(`a' ${missing}`)),
      moduleOf(typeSection, functionSection, exportsOf(missing, missing), codeSection(...constant)),
      moduleOf(typeSection, functionSection, exportsOf(`'${missing}`, `'${missing}`), codeSection(...constant)),
    ];
    for (const bytes of invalid) {
      assert.equal(errorOf('check', bytes.slice()).code, 'invalid_module');
      assert.equal(errorOf('instrument', bytes.slice()).code, 'invalid_module');
    }
  });

  it('rejects a module for publishing that the engine cannot validate', () => {
    const wideArithmetic = [0x42, 0, 0x42, 0, 0x42, 0, 0x42, 0, 0xfc, 0x13, 0x1a, 0x1a]; // i64.add128
    const bytes = moduleOf(typeSection, functionSection, codeSection(...wideArithmetic, ...constant));
    assert.ok(!WebAssembly.validate(bytes), 'use another proposal: this engine supports it');
    assert.equal(errorOf('check', bytes).code, 'unsupported_feature');
  });

  it('instruments such a module, with a note that it was not validated', () => {
    const wideArithmetic = [0x42, 0, 0x42, 0, 0x42, 0, 0x42, 0, 0xfc, 0x13, 0x1a, 0x1a];
    const result = runTask({
      kind: 'instrument',
      bytes: moduleOf(typeSection, functionSection, codeSection(...wideArithmetic, ...constant)),
    });
    assert.ok(result.ok && 'instrumented' in result);
    assert.match(result.instrumented.notes.at(-1) ?? '', /not validated/);
  });
});
