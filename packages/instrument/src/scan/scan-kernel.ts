import { ImmediateKind, oneByteKinds, prefixedKinds } from '../binary/opcodes.ts';
import { isShortValueType } from '../binary/types.ts';
import { maxLocals } from '../binary/validation-cost.ts';
import { freeWidth } from '../limits.ts';
import { probeMark, wideMark } from './patch-sites.ts';
import { kernelBase64 } from './scan-kernel-bytes.ts';

/** Streams that the kernel reads in turn. */
export const streamCount = 4;

/** Bytes of code that a stream reads before its window is filled again. */
export const windowBytes = 32_768;
/** The kernel may read so many bytes behind that: 16 instructions, of which the longest is a branch table of 130 bytes. */
const slackBytes = 4_096;
export const windowCapacity: number = windowBytes + slackBytes;

/** The fields of a stream's state, as indices into its 16 numbers; see `scan-kernel.wat`. */
export const StreamField = {
  pos: 0,
  depth: 1,
  end: 2,
  limit: 3,
  sitesEnd: 4,
  lastSite: 5,
  traitsEnd: 6,
  bodiesLeft: 7,
  traits: 8,
  functionIndex: 9,
  ownWidth: 10,
  values: 11,
  reason: 12,
} as const;
export const streamFields = 16;

/** Why a stream stands still. */
export const StopReason = { none: 0, done: 1, slowInstruction: 2, fault: 3, endOfWindow: 4, slowLocals: 5 } as const;

const kindsAt = 1024;
const prefixedKindsAt = 1280;
const entriesAt = 4096;
const windowsAt: number = entriesAt + 2 * 0x1_0000;
const sitesAt: number = windowsAt + streamCount * windowCapacity;
/** A `return` of one byte makes two bytes of patch sites. */
const sitesCapacity = 2 * windowCapacity;
const traitsAt: number = sitesAt + streamCount * sitesCapacity;
const waitingAt: number = traitsAt + streamCount * windowCapacity;
const tablesAt: number = waitingAt + 64;

/** The addresses of a stream's buffers. */
export const windowOf = (stream: number): number => windowsAt + stream * windowCapacity;
export const sitesOf = (stream: number): number => sitesAt + stream * sitesCapacity;
export const traitsOf = (stream: number): number => traitsAt + stream * windowCapacity;

interface KernelExports {
  readonly memory: WebAssembly.Memory;
  readonly run: () => void;
  readonly functionTypes: WebAssembly.Global;
  readonly functionCount: WebAssembly.Global;
  readonly typeWidths: WebAssembly.Global;
  readonly typeCount: WebAssembly.Global;
  readonly freeWidth: WebAssembly.Global;
  readonly maxLocals: WebAssembly.Global;
  readonly widestTag: WebAssembly.Global;
  readonly isLegacy: WebAssembly.Global;
  readonly probeMark: WebAssembly.Global;
  readonly wideMark: WebAssembly.Global;
  readonly active: WebAssembly.Global;
  readonly waiting: WebAssembly.Global;
}

/** An instance of the kernel, with views of its memory. */
export interface ScanKernel {
  readonly exports: KernelExports;
  bytes: Uint8Array;
  state: Int32Array;
}

let idleKernel: ScanKernel | undefined;
let isUnavailable = false;

/**
 * An instance that nothing else uses, or undefined if the host doesn't compile WebAssembly. Give it back with
 * {@link releaseKernel}.
 */
export function takeKernel(): ScanKernel | undefined {
  const kernel = idleKernel;
  idleKernel = undefined;
  if (kernel !== undefined || isUnavailable) return kernel;
  try {
    return createKernel();
  } catch {
    isUnavailable = true; // a content security policy forbids it
    return undefined;
  }
}

export function releaseKernel(kernel: ScanKernel): void {
  // The tables of an unusually large module are not kept.
  if (kernel.bytes.length <= maxKeptBytes) idleKernel = kernel;
}

const maxKeptBytes = 8_388_608;

