import type { RollOutPlan, RollOutStep } from '@tenon/protocol';
import {
  defaultMinCalls,
  maxHoldSeconds,
  maxMinCalls,
  maxRatio,
  maxRollOutSteps,
  ringPattern,
} from '@tenon/protocol/roll-out-limits';

/** How long a step holds: for a number of units, or until a member promotes the roll-out. */
export type HoldUnit = 'minutes' | 'hours' | 'days' | 'promoted';

/** A step in a form. */
export interface StepDraft {
  readonly kind: 'percent' | 'ring';
  readonly percent: string;
  readonly ring: string;
  readonly hold: string;
  readonly unit: HoldUnit;
}

/** A plan in a form: numbers as text, `''` for no limit. */
export interface PlanDraft {
  readonly steps: readonly StepDraft[];
  /** Percentage points above the version before. */
  readonly errorPoints: string;
  readonly p95Ratio: string;
  readonly memoryRatio: string;
  readonly minCalls: string;
}

const unitSeconds = { minutes: 60, hours: 3600, days: 86_400 } as const;

const emptyStep: StepDraft = { kind: 'percent', percent: '', ring: '', hold: '1', unit: 'hours' };

/** What the form offers where there is no plan. */
export const suggestedPlan: PlanDraft = {
  steps: [
    { ...emptyStep, percent: '1' },
    { ...emptyStep, percent: '10', unit: 'days' },
    { ...emptyStep, percent: '50', unit: 'days' },
  ],
  errorPoints: '',
  p95Ratio: '',
  memoryRatio: '',
  minCalls: String(defaultMinCalls),
};

/** Returns a step to append: the share doubles, at most to all guests. */
export function nextStep(steps: readonly StepDraft[]): StepDraft {
  const most = greatestOf(steps);
  return { ...emptyStep, percent: most === 0 ? '1' : most >= 100 ? '' : String(Math.min(100, most * 2)) };
}

export function draftOfPlan({ steps, halt }: RollOutPlan): PlanDraft {
  return {
    steps: steps.map(draftOfStep),
    errorPoints: halt?.errorRate == null ? '' : String(toPoints(halt.errorRate)),
    p95Ratio: halt?.p95Ratio == null ? '' : String(halt.p95Ratio),
    memoryRatio: halt?.memoryRatio == null ? '' : String(halt.memoryRatio),
    minCalls: String(halt?.minCalls ?? defaultMinCalls),
  };
}

function draftOfStep(step: RollOutStep): StepDraft {
  const { holdSeconds } = step;
  const of =
    'ring' in step
      ? ({ kind: 'ring', percent: '', ring: step.ring } as const)
      : ({ kind: 'percent', percent: String(step.percent), ring: '' } as const);
  if (holdSeconds === null) return { ...of, hold: '1', unit: 'promoted' };
  const unit =
    (['days', 'hours', 'minutes'] as const).find((each) => holdSeconds % unitSeconds[each] === 0) ?? 'minutes';
  return { ...of, hold: String(holdSeconds / unitSeconds[unit]), unit };
}

/** The plan of a form that {@link planFaults} accepts. */
export function planOf({ steps, errorPoints, p95Ratio, memoryRatio, minCalls }: PlanDraft): RollOutPlan {
  const [errors, p95, memory] = [errorPoints, p95Ratio, memoryRatio].map((text) =>
    text.trim() === '' ? null : Number(text),
  ) as [number | null, number | null, number | null];
  const isHalted = errors !== null || p95 !== null || memory !== null;
  const errorRate = errors === null ? null : Math.round(errors * 100) / 10_000;
  return {
    steps: steps.map(stepOf),
    halt: isHalted ? { minCalls: Number(minCalls), errorRate, p95Ratio: p95, memoryRatio: memory } : null,
  };
}

function stepOf({ kind, percent, ring, hold, unit }: StepDraft): RollOutStep {
  const holdSeconds = unit === 'promoted' ? null : Math.round(Number(hold) * unitSeconds[unit]);
  return kind === 'ring' ? { ring: ring.trim(), holdSeconds } : { percent: Number(percent), holdSeconds };
}

/** The fields of a limit. */
export type LimitField = 'errorPoints' | 'p95Ratio' | 'memoryRatio' | 'minCalls';

/** What is wrong with a plan's fields. */
export interface PlanFaults {
  /** Of each step: its guests, and its hold. */
  readonly steps: readonly { readonly guests?: string; readonly hold?: string }[];
  readonly limits: Readonly<Partial<Record<LimitField, string>>>;
}

/** Returns what is wrong; `undefined` for a plan that can be sent. */
export function planFaults(draft: PlanDraft): PlanFaults | undefined {
  const steps = draft.steps.map((step, at) => {
    const guests = guestsFault(step, draft.steps.slice(0, at));
    const hold = holdFault(step);
    return { ...(guests !== undefined && { guests }), ...(hold !== undefined && { hold }) };
  });
  const limits = limitFaults(draft);
  const isGood = steps.every((step) => Object.keys(step).length === 0) && Object.keys(limits).length === 0;
  return isGood ? undefined : { steps, limits };
}

