import { type Blocks, createBlocks } from '../blocks.ts';
import { createExtismHost, type ExtismHost } from '../extism-host.ts';
import type { LogLine, ReportBuilder } from './report.ts';
import type { SimulationLimits } from './task.ts';

/** Extism's host functions for one or two modules, which share memory, variables, input and output. */
export interface Kernel {
  readonly host: ExtismHost;
  readonly blocks: Blocks;
  /** The bytes of a block; `undefined` for an address without one. */
  readonly bytesAt: (address: bigint) => Uint8Array<ArrayBuffer> | undefined;
}

export function createKernel(
  limits: SimulationLimits,
  report: ReportBuilder,
  from: () => LogLine['from'],
  config: ReadonlyMap<string, string> = new Map(),
): Kernel {
  const blocks = createBlocks(limits.maxMemoryBytes);
  const host = createExtismHost({
    config,
    log: (level, text) => report.log(from(), level, text),
    blocks,
    maxVariableBytes: limits.maxMemoryBytes,
  });
  return {
    host,
    blocks,
    bytesAt(address) {
      const block = blocks.at(address);
      return block && new Uint8Array(block.buffer);
    },
  };
}
