/**
 * Adaptive tracing. A module that was instrumented with `adaptive` exports a global per function with the number of calls
 * that it skips, and a clock. A function whose calls are nearly all too short for a span skips many of them, then traces
 * one, which sets the clock, and so on. A skipped call that takes long is reported when it ends.
 */
export interface Adaptive {
  /** Takes note of an instance. Returns whether it is one of an adaptive module. */
  readonly attach: (exports: WebAssembly.Exports) => boolean;
  /** Runs for each call that was too short for a span. */
  readonly onShortCall: (func: number, end: number) => void;
  /** Runs for each span of a function. */
  readonly onSpan: (func: number, end: number) => void;
  /** Makes the next call of a function traced; of all functions without an index. */
  readonly resume: (func?: number) => void;
  /** Whether `exit` with a negative number may be the report of a skipped call. */
  readonly hasInstances: () => boolean;
  /** The start of the skipped call that is reported; `NaN` without one. */
  readonly takeStart: () => number;
  /** Runs for each span of a skipped call. */
  readonly onSkippedSpan: (func: number, end: number) => void;
  /** Calls of a function that were skipped and did not report themselves. */
  readonly untimedCalls: (func: number) => number;
}

/** The exports of an adaptive module; see `packages/instrument/src/rewrite/adaptive.ts`. */
const names = {
  clock: 'tenon:clock',
  step: 'tenon:clock-step',
  minDuration: 'tenon:min-duration',
  start: 'tenon:skipped-call-start',
  skip: 'tenon:skip:',
} as const;

const sharedNames: ReadonlySet<string> = new Set([names.clock, names.step, names.minDuration, names.start]);

export const isAdaptiveExport = (name: string): boolean => sharedNames.has(name) || name.startsWith(names.skip);

/** The maximum that engines accept: https://webassembly.github.io/spec/js-api/#limits */
const maxFunctions = 1_000_000;

/** A function skips this many calls at a time. The number doubles while calls are traced more often than the clock needs. */
const minSkippedCalls = 63;
const maxSkippedCalls = 1_023;
/** After this number of short calls, a function skips calls. */
const maxCredit = 32;
/** The number of short calls that make up for one that is long enough for a span. */
const spanCost = 4;
/** Added to the clock of instances, which must never be less than the minimum duration. Milliseconds. */
const clockOffset = 2 ** 20;
/** A skipped call is reported after this share of the minimum duration, because its clock may be behind. */
const reportingShare = 0.75;
/** Milliseconds. */
const initialStep = 1e-6;
/** How far the average time of a skipped call follows the latest interval. */
const decay = 0.9;

interface AdaptiveInstance {
  readonly clock: WebAssembly.Global;
  readonly step: WebAssembly.Global;
  readonly minDuration: WebAssembly.Global;
  readonly start: WebAssembly.Global;
  /** By function index. */
  readonly skips: readonly (WebAssembly.Global | undefined)[];
}

