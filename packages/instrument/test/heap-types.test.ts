import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { moduleOf, section, sized, vector } from '../../../test/helpers/module-bytes.ts';
import { instrument, listProposals } from '../src/index.ts';

/** A module of one function, whose body is this code: locals, instructions. Type 1 is a structure. */
function withCode(...code: number[]): Uint8Array {
  return moduleOf(
    [
      section.type,
      vector([
        [0x60, 0, 0],
        [0x5f, 0],
      ]),
    ],
    [section.function, [1, 0]],
    [section.code, vector([sized([code])])],
  );
}

const end = 0x0b;
const [drop, unreachable] = [0x1a, 0x00];

/** Each place in a body that has a heap type, which is the hole; `accepted` says whether the engine takes index 1 there. */
const places: Record<string, (heapType: readonly number[]) => number[]> = {
  'a local': (type) => [1, 1, 0x63, ...type, end],
  'the type of a block': (type) => [0, 0x02, 0x63, ...type, unreachable, end, drop, end],
  'the type of a try_table': (type) => [0, 0x1f, 0x63, ...type, 0, unreachable, end, drop, end],
  'the type of an if that cannot be null': (type) => [
    0,
    unreachable,
    0x04,
    0x64,
    ...type,
    unreachable,
    0x05,
    unreachable,
    end,
    drop,
    end,
  ],
  'select with types': (type) => [0, unreachable, 0x1c, 1, 0x63, ...type, drop, end],
  'ref.null': (type) => [0, 0xd0, ...type, drop, end],
  'ref.test': (type) => [0, unreachable, 0xfb, 0x14, ...type, drop, end],
  'ref.test of what may be null': (type) => [0, unreachable, 0xfb, 0x15, ...type, drop, end],
  'ref.cast': (type) => [0, unreachable, 0xfb, 0x16, ...type, drop, end],
  'ref.cast of what may be null': (type) => [0, unreachable, 0xfb, 0x17, ...type, drop, end],
  'br_on_cast, from': (type) => [0, 0x02, 0x6d, unreachable, 0xfb, 0x18, 3, 0, ...type, 1, end, drop, end],
  'br_on_cast, to': (type) => [0, 0x02, 0x6d, unreachable, 0xfb, 0x18, 3, 0, 0x6d, ...type, end, drop, end],
  'br_on_cast_fail, to': (type) => [0, 0x02, 0x6d, unreachable, 0xfb, 0x19, 3, 0, 0x6d, ...type, end, drop, end],
};

const exactInConstant = moduleOf(
  [
    section.type,
    vector([
      [0x60, 0, 0],
      [0x5f, 0],
    ]),
  ],
  [section.function, [1, 0]],
  [section.global, vector([[0x6d, 0, 0xd0, 0x62, 1, end]])],
  [section.code, vector([sized([[0, end]])])],
);

describe('instrument() on heap types in function bodies', () => {
  for (const [place, code] of Object.entries(places)) {
    it(`reads an index, padded or not, and an abstract type in ${place}`, () => {
      assert.ok(WebAssembly.validate(new Uint8Array(withCode(...code([1])))), 'the input validates');
      for (const type of [[1], [0x81, 0x80, 0], [0x6b], [0xeb, 0x7f]]) {
        const input = withCode(...code(type));
        const { bytes } = instrument(input);
        assert.equal(
          WebAssembly.validate(new Uint8Array(bytes)),
          WebAssembly.validate(new Uint8Array(input)),
          `${type} in the output`,
        );
      }
    });

    it(`refuses an exact and a shared type in ${place}, whose bytes would be taken for instructions`, () => {
      const prefixes = {
        'the custom descriptors proposal': [[0x62], [0xe2, 0x7f]],
        'the shared-everything threads proposal': [[0x65], [0xe5, 0xff, 0x7f]],
      };
      for (const [feature, encodings] of Object.entries(prefixes)) {
        for (const prefix of encodings) {
          // 0x0f is `return`: misread, it is rewritten, and the module tests for another type.
          for (const input of [withCode(...code([...prefix, 1])), withCode(...code([...prefix, 0x0f]))]) {
            assert.throws(() => instrument(input), { code: 'unsupported_feature', feature, functionIndex: 0 });
            assert.throws(() => listProposals(input), { code: 'unsupported_feature' });
          }
        }
      }
    });

    it(`refuses a type that no proposal is known for in ${place}`, () => {
      assert.throws(() => instrument(withCode(...code([0x50, 1]))), { code: 'invalid_module', message: /0x50/ });
    });
  }

  it('refuses a shared value type without ref', () => {
    for (const code of [
      [1, 1, 0x65, 0x6e, end],
      [0, 0x02, 0x65, 0x6e, unreachable, end, drop, end],
    ]) {
      assert.throws(() => instrument(withCode(...code)), { code: 'unsupported_feature' });
    }
  });

  it('refuses an exact type in a constant expression', () => {
    assert.throws(() => instrument(exactInConstant), {
      code: 'unsupported_feature',
      feature: 'the custom descriptors proposal',
    });
  });
});
