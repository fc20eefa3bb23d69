import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { proposalNames } from '@tenon/instrument';
import { wasmProposals } from '@tenon/protocol/wasm-proposals';
import { noLimits } from '../domain/records.ts';
import { runTask } from './tasks.ts';

/** A section, or anything else that its size in one byte stands before. */
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

function refusalOf(kind: 'check' | 'instrument', bytes: Uint8Array<ArrayBuffer>) {
  const result = runTask({ kind, bytes });
  assert.equal(result.ok, false);
  return 'refusal' in result ? result.refusal : assert.fail('no refusal');
}

describe('runTask()', () => {
  it('takes a valid module, whatever its names say', () => {
    const bytes = moduleOf(
      typeSection,
      functionSection,
      exportsOf(missing),
      codeSection(...constant),
      functionNamed(missing),
    );
    assert.ok(runTask({ kind: 'check', bytes }).ok);
  });

  it('tells the interface of a module, and how it does not fit what is demanded', () => {
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
    const demands = { schemaJson: '{"exports":{"greet":{},"grete":{}}}', limits: { ...noLimits, maxModuleBytes: 8 } };
    const result = runTask({ kind: 'check', bytes, demands });
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
    const compared = runTask({ kind: 'compare', interfaces, demands });
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

  it('tells the proposals that a module uses, and the size of its memory', () => {
    const twoPages = sized(5, [1, 0, 2]);
    const bytes = moduleOf(typeSection, functionSection, twoPages, codeSection(...constant, 0xc0)); // i32.extend8_s
    const result = runTask({ kind: 'check', bytes });
    assert.ok(result.ok && 'checked' in result);
    const { proposals, initialMemoryPages } = JSON.parse(result.checked.interfaceJson ?? '');
    assert.deepEqual([proposals, initialMemoryPages], [['sign-extension'], 2]);
  });

  it('keeps no interface that is too large, and holds it against the demands all the same', () => {
    const names = Array.from({ length: 4_000 }, (_, at) => `exported${at}`);
    const entries = names.flatMap((of) => [...name(of), 0, 0]);
    const leb = (value: number) => [(value & 0x7f) | 0x80, ((value >> 7) & 0x7f) | 0x80, value >> 14];
    const content = [...leb(names.length), ...entries];
    const exportSection = [7, ...leb(content.length), ...content];
    const bytes = moduleOf(typeSection, functionSection, exportSection, codeSection(...constant));
    const demands = { schemaJson: '{"exports":{"exported7":{},"other":{}}}', limits: noLimits };
    const result = runTask({ kind: 'check', bytes, demands });
    assert.ok(result.ok && 'checked' in result);
    assert.equal(result.checked.interfaceJson, null);
    assert.deepEqual(
      result.checked.mismatches.map(({ pointer }) => pointer),
      ['/exports/other'],
    );
  });

  it('knows the proposals that an extension point may allow', () => {
    assert.deepEqual(proposalNames, wasmProposals);
  });

  it('is not led by the names of an invalid module to take it for one with a missing feature', () => {
    const invalid = [
      moduleOf(typeSection, functionSection, codeSection(), functionNamed(missing)),
      moduleOf(typeSection, functionSection, codeSection(), functionNamed(`a" failed: ${missing}`)),
      moduleOf(typeSection, functionSection, codeSection(), functionNamed(`a' ${missing}`)),
      moduleOf(typeSection, functionSection, exportsOf(missing, missing), codeSection(...constant)),
      moduleOf(typeSection, functionSection, exportsOf(`'${missing}`, `'${missing}`), codeSection(...constant)),
    ];
    for (const bytes of invalid) {
      assert.equal(refusalOf('check', bytes.slice()).code, 'invalid_module');
      assert.equal(refusalOf('instrument', bytes.slice()).code, 'invalid_module');
    }
  });

  it('publishes nothing that the engine cannot look at', () => {
    const wideArithmetic = [0x42, 0, 0x42, 0, 0x42, 0, 0x42, 0, 0xfc, 0x13, 0x1a, 0x1a]; // i64.add128
    const bytes = moduleOf(typeSection, functionSection, codeSection(...wideArithmetic, ...constant));
    assert.ok(!WebAssembly.validate(bytes), 'if this engine has it by now, take another proposal');
    assert.equal(refusalOf('check', bytes).code, 'unsupported_feature');
  });

  it('instruments such a module all the same, and says that it was not validated', () => {
    const wideArithmetic = [0x42, 0, 0x42, 0, 0x42, 0, 0x42, 0, 0xfc, 0x13, 0x1a, 0x1a];
    const result = runTask({
      kind: 'instrument',
      bytes: moduleOf(typeSection, functionSection, codeSection(...wideArithmetic, ...constant)),
    });
    assert.ok(result.ok && 'instrumented' in result);
    assert.match(result.instrumented.notes.at(-1) ?? '', /not validated/);
  });
});