export function createAdaptive(minDurationMs: number): Adaptive {
  // An instance must not live on because its functions skip calls.
  const known = new WeakMap<WebAssembly.Exports, AdaptiveInstance>();
  let references: WeakRef<AdaptiveInstance>[] = [];
  let credits = new Uint8Array(0);
  let skipped = new Float64Array(0);
  let periods = new Uint16Array(0);
  let clockTime = 0;
  let step = initialStep;
  let recentTime = 0;
  let recentCalls = 0;

  const liveInstances = (): AdaptiveInstance[] => {
    const live = references.flatMap((reference) => reference.deref() ?? []);
    if (live.length < references.length) references = references.filter((reference) => reference.deref() !== undefined);
    return live;
  };
  const setClock = (end: number): void => {
    for (const reference of references) {
      const instance = reference.deref();
      if (instance !== undefined) instance.clock.value = end + clockOffset;
    }
    clockTime = end;
  };
  /** Sets the time that a skipped call takes, by how far the instance's clock has moved on. */
  const adjustStep = (instance: AdaptiveInstance, end: number): void => {
    const estimated = instance.clock.value - clockOffset - clockTime;
    if (!(estimated > 0)) return;
    recentTime = recentTime * decay + end - clockTime;
    recentCalls = recentCalls * decay + estimated / step;
    // A little less, because traced calls took a part of the time.
    step = Math.min(Math.max((0.98 * recentTime) / recentCalls, initialStep), minDurationMs / 8);
    instance.step.value = step;
  };
  const skip = (func: number, end: number): void => {
    const interval = end - clockTime;
    let period = periods[func] as number;
    if (interval < minDurationMs / 4) period = Math.min(2 * period + 1, maxSkippedCalls);
    else if (interval > minDurationMs) period = Math.max(period >> 1, minSkippedCalls);
    periods[func] = period;
    for (const reference of references) {
      const instance = reference.deref();
      const global = instance?.skips[func];
      if (instance === undefined || global === undefined || global.value !== 0) continue;
      global.value = period;
      skipped[func] = (skipped[func] as number) + period;
      adjustStep(instance, end);
    }
    setClock(end);
  };
  const resume = (func: number): void => {
    if (skipped[func] === undefined || skipped[func] === 0) return;
    for (const { skips } of liveInstances()) {
      const global = skips[func];
      if (global === undefined) continue;
      skipped[func] -= global.value as number;
      global.value = 0;
    }
  };
  const takeStart = (): number => {
    for (const { start } of liveInstances()) {
      const value = start.value as number;
      start.value = 0;
      // A module that sets the global itself must not begin a span before all time.
      if (value !== 0) return value > 0 ? value - clockOffset : Number.NaN;
    }
    return Number.NaN;
  };
  const onSpan = (func: number, end: number): void => {
    const credit = credits[func];
    if (credit === undefined) return;
    credits[func] = Math.max(0, credit - spanCost);
    // Skipped calls that start later must not seem to contain this span.
    setClock(end);
  };
  return {
    attach(exports) {
      if (known.has(exports)) return true;
      const instance = readInstance(exports);
      if (instance === undefined) return false;
      known.set(exports, instance);
      references.push(new WeakRef(instance));
      instance.clock.value = clockTime + clockOffset;
      instance.step.value = step;
      instance.minDuration.value = Math.min(minDurationMs * reportingShare, clockOffset / 2);
      const functions = Math.max(credits.length, instance.skips.length);
      credits = grown(credits, new Uint8Array(functions));
      skipped = grown(skipped, new Float64Array(functions));
      periods = grown(periods, new Uint16Array(functions).fill(minSkippedCalls));
      return true;
    },
    onShortCall(func, end) {
      const credit = credits[func];
      if (credit === undefined) return;
      if (credit < maxCredit) credits[func] = credit + 1;
      else skip(func, end);
    },
    onSpan,
    resume(func) {
      if (func !== undefined) resume(func);
      else for (let index = 0; index < skipped.length; index++) resume(index);
    },
    hasInstances: () => references.length > 0,
    takeStart,
    onSkippedSpan(func, end) {
      if ((skipped[func] ?? 0) > 0) skipped[func] = (skipped[func] as number) - 1;
      onSpan(func, end);
    },
    untimedCalls(func) {
      const remaining = liveInstances().reduce((sum, { skips }) => sum + ((skips[func]?.value as number) ?? 0), 0);
      return Math.max(0, (skipped[func] ?? 0) - remaining);
    },
  };
}

/** The globals of an adaptive module. A module may export others by the same names. */
function readInstance(exports: WebAssembly.Exports): AdaptiveInstance | undefined {
  const shared = [names.clock, names.step, names.minDuration, names.start].map((name) => settableNumber(exports[name]));
  const [clock, step, minDuration, start] = shared;
  if (clock === undefined || step === undefined || minDuration === undefined || start === undefined) return undefined;
  const skips: (WebAssembly.Global | undefined)[] = [];
  for (const [name, value] of Object.entries(exports)) {
    if (!name.startsWith(names.skip)) continue;
    const index = Number(name.slice(names.skip.length));
    if (Number.isInteger(index) && index >= 0 && index < maxFunctions) skips[index] = settableNumber(value);
  }
  return { clock, step, minDuration, start, skips };
}

/** The export, if it is a mutable global with a number. */
function settableNumber(value: WebAssembly.ExportValue | undefined): WebAssembly.Global | undefined {
  if (!(value instanceof WebAssembly.Global)) return undefined;
  try {
    const current: unknown = value.value;
    value.value = current;
    return typeof current === 'number' ? value : undefined;
  } catch {
    return undefined;
  }
}

function grown<Numbers extends Uint8Array | Uint16Array | Float64Array>(from: Numbers, into: Numbers): Numbers {
  into.set(from);
  return into;
}
