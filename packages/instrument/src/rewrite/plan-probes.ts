import type { Module } from '../binary/module.ts';
import { maxFunctionBodyBytes, maxGlobals } from '../limits.ts';
import type { Note } from '../notes.ts';
import type { CodeBlocks } from '../scan/find-blocks.ts';
import type { InstrumentOptions } from '../select/config.ts';

/** What the probes of a module depend on. */
export interface ProbePlan {
  readonly blocks: CodeBlocks;
  readonly hasCoverage: boolean;
  /** The number of counters: one for each block of the functions that are counted. */
  readonly counterCount: number;
  /** Per body, 1 if its blocks are not counted. */
  readonly uncounted: Uint8Array;
  /** The fuel at the start. */
  readonly fuel: number | undefined;
  /** Whether the module calls the host when the fuel is used up. */
  readonly callsHost: boolean;
}

/** Plans the probes, and notes from which function on blocks are not counted because engines limit the number of globals. */
export function planProbes(module: Module, blocks: CodeBlocks, options: InstrumentOptions, notes: Note[]): ProbePlan {
  const { firstBlocks } = blocks;
  const bodyCount = firstBlocks.length - 1;
  const hasCoverage = options.coverage === true;
  const capacity = Math.max(0, maxGlobals - module.globalCount - module.memories.length - 1);
  let counted = hasCoverage ? bodyCount : 0;
  while ((firstBlocks[counted] as number) > capacity) counted--;
  if (hasCoverage && counted < bodyCount) {
    notes.push(
      uncountedNote(
        `Functions from ${counted + module.importedFunctions.length} on are not counted: their ` +
          `counters would pass ${maxGlobals} globals`,
        counted + module.importedFunctions.length,
      ),
    );
  }
  return {
    blocks,
    hasCoverage,
    counterCount: firstBlocks[counted] as number,
    uncounted: new Uint8Array(bodyCount).fill(1, counted),
    fuel: options.fuel,
    callsHost: options.onOutOfFuel === 'call',
  };
}

export function longBodyNote(functionIndex: number): Note {
  const message = `Function ${functionIndex} is not counted: with counters its body would pass ${maxFunctionBodyBytes} bytes`;
  return uncountedNote(message, functionIndex);
}

function uncountedNote(message: string, functionIndex: number): Note {
  return { code: 'function_left_uncounted', message: `${message}, which engines accept at most`, functionIndex };
}
