import { readLocals } from '../binary/code.ts';
import type { Module } from '../binary/module.ts';
import { type FunctionType, f64Type, i32Type } from '../binary/types.ts';
import { limitExceeded } from '../errors.ts';
import { maxGlobals, maxLocals } from '../limits.ts';
import type { AddedExport } from './probes.ts';

/**
 * Adaptive tracing: a global per function says how many of its next calls are skipped. A skipped call calls no hook. It
 * stores the time in a local variable, by a clock that the host sets from time to time, and that each skipped call moves on
 * by a step. A skipped call that ends after the minimum duration is reported late: the module sets a global to its start, and calls
 * `exit(~f)`. A traced call takes the same path, because its `since` is 0.
 *
 *     if skip(f)                                  if clock - since >= min-duration
 *       skip(f) -= 1                                call tenon.exit(since, f)
 *       since = clock                             end
 *       clock += step
 *     else
 *       call enter(f)
 *     end
 *
 * The host finds the globals by their export names. As long as it sets none of them, each call is traced: the clock and the
 * minimum duration are 1, and the step is 0. The clock must never be less than the minimum duration.
 */
const adaptiveNames = {
  clock: 'tenon:clock',
  step: 'tenon:clock-step',
  minDuration: 'tenon:min-duration',
  /** The start of a call that is reported late. */
  start: 'tenon:skipped-call-start',
  /** Followed by the function's index in the output. The only globals of type `i32`: the others are `f64`. */
  skip: 'tenon:skip:',
} as const;

/** The globals before those of the functions. */
export const sharedGlobals = 4;
const noLocal = 0xffff_ffff;

/** Indices that the code of an adaptive module refers to. */
export interface AdaptiveLayout {
  /** Whether the host sets the globals. */
  readonly isExported: boolean;
  /** Of a function's calls, one in this many is traced unless the host says otherwise. */
  readonly every: number;
  readonly clockGlobal: number;
  readonly stepGlobal: number;
  readonly minDurationGlobal: number;
  readonly startGlobal: number;
  /** Per body, the index of the global with the calls to skip; 0 without one. */
  readonly skipGlobals: Uint32Array;
  /** Per body, the index of the local `since`. */
  readonly sinceLocals: Uint32Array;
  /** Output indices of the functions with such a global, in the order of the globals. */
  readonly functions: readonly number[];
  /** The index of `tenon.exit`. */
  readonly exitHelperIndex: number;
}

/** How functions skip their calls. */
export interface AdaptiveOptions {
  /** The bounds of every body, as pairs. */
  readonly bodyBounds: Uint32Array;
  readonly isExported: boolean;
  readonly every: number;
}

interface AdaptiveParts extends AdaptiveOptions {
  readonly shift: number;
  /** The index of the first global that is added. */
  readonly firstGlobal: number;
  readonly exitHelperIndex: number;
}

/** Assigns a global and a local to each traced function. One with as many locals as engines accept is always traced. */
export function layOutAdaptive(module: Module, traced: Uint8Array, parts: AdaptiveParts): AdaptiveLayout {
  const { bodyBounds, shift, firstGlobal, exitHelperIndex, isExported, every } = parts;
  const importCount = module.importedFunctions.length;
  const bodyCount = bodyBounds.length / 2;
  const skipGlobals = new Uint32Array(bodyCount);
  const sinceLocals = new Uint32Array(bodyCount).fill(noLocal);
  const functions: number[] = [];
  for (let body = 0; body < bodyCount; body++) {
    const index = importCount + body;
    if (traced[index] !== 1) continue;
    const type = module.types[module.functionTypes[index] as number] as FunctionType;
    let locals = type.parameterCount;
    const onLocals = (count: number) => {
      locals += count;
    };
    readLocals(module.bytes, bodyBounds[2 * body] as number, bodyBounds[2 * body + 1] as number, index, onLocals);
    if (locals >= maxLocals) continue;
    sinceLocals[body] = locals;
    skipGlobals[body] = firstGlobal + sharedGlobals + functions.length;
    functions.push(index + shift);
  }
  const end = module.bytes.length;
  const globals = firstGlobal + sharedGlobals + functions.length;
  if (globals > maxGlobals) throw limitExceeded('globals', globals, maxGlobals, end);
  return {
    isExported,
    every,
    clockGlobal: firstGlobal,
    stepGlobal: firstGlobal + 1,
    minDurationGlobal: firstGlobal + 2,
    startGlobal: firstGlobal + 3,
    skipGlobals,
    sinceLocals,
    functions,
    exitHelperIndex,
  };
}

interface AdaptiveGlobal {
  readonly valueType: number;
  readonly initialValue: number;
}

/** The globals, in the order of their indices. */
export function adaptiveGlobals(adaptive: AdaptiveLayout | undefined): AdaptiveGlobal[] {
  if (adaptive === undefined) return [];
  const shared = [1, 0, 1, 0].map((initialValue) => ({ valueType: f64Type, initialValue }));
  const skip = { valueType: i32Type, initialValue: 0 };
  return [...shared, ...adaptive.functions.map(() => skip)];
}

/** Their exports. */
export function adaptiveExports(adaptive: AdaptiveLayout | undefined): AddedExport[] {
  if (adaptive === undefined || !adaptive.isExported) return [];
  const { clockGlobal, stepGlobal, minDurationGlobal, startGlobal, functions } = adaptive;
  return [
    { name: adaptiveNames.clock, kind: 3, index: clockGlobal },
    { name: adaptiveNames.step, kind: 3, index: stepGlobal },
    { name: adaptiveNames.minDuration, kind: 3, index: minDurationGlobal },
    { name: adaptiveNames.start, kind: 3, index: startGlobal },
    ...functions.map((index, place) => ({
      name: `${adaptiveNames.skip}${index}`,
      kind: 3 as const,
      index: startGlobal + 1 + place,
    })),
  ];
}