const ringFormat = new RegExp(ringPattern, 'u');

function guestsFault(step: StepDraft, earlier: readonly StepDraft[]): string | undefined {
  if (step.kind === 'ring') {
    const ring = step.ring.trim();
    if (!ringFormat.test(ring)) return 'Enter up to 40 letters, digits, “.”, “_”, or “-”.';
    if (earlier.some((one) => one.kind === 'ring' && one.ring.trim() === ring)) return 'An earlier step has it.';
    return greatestOf(earlier) >= 100 ? 'All guests have the version after 100%.' : undefined;
  }
  const percent = wholeNumber(step.percent);
  if (percent === undefined || percent < 1 || percent > 100) return 'Enter a whole number from 1 to 100.';
  const before = greatestOf(earlier);
  return percent > before ? undefined : `Enter more than ${before}.`;
}

function greatestOf(steps: readonly StepDraft[]): number {
  return Math.max(0, ...steps.map(({ kind, percent }) => (kind === 'percent' ? Number(percent) || 0 : 0)));
}

function holdFault({ hold, unit }: StepDraft): string | undefined {
  if (unit === 'promoted') return undefined;
  const seconds = hold.trim() === '' ? Number.NaN : Number(hold) * unitSeconds[unit];
  if (seconds >= 0 && seconds <= maxHoldSeconds) return undefined;
  return `Enter 0 to ${(maxHoldSeconds / unitSeconds[unit]).toLocaleString('en')} ${unit}.`;
}

function limitFaults({ errorPoints, p95Ratio, memoryRatio, minCalls }: PlanDraft): PlanFaults['limits'] {
  const isIn = (text: string, least: number, most: number): boolean =>
    text.trim() === '' || (Number(text) >= least && Number(text) <= most);
  const calls = wholeNumber(minCalls);
  const ratio = `Enter a number from 1 to ${maxRatio.toLocaleString('en')}, or leave the field empty.`;
  return {
    ...(!isIn(errorPoints, 0, 100) && { errorPoints: 'Enter a number from 0 to 100, or leave the field empty.' }),
    ...(!isIn(p95Ratio, 1, maxRatio) && { p95Ratio: ratio }),
    ...(!isIn(memoryRatio, 1, maxRatio) && { memoryRatio: ratio }),
    ...((calls === undefined || calls < 1 || calls > maxMinCalls) && {
      minCalls: `Enter a whole number from 1 to ${maxMinCalls.toLocaleString('en')}.`,
    }),
  };
}

function wholeNumber(text: string): number | undefined {
  return /^\s*\d{1,7}\s*$/.test(text) ? Number(text) : undefined;
}

/** Whether a plan can have another step. */
export function mayAddStep({ steps }: PlanDraft): boolean {
  return steps.length < maxRollOutSteps;
}

function toPoints(rate: number): number {
  return Math.round(rate * 10_000) / 100;
}

const list = new Intl.ListFormat('en');

/** A plan in a sentence, without its full stop: `1% for 1 hour, then 10% for 1 day, then all guests`. */
export function planInWords({ steps, halt }: RollOutPlan): string {
  const last = steps.at(-1);
  const isAll = last !== undefined && guestsOf(last) === '100%' && last.holdSeconds === 0;
  const stages = [...(isAll ? steps.slice(0, -1) : steps).map(stepInWords), 'all guests'].join(', then ');
  if (halt === null) return stages;
  const limits = [
    ...(halt.errorRate === null ? [] : [`${toPoints(halt.errorRate)} percentage points more errors`]),
    ...(halt.p95Ratio === null ? [] : [`${halt.p95Ratio} times the call time`]),
    ...(halt.memoryRatio === null ? [] : [`${halt.memoryRatio} times the memory`]),
  ];
  return `${stages}. It halts at ${list.format(limits)}`;
}

function stepInWords(step: RollOutStep): string {
  return `${guestsOf(step)} ${holdInWords(step.holdSeconds)}`;
}

/** The guests of a step: `10%`, `ring staff`. */
export function guestsOf(step: RollOutStep): string {
  return 'ring' in step ? `ring ${step.ring}` : `${step.percent}%`;
}

/** How long a step holds: `for 2 days`, `until promoted`. */
export function holdInWords(seconds: number | null): string {
  if (seconds === null) return 'until promoted';
  const [unit, size] = (
    [
      ['day', 86_400],
      ['hour', 3600],
      ['minute', 60],
    ] as const
  ).find(([, each]) => seconds > 0 && seconds % each === 0) ?? ['second', 1];
  const count = seconds / size;
  return `for ${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
}
