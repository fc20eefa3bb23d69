import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encode } from '../../../test/helpers/call-trees/encode.ts';
import { makeProgram } from '../../../test/helpers/call-trees/make-program.ts';
import { createRandom } from '../../../test/helpers/random.ts';
import { readBodyBounds } from '../src/binary/code.ts';
import { readModule } from '../src/binary/module.ts';
import { instructionBits } from '../src/binary/proposal-bits.ts';
import { instrument } from '../src/index.ts';
import { nextPatchSite, readDepth, readPatchSites } from '../src/scan/patch-sites.ts';
import { scanCode } from '../src/scan/scan-code.ts';
import { windowCapacity } from '../src/scan/scan-kernel.ts';
import { samples } from './support/samples.ts';

const ignore = { onLocals() {}, onInstruction() {} };

/** What the scan finds, with the kernel or without it. */
function scan(bytes: Uint8Array, usesKernel: boolean) {
  const module = readModule(bytes);
  const found = scanCode(module, readBodyBounds(module), () => {}, usesKernel ? undefined : ignore);
  const sites = found.partitions.map(({ firstBody, lastBody, patchSites }) => {
    const offsets: (readonly [number, number])[] = [];
    for (const reader = readPatchSites(patchSites); reader.next < bytes.length; nextPatchSite(reader)) {
      offsets.push([reader.next, bytes[reader.next] === 0x0f ? readDepth(reader) : 0]);
    }
    return { firstBody, lastBody, offsets };
  });
  const { traits, grownMemories, referencedImports, exceptionHandling } = found;
  return { sites, traits, grownMemories, referencedImports, exceptionHandling, cost: module.cost.checkedValues };
}

/** The bits of the proposals of all instructions, with the kernel or without it. */
function proposalBits(bytes: Uint8Array, usesKernel: boolean): number {
  const module = readModule(bytes);
  let bits = 0;
  scanCode(module, readBodyBounds(module), () => {}, {
    ...(usesKernel ? { isForProposals: true } : {}),
    onLocals() {},
    onInstruction(offset, end) {
      bits |= instructionBits(bytes, offset, end, 0);
    },
  });
  return bits;
}

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

const section = (id: number, contents: readonly number[]) => [id, ...leb(contents.length), ...contents];
const vector = (entries: readonly (readonly number[])[]) => [...leb(entries.length), ...entries.flat()];

/** A module whose types are narrow, wide, and very wide, and whose functions have the given bodies. */
function moduleOf(bodies: readonly (readonly number[])[]): Uint8Array {
  const types = [0, 3, 17, 40].map((width) => [0x60, ...leb(width), ...Array(width).fill(0x7f), 0]);
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector(types)),
    ...section(3, vector(bodies.map((_, index) => [index % 4]))),
    ...section(5, [1, 0, 1]),
    ...section(10, vector(bodies.map((body) => [...leb(body.length), ...body]))),
  ]);
}

