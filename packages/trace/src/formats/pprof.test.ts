import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeSpan, smallTrace } from '../../test/support/make-span.ts';
import type { HeapProfile } from '../heap/heap-profile.ts';
import { heapPprof, pprof } from './pprof.ts';

/** The fields of a protobuf message, by number: numbers, or bytes. */
function readFields(bytes: Uint8Array): Map<number, (number | Uint8Array)[]> {
  const fields = new Map<number, (number | Uint8Array)[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    let value: number | Uint8Array = varint();
    if ((tag & 7) === 2) {
      at += value;
      value = bytes.subarray(at - value, at);
    }
    const known = fields.get(tag >> 3) ?? [];
    known.push(value);
    fields.set(tag >> 3, known);
  }
  return fields;
}

/** A profile's samples as `outermost;innermost: values`, and its texts. */
function readProfile(bytes: Uint8Array) {
  const profile = readFields(bytes);
  const messages = (field: number) => (profile.get(field) ?? []).map((each) => readFields(each as Uint8Array));
  const texts = (profile.get(6) ?? []).map((each) => new TextDecoder().decode(each as Uint8Array));
  const text = (index: unknown) => texts[Number(index ?? 0)];
  const names = new Map(messages(5).map((each) => [each.get(1)?.[0], text(each.get(2)?.[0])]));
  const nameOf = (location: unknown) => names.get(location as number);
  const samples = messages(2).map((sample) => {
    const stack = (sample.get(1) ?? []).map(nameOf).reverse();
    return `${stack.join(';')}: ${sample.get(2)?.join(' ')}`;
  });
  const types = messages(1).map((each) => `${text(each.get(1)?.[0])}/${text(each.get(2)?.[0])}`);
  return { samples, types, texts, dropFrames: text(profile.get(7)?.[0]), mapping: messages(3), text };
}

describe('pprof()', () => {
  it('has the calls and the self time of each stack', () => {
    const { samples, types, texts } = readProfile(pprof(smallTrace(), { fileName: 'tool.wasm', buildId: '0af7' }));
    assert.deepEqual(types, ['calls/count', 'time/nanoseconds']);
    const times = samples.map((sample) => Number(sample.split(' ').at(-1)));
    assert.equal(
      times.reduce((sum, time) => sum + time, 0),
      12_800_000,
    );
    assert.equal(samples[0], '_start: 1 3070');
    assert.ok(samples.some((sample) => sample.startsWith('_start;main;run: ')));
    assert.equal(texts[0], '');
    assert.ok(texts.includes('tool.wasm') && texts.includes('0af7'));
  });

  it('writes a profile without spans, deep stacks, and names that are not well-formed', () => {
    assert.deepEqual(readProfile(pprof([])).samples, []);
    const deep = Array.from({ length: 600 }, (_, at) =>
      makeSpan({
        id: at + 1,
        ...(at > 0 && { parent: at }),
        start: at,
        end: 2_000 - at,
        name: at === 0 ? '\ud800' : `f${at}`,
      }),
    );
    const { samples } = readProfile(pprof(deep, { maxDepth: 10 }));
    assert.ok(samples[0]?.startsWith('\ufffd: 1 '));
    assert.equal(samples.at(-1)?.split(';').length, 10);
  });
});

describe('heapPprof()', () => {
  const heapOf = (...paths: HeapProfile['paths']) => ({ paths }) as HeapProfile;
  const path = (...names: string[]) => names.map((name, index) => ({ index, rawName: name, name }));
  const counts = { allocations: 3, allocatedBytes: 300, liveAllocations: 1, liveBytes: 100 };

  it('has all and live allocations by path, and leaves allocators out of the view', () => {
    const { samples, types, dropFrames } = readProfile(
      heapPprof(
        heapOf(
          { ...counts, path: path('run', 'malloc') },
          { ...counts, path: path('run', 'operator new(unsigned long)') },
          { ...counts, path: path('malloc') },
          { ...counts, path: [] },
        ),
      ),
    );
    assert.deepEqual(types, ['alloc_objects/count', 'alloc_space/bytes', 'inuse_objects/count', 'inuse_space/bytes']);
    assert.deepEqual(samples, [
      'run;malloc: 3 300 1 100',
      'run;operator new(unsigned long): 3 300 1 100',
      '(host);malloc: 3 300 1 100',
      '(more paths): 3 300 1 100',
    ]);
    assert.equal(dropFrames, 'malloc|operator new');
  });

  it('reads names of allocators in time that their length determines', () => {
    const { dropFrames } = readProfile(
      heapPprof(heapOf({ ...counts, path: path('run', `f${'('.repeat(1_000_000)}\n`) })),
    );
    assert.equal(dropFrames, 'f');
  });

  it('escapes names in the pattern of allocators', () => {
    const { dropFrames } = readProfile(heapPprof(heapOf({ ...counts, path: path('run', '~lib/rt|.*+[x]') })));
    assert.equal(new RegExp(`^(?:${dropFrames})$`).test('~lib/rt|.*+[x]'), true);
    assert.equal(new RegExp(`^(?:${dropFrames})$`).test('main'), false);
  });
});
