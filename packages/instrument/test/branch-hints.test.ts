import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import loadWabt from 'wabt';
import { wat } from '../../../test/helpers/wat.ts';
import { instrument } from '../src/index.ts';
import { splitModule } from './support/sections.ts';

const wabt = await loadWabt();

/** The hints of a module as wabt sees them, each with the instruction that it lies on. */
function hintsOf(bytes: Uint8Array): string[] {
  const module = wabt.readWasm(new Uint8Array(bytes), { tail_call: true, code_metadata: true, annotations: true });
  try {
    const text = module.toText({ foldExprs: false, inlineExport: false });
    // What stands for "branch_hint" in that text is at times another string of wabt's.
    const hints = text.matchAll(/@metadata\.code\.[^"]*"\\0(\d)"\)\s+(\S+)/g);
    return Array.from(hints, ([, hint, instruction]) => `${hint} ${instruction}`);
  } finally {
    module.destroy();
  }
}

const calls = '(call $log (local.get 0)) '.repeat(3);
const hinted = wat(`(module
  (import "env" "log" (func $log (param i32)))
  ${'(func (param i32) (call $log (local.get 0)) (return))'.repeat(130)}
  (func $f (export "f") (param i32) (result i32)
    ${calls}
    (local.get 0) (@metadata.code.branch_hint "\\00") if (return (i32.const 1)) end
    ${calls}
    block (local.get 0) (@metadata.code.branch_hint "\\01") br_if 0 (return_call $f (i32.const 0)) end
    ${calls}
    (local.get 0) (@metadata.code.branch_hint "\\01") if end
    (i32.const 2))
  (func (param i32) (local.get 0) (@metadata.code.branch_hint "\\00") br_if 0))`);

describe('instrument() on branch hints', () => {
  const expected = ['0 if', '1 br_if', '1 if', '0 br_if'];

  it('moves them along with the branches that they speak of', () => {
    assert.deepEqual(hintsOf(hinted), expected);
    const { bytes, report } = instrument(hinted);
    assert.ok(WebAssembly.validate(new Uint8Array(bytes)));
    assert.deepEqual(hintsOf(bytes), expected);
    assert.deepEqual(report.notes, []);
  });

  it('moves them where only some functions are traced', () => {
    for (const options of [{ allowed: ['f'] }, { banned: ['f'] }, { allowed: ['env.log'] }]) {
      assert.deepEqual(hintsOf(instrument(hinted, options).bytes), expected);
    }
  });

  it('leaves malformed ones out, and says so', () => {
    const plain = wat('(module (func (export "f") (param i32) (local i64) (br_if 0 (local.get 0))))');
    const malformed = {
      'a function that is not there': [1, 9, 1, 3, 1, 0],
      'an offset behind the body': [1, 0, 1, 99, 1, 0],
      'an offset before the code': [1, 0, 1, 1, 1, 0],
      'offsets that descend': [1, 0, 2, 3, 1, 0, 2, 1, 0],
      'a count that the bytes cannot hold': [1, 0, 200, 1, 3, 1, 0],
      'bytes behind the last': [1, 0, 1, 3, 1, 0, 0],
    };
    for (const [what, contents] of Object.entries(malformed)) {
      const input = splitModule(plain).withCustom('metadata.code.branch_hint', Uint8Array.from(contents));
      const { bytes, report } = instrument(input);
      assert.deepEqual(hintsOf(bytes), [], what);
      assert.ok(
        report.notes.some(({ code }) => code === 'section_dropped'),
        what,
      );
    }
  });
});