/** Instructions of every kind that the kernel reads, in short and in long forms. They need not validate. */
const forms: readonly (readonly number[])[] = [
  [0x01],
  [0x20, 0x05],
  [0x20, 0x85, 0x01],
  [0x41, 0x85, 0x86, 0x01],
  [0x41, 0xff, 0xff, 0xff, 0xff, 0x07],
  [0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00],
  [0x43, 1, 2, 3, 4],
  [0x44, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b],
  [0x28, 0x02, 0x08],
  [0x28, 0x02, 0x88, 0x08],
  [0x28, 0x02, 0x88, 0x88, 0x08],
  [0x28, 0x02, 0x88, 0x88, 0x88, 0x08],
  [0x28, 0x42, 0x00, 0x08],
  [0x10, 0x00],
  [0x10, 0x82, 0x00],
  [0x10, 0x83, 0x80, 0x00],
  [0x10, 0x82, 0x80, 0x80, 0x00],
  [0x11, 0x02, 0x00],
  [0x11, 0x83, 0x00, 0x80, 0x00],
  [0x0f],
  [0xd2, 0x00],
  [0xd0, 0x70],
  [0x40, 0x00],
  [0xc0],
  [0xfc, 0x00],
  [0xfd, 0x80, 0x02],
  [0x1c, 0x01, 0x7f],
  [0x1c, 0x01, 0x70],
  [0x08, 0x00],
  [0x09, 0x80, 0x00],
  [0x07, 0x00],
  [0xfc, 0x0a, 0x00, 0x00],
  [0xfd, 0x0c, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
  [0xfd, 0x54, 0x00, 0x80, 0x01, 0x03],
  [0xfd, 0x80, 0x01],
  [0xfe, 0x10, 0x02, 0x04],
];

describe('the kernel of the scan', () => {
  it('finds the same as the scan without it, in samples and in programs', async () => {
    const programs = Array.from({ length: 8 }, (_, seed) => encode(makeProgram(seed), seed));
    for (const bytes of [...Object.values(await samples()), ...programs]) {
      assert.deepEqual(scan(bytes, true), scan(bytes, false));
    }
  });

  it('finds the same in bodies of random instructions, some larger than its window', () => {
    for (let seed = 1; seed <= 2; seed++) {
      const random = createRandom(seed);
      const body = (instructions: number) => {
        const code = [...vector(Array.from({ length: random.below(20) }, () => [...leb(random.below(300)), 0x7f]))];
        let depth = 0;
        for (let index = 0; index < instructions; index++) {
          const choice = random.below(forms.length + 8);
          if (choice < forms.length) code.push(...(forms[choice] as number[]));
          else if (choice < forms.length + 2) {
            code.push(
              [0x02, 0x03, 0x04, 0x06][random.below(4)] as number,
              [0x40, 0x7f, 0x01, 0x02][random.below(4)] as number,
            );
            depth++;
          } else if (choice < forms.length + 4 && depth > 0) {
            if (random.below(4) > 0) code.push(0x0b);
            else code.push(0x18, random.below(depth));
            depth--;
          } else if (choice < forms.length + 6) code.push(0x0c, random.below(depth + 1));
          else
            code.push(0x0e, ...vector(Array.from({ length: random.below(140) }, () => [random.below(depth + 1)])), 0);
        }
        return [...code, ...Array(depth + 1).fill(0x0b)];
      };
      const sizes = [8_000, ...Array.from({ length: 60 }, () => random.below(200)), 3, 2_000, 1];
      const bytes = moduleOf(sizes.map(body));
      assert.deepEqual(scan(bytes, true), scan(bytes, false), `seed ${seed}`);
      assert.equal(proposalBits(bytes, true), proposalBits(bytes, false), `seed ${seed}`);
      assert.ok(bytes.length > windowCapacity);
    }
  });

  it('finds the same at every distance between patch sites, and at every depth of a return', () => {
    const nops = (count: number) => Array(count).fill(0x01);
    const calls = Array.from({ length: 300 }, (_, gap) => [...nops(gap), 0x10, 0]).flat();
    const opened = Array.from({ length: 260 }, () => [0x02, 0x40, 0x0f]).flat();
    const branches = Array.from({ length: 260 }, (_, label) => [0x0d, ...leb(label)]).flat();
    const bytes = moduleOf([
      [0, ...opened, ...branches, ...Array(261).fill(0x0b)],
      [0, ...opened, 0x0c, ...leb(260), ...Array(261).fill(0x0b)],
      [0, ...calls, 0x0b],
      [0, ...opened, ...Array(261).fill(0x0b)],
    ]);
    assert.deepEqual(scan(bytes, true), scan(bytes, false));
  });

  it('counts the values of deep branch tables without an overflow', () => {
    const depth = 262_144; // fills whole windows
    const code = Buffer.concat([
      Buffer.alloc(1),
      Buffer.alloc(2 * depth, Uint8Array.of(0x02, 0x40)),
      Buffer.alloc(16, 0x01),
      Buffer.alloc(3 * 10_928, Uint8Array.of(0x0e, 0, 0)), // one window, and 2^31 < 10,928 * depth < 2^32
      Buffer.alloc(depth + 1, 0x0b),
    ]);
    const head = moduleOf([[0x0b]]).subarray(0, -5);
    const bytes = Buffer.concat([
      head,
      Uint8Array.from([10, ...leb(code.length + 1 + leb(code.length).length), 1, ...leb(code.length)]),
      code,
    ]);
    assert.throws(() => instrument(bytes), { code: 'module_too_complex' });
  });

  it('gives errors of the first fault, wherever the others are', () => {
    const good = [0, 0x41, 0, 0x1a, 0x0b];
    const bodies = Array.from({ length: 40 }, (_, index) =>
      index === 7 ? [0, 0xff, 0x0b] : index > 20 ? [0, 0x27, 0x0b] : good,
    );
    assert.throws(() => instrument(moduleOf(bodies)), { code: 'invalid_module', message: /0xff.*in function 7/ });
  });

  it('is not disturbed by a listener that instruments', () => {
    const bytes = moduleOf(Array.from({ length: 4 }, () => [0, ...Array(300_000).fill(0x01), 0x10, 0, 0x0b]));
    const inner: Uint8Array[] = [];
    const onProgress = () => inner.push(instrument(bytes).bytes);
    const outer = instrument(bytes, { onProgress }).bytes;
    assert.ok(inner.length > 0);
    for (const output of inner) assert.equal(Buffer.compare(output, outer), 0);
  });
});
