import type { CallNode } from '../../../../test/helpers/call-trees/model.ts';
import { createRandom, type Random } from '../../../../test/helpers/random.ts';

/** What the older service's modules import, before and after it gave its functions names of their own. */
export const olderNames = {
  dylibso_observe: { enter: 'instrument_enter', exit: 'instrument_exit', grow: 'instrument_memory_grow' },
  'dylibso:observe/instrument': { enter: 'enter', exit: 'exit', grow: 'memory-grow' },
} as const;

export type OlderNamespace = keyof typeof olderNames;

type Step =
  | { readonly do: 'call' | 'indirect' | 'host'; readonly target: number }
  | { readonly do: 'grow'; readonly pages: number }
  | { readonly do: 'loop'; readonly times: number; readonly steps: readonly Step[] }
  | { readonly do: 'when'; readonly steps: readonly Step[] }
  | { readonly do: 'trap' };

/** Bodies by function. Each takes its fuel, and hands one less to what it calls; without any it does nothing. */
export type OlderProgram = readonly (readonly Step[])[];

/** The host's `enter`, the three hooks: they come before the functions of the module. */
const importCount = 4;
const maxPages = 6;

export function makeOlderProgram(seed: number): OlderProgram {
  const random = createRandom(seed);
  const count = 2 + random.below(5);
  return Array.from({ length: count }, () => makeSteps(random, count, 2));
}

function makeSteps(random: Random, count: number, nesting: number): Step[] {
  return Array.from({ length: random.below(4) }, (): Step => {
    const kind = random.below(20);
    if (kind === 0) return { do: 'trap' };
    if (kind < 4) return { do: 'grow', pages: random.below(4) };
    if (kind < 8 && nesting > 0) {
      const steps = makeSteps(random, count, nesting - 1);
      return random.chance(0.5) ? { do: 'loop', times: 2 + random.below(2), steps } : { do: 'when', steps };
    }
    return { do: random.pick(['call', 'call', 'call', 'indirect', 'host']), target: random.below(count) };
  });
}

/**
 * The program as the older service hands it back, in the way that its published modules show: hooks around calls whose
 * target is written there, those of imports too, and around exports; calls through tables unseen; `memory.grow` reported
 * before it happens, whether it succeeds or not; operands in locals; two exported globals with a version.
 */
export function olderModule(program: OlderProgram, namespace: OlderNamespace): string {
  const names = olderNames[namespace];
  const hooks = Object.values(names).map((name, place) => hookImport(namespace, name, place));
  const around = (index: number, call: string) =>
    `(call $enter (i32.const ${index})) ${call} (call $exit (i32.const ${index}))`;
  const text = (step: Step, nesting = 0): string => {
    const texts = (steps: readonly Step[]) => steps.map((inner) => text(inner, nesting + 1)).join(' ');
    const counter = 3 + nesting;
    switch (step.do) {
      case 'call':
        return around(
          importCount + step.target,
          `(local.set 1 (i32.sub (local.get 0) (i32.const 1)))
          (call $f${step.target} (local.get 1))`,
        );
      case 'indirect':
        return `(call_indirect (param i32) (i32.sub (local.get 0) (i32.const 1)) (i32.const ${step.target}))`;
      case 'host':
        return around(0, `(call $host (i32.const ${step.target}) (i32.sub (local.get 0) (i32.const 1)))`);
      case 'grow':
        return `(local.set 1 (i32.const ${step.pages})) (call $grow (local.get 1))
          (local.set 2 (memory.grow (local.get 1)))`;
      case 'loop':
        return `(local.set ${counter} (i32.const ${step.times})) (loop $again${nesting} ${texts(step.steps)}
          (br_if $again${nesting} (local.tee ${counter} (i32.sub (local.get ${counter}) (i32.const 1)))))`;
      case 'when':
        return `(if (i32.and (local.get 0) (i32.const 1)) (then ${texts(step.steps)}))`;
      case 'trap':
        return '(unreachable)';
    }
  };
  const functions = program.map(
    (steps, index) => `(func $f${index} (param i32) (local i32 i32 i32 i32 i32)
      (if (i32.le_s (local.get 0) (i32.const 0)) (then (return)))
      ${steps.map((step) => text(step)).join('\n      ')})`,
  );
  const wrappers = program.map(
    (_, index) => `(func $instrument_exp_f${index} (export "f${index}") (param i32)
      ${around(importCount + index, `(call $f${index} (local.get 0))`)})`,
  );
  return `(module
    (import "env" "enter" (func $host (param i32 i32)))
    ${hooks.join('\n    ')}
    (memory (export "memory") 1 ${maxPages})
    (table ${program.length} funcref) (elem (i32.const 0) ${program.map((_, index) => `$f${index}`).join(' ')})
    (global (export "wasm_instr_version_major") i32 (i32.const 0))
    (global (export "wasm_instr_version_minor") i32 (i32.const 4))
    ${[...functions, ...wrappers].join('\n    ')})`;
}

function hookImport(namespace: string, name: string, place: number): string {
  return `(import "${namespace}" "${name}" (func $${['enter', 'exit', 'grow'][place]} (param i32)))`;
}

/** What the hooks must tell of one call from the host, and whether it ends in a trap. */
export interface OlderPrediction {
  readonly roots: CallNode[];
  readonly isTrap: boolean;
  /** Ticks after the call. */
  readonly tick: number;
}

/** Calls an export by the program's meaning. `tick` is that before the call; undefined where it takes too long. */
export function predictOlder(
  program: OlderProgram,
  index: number,
  fuel: number,
  firstTick: number,
): OlderPrediction | undefined {
  const roots: CallNode[] = [];
  const open: CallNode[] = [];
  const maxTicks = firstTick + 2_000;
  let tick = firstTick;
  let isTooLong = false;
  const around = (traced: number, action: () => boolean): boolean => {
    const node: CallNode = { index: traced, startTick: ++tick, endTick: 0, ending: 'exit', calls: [], growths: [] };
    (open.at(-1)?.calls ?? roots).push(node);
    open.push(node);
    if (!action()) return false;
    open.pop();
    node.endTick = ++tick;
    return true;
  };
  const fromHost = (target: number, left: number): boolean => {
    const depth = open.length;
    const isLeft = around(importCount + target, () => call(target, left));
    for (const node of open.splice(depth)) {
      node.endTick = tick;
      node.ending = 'trap';
    }
    return isLeft;
  };
  const call = (target: number, left: number): boolean =>
    left <= 0 || (program[target] ?? []).every((step) => perform(step, left));
  const perform = (step: Step, left: number): boolean => {
    isTooLong ||= tick > maxTicks;
    if (isTooLong) return false;
    switch (step.do) {
      case 'call':
        return around(importCount + step.target, () => call(step.target, left - 1));
      case 'indirect':
        return call(step.target, left - 1);
      case 'host':
        // The host calls back, and goes on whatever comes of it.
        return around(0, () => {
          fromHost(step.target, left - 1);
          return true;
        });
      case 'grow':
        open.at(-1)?.growths.push({ tick: ++tick, pages: step.pages });
        return true;
      case 'loop':
        return Array.from({ length: step.times }).every(() => step.steps.every((inner) => perform(inner, left)));
      case 'when':
        return (left & 1) === 0 || step.steps.every((inner) => perform(inner, left));
      case 'trap':
        return false;
    }
  };
  const isTrap = !fromHost(index, fuel);
  return isTooLong ? undefined : { roots, isTrap, tick };
}
