import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Segment, sourceMapOf } from '../../../../test/helpers/source-map.ts';
import { wat } from '../../../../test/helpers/wat.ts';
import { createSourceLookup, findDebugInfo } from '../../src/debug-info/index.ts';
import { InstrumentError } from '../../src/index.ts';

/** Two functions behind an import: bodies of 5 bytes at the code offsets 2 and 8. */
const input = wat('(module (import "m" "f" (func)) (func (i32.const 1) (drop)) (func (i32.const 2) (drop)))', {
  names: false,
});
const mapOf = (segments: readonly Segment[]) => sourceMapOf(['src/a.ts', 'src/b.ts'], segments);
const codeStart = createSourceLookup(input, { sourceMap: mapOf([[30, 0, 0, 0]]) })?.codeStart ?? 0;

describe('createSourceLookup() of a source map', () => {
  it('finds the mapping at or before an instruction, within its function', () => {
    const lookup = createSourceLookup(input, {
      sourceMap: mapOf([
        [codeStart + 3, 0, 4, 2],
        [codeStart + 5, 1, 6, 0],
      ]),
    });
    assert.deepEqual(lookup?.locate(2), []);
    assert.deepEqual(lookup?.locate(3), [{ file: 'src/a.ts', line: 5, column: 3 }]);
    assert.deepEqual(lookup?.locate(4), [{ file: 'src/a.ts', line: 5, column: 3 }]);
    assert.deepEqual(lookup?.locate(6), [{ file: 'src/b.ts', line: 7, column: 1 }]);
    assert.deepEqual(lookup?.locate(9), [], 'a mapping of another function');
    assert.deepEqual(lookup?.functionSource(0), undefined, 'an import');
    assert.deepEqual(lookup?.functionSource(1), { file: 'src/a.ts', line: 5, column: 3 });
    assert.deepEqual(lookup?.functionSource(2), undefined);
    assert.deepEqual(lookup?.lineRanges(2, 7), [
      { start: 3, end: 5, file: 'src/a.ts', line: 5, column: 3 },
      { start: 5, end: 7, file: 'src/b.ts', line: 7, column: 1 },
    ]);
    assert.deepEqual(lookup?.files(), ['src/a.ts', 'src/b.ts']);
  });

  it('reads maps in data URLs, and names those at other URLs', () => {
    const map = mapOf([[codeStart + 3, 0, 0, 0]]);
    const urls = [
      `data:application/json;charset=utf-8;base64,${Buffer.from(map).toString('base64')}`,
      `data:application/json,${encodeURIComponent(map)}`,
    ];
    for (const url of urls) {
      const lookup = createSourceLookup(withCustom(input, 'sourceMappingURL', url));
      assert.deepEqual(lookup?.locate(3), [{ file: 'src/a.ts', line: 1, column: 1 }]);
    }
    const remote = withCustom(input, 'sourceMappingURL', './app.wasm.map');
    assert.equal(createSourceLookup(remote), undefined);
    assert.deepEqual(findDebugInfo(remote), {
      dwarfBytes: 0,
      sourceMapUrl: './app.wasm.map',
      debugFileUrl: undefined,
    });
    assert.equal(findDebugInfo(withCustom(input, 'external_debug_info', 'a.debug')).debugFileUrl, 'a.debug');
  });

  it('reads maps with sections, a root, names, and mappings without a source', () => {
    const sections = [
      { offset: { line: 0, column: codeStart + 8 }, map: JSON.parse(mapOf([[2, 0, 8, 0]])) },
      { offset: { line: 1, column: 0 }, map: JSON.parse(mapOf([[3, 0, 1, 0]])) },
      {
        offset: { line: 0, column: 0 },
        map: {
          ...JSON.parse(mapOf([[codeStart + 3, 1, 2, 0, 0], [codeStart + 5]])),
          sourceRoot: '/root',
          names: ['f'],
        },
      },
    ];
    const lookup = createSourceLookup(input, { sourceMap: JSON.stringify({ version: 3, sections }) });
    assert.deepEqual(lookup?.locate(3), [{ file: '/root/src/b.ts', line: 3, column: 1, function: 'f' }]);
    assert.deepEqual(lookup?.locate(5), []);
    assert.deepEqual(lookup?.locate(10), [{ file: 'src/a.ts', line: 9, column: 1 }]);
  });

  it('reads a long root of many sources, and names that are no text', () => {
    const names = `[{"toString":1,"valueOf":1},${'['.repeat(20_000)}${']'.repeat(20_000)}]`;
    const sources = JSON.stringify(Array(20_000).fill('a.ts'));
    const root = 'r'.repeat(100_000);
    const sourceMap = `{"version":3,"sourceRoot":"${root}","sources":${sources},"names":${names},"mappings":"AAAAA"}`;
    assert.deepEqual(createSourceLookup(input, { sourceMap })?.files(), ['a.ts']);
  });

  it('has no locations for what is no source map', () => {
    const texts = ['', '{', '[]', '1', '{"version":3}', '{"version":3,"sources":[],"mappings":""}'];
    const malformed = ['!', 'A,AA', 'gggggggggggggggggA', 'AA', 'g'].map((mappings) =>
      JSON.stringify({ version: 3, sources: ['a'], mappings }),
    );
    for (const text of [...texts, ...malformed]) {
      const lookup = createSourceLookup(input, { sourceMap: text });
      assert.deepEqual(lookup?.locate(3) ?? [], [], text);
    }
    for (const url of ['data:', 'data:,%', 'data:;base64,?', 'https://example.com/a.map']) {
      assert.equal(createSourceLookup(withCustom(input, 'sourceMappingURL', url)), undefined, url);
    }
    assert.throws(() => createSourceLookup(new Uint8Array(3)), InstrumentError);
  });
});

function withCustom(module: Uint8Array, name: string, content: string): Uint8Array {
  const text = (value: string) => [...leb(value.length), ...Buffer.from(value)];
  const section = [...text(name), ...text(content)];
  return Uint8Array.from([...module, 0, ...leb(section.length), ...section]);
}

function leb(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}
