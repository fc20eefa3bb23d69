import { maxLocals } from '../binary/validation-cost.ts';
import { freeWidth } from '../limits.ts';
import { fillKernelTables, kernelTablesEnd, watchProposals } from './kernel-tables.ts';
import { probeMark, wideMark } from './patch-sites.ts';
import { kernelBase64 } from './scan-kernel-bytes.ts';

/** Streams that the kernel reads in turn. */
export const streamCount = 4;

/** Bytes of code that a stream reads before its window is filled again. */
export const windowBytes = 32_768;
/** How many bytes the kernel may read behind that: 16 instructions, of which the longest is a branch table of 130 bytes. */
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

const windowsAt: number = kernelTablesEnd;
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
  readonly lowestLocal: WebAssembly.Global;
  readonly widestTag: WebAssembly.Global;
  readonly isLegacy: WebAssembly.Global;
  readonly probeMark: WebAssembly.Global;
  readonly wideMark: WebAssembly.Global;
  readonly active: WebAssembly.Global;
  readonly waiting: WebAssembly.Global;
}

/** The lowest byte of number types, and of vectors. */
const numberTypes = 0x7c;
const vectorType = 0x7b;

/** An instance of the kernel, with views of its memory. */
export interface ScanKernel {
  readonly exports: KernelExports;
  bytes: Uint8Array;
  state: Int32Array;
}

/**
 * The engine's own, as they were when this file was loaded: a host may replace them to instrument each module that it
 * compiles.
 */
const { Module, Instance }: Partial<Pick<typeof WebAssembly, 'Module' | 'Instance'>> = globalThis.WebAssembly ?? {};

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

/**
 * An instance that leaves each kind of instruction to the host that needs a proposal, until the host has seen it: see
 * `watchProposals`.
 */
export function takeWatchingKernel(): ScanKernel | undefined {
  const kernel = takeKernel();
  if (kernel === undefined) return undefined;
  watchProposals(kernel.bytes);
  kernel.exports.lowestLocal.value = numberTypes;
  return kernel;
}

export function releaseKernel(kernel: ScanKernel): void {
  if (kernel.exports.lowestLocal.value !== vectorType) {
    fillKernelTables(kernel.bytes);
    kernel.exports.lowestLocal.value = vectorType;
  }
  // The tables of an unusually large module are not kept.
  if (kernel.bytes.length <= maxKeptBytes) idleKernel = kernel;
}

const maxKeptBytes = 8_388_608;

function createKernel(): ScanKernel {
  if (Module === undefined || Instance === undefined) throw new Error('This host does not run WebAssembly');
  const code = Uint8Array.from(atob(kernelBase64), (character) => character.charCodeAt(0));
  const exports = new Instance(new Module(code)).exports as unknown as KernelExports;
  const kernel: ScanKernel = { exports, bytes: new Uint8Array(), state: new Int32Array() };
  reserveMemory(kernel, tablesAt);
  kernel.bytes.fill(nop, waitingAt, tablesAt);
  fillKernelTables(kernel.bytes);
  exports.lowestLocal.value = vectorType;
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
