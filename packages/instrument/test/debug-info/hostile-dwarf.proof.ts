import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { customSection, leb } from '../../../../test/helpers/module-bytes.ts';
import { wat } from '../../../../test/helpers/wat.ts';
import { createSourceLookup, type SourceLookup } from '../../src/debug-info/index.ts';
import { instrument } from '../../src/index.ts';

/** A function whose body has the code offsets 2 to 5. */
const input = wat('(module (func (nop)))', { names: false });

const [compileUnit, subprogram] = [0x11, 0x2e];
const [name, lowPc, highPc, abstractOrigin, ranges, declaration] = [0x03, 0x11, 0x12, 0x31, 0x55, 0x3c];
const [addr, data4, string, ref4, indirect, secOffset] = [0x01, 0x06, 0x08, 0x13, 0x16, 0x17];
const [flagPresent, implicitConst] = [0x19, 0x21];

const u16 = (value: number) => [value & 255, value >> 8];
const u32 = (value: number) => [...u16(value & 0xffff), ...u16(value >>> 16)];

type Abbreviations = readonly (readonly [tag: number, hasChildren: number, ...attributes: number[]])[];

/** The lookup of {@link moduleWith}. */
function withDwarf(...parts: Parameters<typeof moduleWith>): SourceLookup {
  const lookup = createSourceLookup(moduleWith(...parts));
  assert.ok(lookup);
  return lookup;
}

/**
 * A module with one unit of DWARF 4. Abbreviations: a tag, whether there are children, names and forms. The last one has the
 * given code.
 */
function moduleWith(
  abbreviations: Abbreviations,
  entries: readonly number[],
  others: readonly Uint8Array[] = [],
  lastCode: number = abbreviations.length,
): Uint8Array {
  const table = abbreviations.flatMap(([tag, hasChildren, ...attributes], at) => [
    ...leb(at + 1 === abbreviations.length ? lastCode : at + 1),
    ...[tag, hasChildren],
    ...[...attributes, 0, 0].flatMap(leb),
  ]);
  const unit = [...u16(4), ...u32(0), 4, ...entries];
  const info = customSection('.debug_info', Uint8Array.from([...u32(unit.length), ...unit]));
  return Buffer.concat([input, customSection('.debug_abbrev', [...table, 0]), info, ...others]);
}

const unitOfAll = [compileUnit, 1, lowPc, addr, highPc, data4] as const;
const all = [...u32(2), ...u32(3)];
/** Entries begin behind the header. */
const firstEntry = 11;

describe('hostile DWARF', () => {
  it('has functions that are inlined from each other in a circle', () => {
    const origin = [subprogram, 0, lowPc, addr, highPc, data4, abstractOrigin, ref4] as const;
    const second = firstEntry + 9;
    const lookup = withDwarf(
      [unitOfAll, origin],
      [1, ...all, 2, ...all, ...u32(second + 13), 2, ...u32(0), ...u32(0), ...u32(second), 0],
    );
    assert.deepEqual(lookup.locate(3), [{ file: '(unknown)', line: 0, column: 0 }]);
    assert.equal(lookup.functionSource(0), undefined);
  });

  it('has a form that refers to the next one 100,000 times', () => {
    const lookup = withDwarf(
      [unitOfAll, [subprogram, 0, 0x3e, indirect]],
      [1, ...all, 2, ...Array.from({ length: 100_000 }, () => indirect), 0],
    );
    assert.deepEqual(lookup.locate(3), []);
  });

  it('has entries that are 20,000 deep', () => {
    const deep = [subprogram, 1, name, string, lowPc, addr, highPc, data4] as const;
    const entry = [2, 0x66, 0, ...all];
    const lookup = withDwarf([unitOfAll, deep], [1, ...all, ...Array.from({ length: 20_000 }, () => entry).flat()]);
    assert.deepEqual(lookup.locate(3), [{ file: '(unknown)', line: 0, column: 0, function: 'f' }]);
  });

  it('has 50,000 functions with the same 50,000 ranges', () => {
    const shared = [subprogram, 0, ranges, secOffset] as const;
    const entry = [2, ...u32(0)];
    const list = Array.from({ length: 50_000 }, () => [...u32(2), ...u32(3)]).flat();
    const lookup = withDwarf(
      [unitOfAll, shared],
      [1, ...all, ...Array.from({ length: 50_000 }, () => entry).flat(), 0],
      [customSection('.debug_ranges', Uint8Array.from([...list, ...u32(0), ...u32(0)]))],
    );
    assert.ok(lookup.locate(3).length <= 1);
    assert.deepEqual(lookup.files(), []);
  });

  const many = (count: number, ...values: readonly number[]) => Array.from({ length: count }, () => values).flat();

  for (const [what, abbreviation, entry, code] of [
    ['flags', many(100_000, declaration, flagPresent), [2], 2],
    ['flags, of an abbreviation with a large code', many(100_000, declaration, flagPresent), leb(70_000), 70_000],
    ['constants', [lowPc, addr, ...many(100_000, highPc, implicitConst, 0)], [2, ...u32(2)], 2],
  ] as const) {
    it(`has 100,000 entries with 100,000 ${what}`, () => {
      const abbreviations: Abbreviations = [unitOfAll, [subprogram, 0, ...abbreviation]];
      const bytes = moduleWith(abbreviations, [1, ...all, ...many(100_000, ...entry), 0], [], code);
      assert.ok(createSourceLookup(bytes)?.locate(3));
      assert.ok(WebAssembly.validate(instrument(bytes).bytes));
    });
  }
});
