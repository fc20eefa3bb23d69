import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
    assert.deepEqual(runTask({ kind: 'check', bytes }), { ok: true, checked: true });
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