function createKernel(): ScanKernel {
  const code = Uint8Array.from(atob(kernelBase64), (character) => character.charCodeAt(0));
  const exports = new WebAssembly.Instance(new WebAssembly.Module(code)).exports as unknown as KernelExports;
  const kernel: ScanKernel = { exports, bytes: new Uint8Array(), state: new Int32Array() };
  reserveMemory(kernel, tablesAt);
  kernel.bytes.set(oneByteKinds, kindsAt);
  kernel.bytes.set(prefixedKinds, prefixedKindsAt);
  kernel.bytes.fill(nop, waitingAt, tablesAt);
  fillEntries(new Int16Array(kernel.bytes.buffer, entriesAt, 0x1_0000));
  exports.waiting.value = waitingAt;
  exports.freeWidth.value = freeWidth;
  exports.maxLocals.value = maxLocals;
  exports.probeMark.value = probeMark;
  exports.wideMark.value = wideMark;
  return kernel;
}

const nop = 0x01;

/** Copies the tables of types that the kernel looks up calls in. */
export function setTypes(kernel: ScanKernel, functionTypes: Uint32Array, typeWidths: Uint32Array): void {
  const widthsAt = tablesAt + functionTypes.byteLength;
  reserveMemory(kernel, widthsAt + typeWidths.byteLength);
  const { exports, bytes } = kernel;
  new Uint32Array(bytes.buffer, tablesAt, functionTypes.length).set(functionTypes);
  new Uint32Array(bytes.buffer, widthsAt, typeWidths.length).set(typeWidths);
  exports.functionTypes.value = tablesAt;
  exports.functionCount.value = functionTypes.length;
  exports.typeWidths.value = widthsAt;
  exports.typeCount.value = typeWidths.length;
}

function reserveMemory(kernel: ScanKernel, size: number): void {
  const { memory } = kernel.exports;
  const missing = size - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / 0x1_0000));
  if (kernel.bytes.buffer === memory.buffer) return;
  kernel.bytes = new Uint8Array(memory.buffer);
  kernel.state = new Int32Array(memory.buffer, 0, streamCount * streamFields);
}

const oneShallower = 3 << 4;
const oneDeeper = 1 << 4;
/** The third byte may belong to the LEB128 that the entry counts two bytes of. */
const mayContinue = 1 << 7;
const slowPath = -0x8000;
const leastDepth = (depth: number): number => depth << 8;

/**
 * Fills the table of the fast path, by the first two bytes of an instruction: `entries[opcode | next << 8]`. The fields of
 * an entry are described in `scan-kernel.wat`. Most entries depend on the opcode alone, so a row of 256 is copied.
 */
function fillEntries(entries: Int16Array): void {
  const kinds = Array.from(oneByteKinds);
  const varying = kinds.flatMap((kind, opcode) =>
    kind === ImmediateKind.Block || kind === ImmediateKind.Branch ? [opcode] : [],
  );
  for (const [from, to] of [
    [0, 0x40],
    [0x40, 0x80],
    [0x80, 0x100],
  ] as const) {
    const row = Int16Array.from(kinds, (kind) => entryOf(kind, from));
    for (let next = from; next < to; next++) {
      entries.set(row, next << 8);
      for (const opcode of varying) entries[opcode | (next << 8)] = entryOf(kinds[opcode] as number, next);
    }
  }
}

/** The entry of an instruction with a kind of immediates, whose second byte is `next`. */
function entryOf(kind: number, next: number): number {
  const isLong = next >= 0x80;
  switch (kind) {
    case ImmediateKind.None:
      return 1;
    case ImmediateKind.Leb32:
    case ImmediateKind.Leb64:
      return isLong ? mayContinue | 3 : 2;
    case ImmediateKind.MemArg:
      return next < 0x40 ? mayContinue | 3 : slowPath; // from 0x40 on, a memory index follows
    case ImmediateKind.FourBytes:
      return 5;
    case ImmediateKind.EightBytes:
      return 9;
    case ImmediateKind.Block:
      return next === emptyBlock || isShortValueType[next] === 1 ? oneDeeper | 2 : slowPath;
    case ImmediateKind.End:
      return leastDepth(1) | oneShallower | 1;
    case ImmediateKind.Branch:
      return next < 0x7f ? leastDepth(next + 1) | 2 : slowPath;
    default:
      return slowPath;
  }
}

const emptyBlock = 0x40;
