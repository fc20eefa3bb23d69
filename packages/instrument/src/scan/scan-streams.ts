import { countBranches, countValues } from '../binary/validation-cost.ts';
import { invalidModule } from '../errors.ts';
import type { CodeScan, Cursor } from './cursor.ts';
import { noteSeen } from './kernel-tables.ts';
import { openBody } from './open-body.ts';
import { appendPatchSites } from './patch-sites.ts';
import { noteExceptionHandling, scanInstruction } from './scan-instruction.ts';
import {
  StreamField as Field,
  type ScanKernel,
  StopReason,
  setTypes,
  sitesOf,
  streamFields,
  traitsOf,
  windowBytes,
  windowCapacity,
  windowOf,
} from './scan-kernel.ts';

/** A partition that the kernel reads. */
interface Stream {
  readonly number: number;
  readonly cursor: Cursor;
  /** The index of its first field in the kernel's state. */
  readonly fields: number;
  /** The difference between an offset in the module and its address in the window. */
  toAddress: number;
  isDone: boolean;
}

/**
 * Scans all partitions with the kernel, which reads nearly every instruction. The rest goes through
 * {@link scanInstruction}. Throws an InstrumentError for malformed code, which need not name its first fault.
 */
export function scanStreams(scan: CodeScan, kernel: ScanKernel): void {
  const { module, partitions } = scan;
  setTypes(kernel, module.functionTypes, module.cost.typeWidths);
  kernel.state.fill(0);
  const streams = partitions.map(
    (cursor, number): Stream => ({
      number,
      cursor,
      fields: number * streamFields,
      toAddress: 0,
      isDone: false,
    }),
  );
  let active = 0;
  for (const stream of streams) {
    if (stream.cursor.body < stream.cursor.lastBody) active++;
    open(scan, kernel, stream);
  }
  const { exports, state } = kernel;
  exports.active.value = active;
  exports.widestTag.value = module.cost.widestTag;
  exports.isLegacy.value = 0;
  while (exports.active.value > 0) {
    exports.run();
    if (exports.isLegacy.value === 1) noteExceptionHandling(scan, 'legacy', 0, 0);
    for (const stream of streams) {
      if (!stream.isDone && state[stream.fields + Field.reason] !== StopReason.none) serve(scan, kernel, stream);
    }
  }
}

/** Does what a stream waits for. */
function serve(scan: CodeScan, kernel: ScanKernel, stream: Stream): void {
  const { state } = kernel;
  const { cursor, fields } = stream;
  const reason = state[fields + Field.reason];
  flush(scan, kernel, stream);
  if (reason === StopReason.done) {
    stream.isDone = true;
    return;
  }
  cursor.pos = (state[fields + Field.pos] as number) - stream.toAddress;
  if (reason === StopReason.fault || cursor.pos >= cursor.end) {
    throw invalidModule('Expected one end for each block', cursor.end, cursor.functionIndex);
  }
  if (reason === StopReason.slowLocals) {
    open(scan, kernel, stream);
    return;
  }
  if (reason === StopReason.slowInstruction) {
    cursor.depth = state[fields + Field.depth] as number;
    cursor.traits = state[fields + Field.traits] as number;
    const { pos, source } = cursor;
    scanInstruction(scan, cursor);
    if (scan.visitor !== undefined) {
      scan.visitor.onInstruction(pos, cursor.end, cursor.functionIndex, cursor.patchSites);
      noteSeen(kernel.bytes, source, pos);
    }
    state[fields + Field.depth] = cursor.depth;
    state[fields + Field.traits] = cursor.traits;
  }
  resume(kernel, stream);
}

/** Opens the cursor's body without the kernel. */
function open(scan: CodeScan, kernel: ScanKernel, stream: Stream): void {
  const { state } = kernel;
  const { cursor, fields, number } = stream;
  if (cursor.body >= cursor.lastBody) {
    stream.isDone = true;
    state[fields + Field.reason] = StopReason.done;
    state[fields + Field.traitsEnd] = traitsOf(number);
    state[fields + Field.sitesEnd] = sitesOf(number);
    return;
  }
  openBody(scan, cursor);
  state[fields + Field.depth] = 0;
  state[fields + Field.traits] = 0;
  state[fields + Field.bodiesLeft] = cursor.lastBody - cursor.body;
  state[fields + Field.functionIndex] = cursor.functionIndex;
  state[fields + Field.ownWidth] = scan.module.cost.typeWidths[cursor.typeIndex] ?? 0;
  state[fields + Field.sitesEnd] = sitesOf(number);
  state[fields + Field.traitsEnd] = traitsOf(number);
  fillWindow(kernel, stream);
  resume(kernel, stream);
}

/** Lets the stream go on from the cursor. */
function resume(kernel: ScanKernel, stream: Stream): void {
  const { cursor, fields, number } = stream;
  if (cursor.pos + stream.toAddress >= windowOf(number) + windowBytes) fillWindow(kernel, stream);
  const { state } = kernel;
  state[fields + Field.pos] = cursor.pos + stream.toAddress;
  state[fields + Field.lastSite] = cursor.patchSites.last + stream.toAddress;
  state[fields + Field.reason] = StopReason.none;
}

/** Moves the window so that it begins at the cursor. */
function fillWindow(kernel: ScanKernel, stream: Stream): void {
  const { bytes, state } = kernel;
  const { cursor, fields, number } = stream;
  const start = windowOf(number);
  bytes.set(cursor.source.subarray(cursor.pos, cursor.pos + windowCapacity), start);
  stream.toAddress = start - cursor.pos;
  state[fields + Field.end] = cursor.end + stream.toAddress;
  state[fields + Field.limit] = start + windowBytes;
}

/** Takes over what the kernel has recorded since the last time, and moves the cursor to the current body. */
function flush(scan: CodeScan, kernel: ScanKernel, stream: Stream): void {
  const { bytes, state } = kernel;
  const { cursor, fields, number } = stream;
  const { cost } = scan.module;
  const sitesAt = sitesOf(number);
  const traitsAt = traitsOf(number);
  const traitsEnd = state[fields + Field.traitsEnd] as number;
  appendPatchSites(
    cursor.patchSites,
    bytes.subarray(sitesAt, state[fields + Field.sitesEnd]),
    (state[fields + Field.lastSite] as number) - stream.toAddress,
  );
  countValues(cost, state[fields + Field.values] as number, cursor.end);
  state[fields + Field.values] = 0;
  state[fields + Field.sitesEnd] = sitesAt;
  if (traitsEnd === traitsAt) return;
  const start = scan.bounds[2 * cursor.body] as number;
  countBranches(cost, cursor.end - start, cursor.widestBlock, start);
  scan.traits.set(bytes.subarray(traitsAt, traitsEnd), cursor.body);
  state[fields + Field.traitsEnd] = traitsAt;
  const finished = cursor.body + traitsEnd - traitsAt;
  scan.advance((scan.bounds[2 * finished - 1] as number) - start);
  cursor.body = finished;
  cursor.widestBlock = 0;
  cursor.functionIndex = scan.module.importedFunctions.length + finished;
  cursor.typeIndex = scan.module.functionTypes[cursor.functionIndex] ?? 0;
  cursor.end = scan.bounds[2 * finished + 1] ?? 0;
}
