import type { RollOutHalt, RollOutPlan, RollOutStep } from '@tenon/protocol';
import {
  defaultMinCalls,
  maxHoldSeconds,
  maxMinCalls,
  maxRatio,
  maxRollOutSteps,
  ringPattern,
} from '@tenon/protocol/roll-out-limits';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from './command.ts';
import { formatDuration, isDuration, parseDuration } from './duration.ts';
import { usageError } from './errors.ts';

/** All guests at once, in place of steps. */
const all = 'all';
/** No limit that halts, in place of limits. */
const none = 'none';

/** The options of a plan, as they were read. */
export interface PlanOptions {
  readonly rollOut?: readonly RollOutStep[] | typeof all;
  readonly halt?: RollOutHalt | typeof none;
}

/**
 * Adds `--roll-out` and `--halt`.
 *
 * @param usual what applies without `--roll-out`
 */
export function withPlan(command: Command, usual: string): Command {
  return command
    .addOption(
      new Option(
        '--roll-out <steps>',
        `the guests that get a version, step by step: a percentage or a ring, and how long the step holds, as in ring:staff:1h,10%:1d,100%; or all (default: ${usual})`,
      ).argParser(parseSteps),
    )
    .addOption(
      new Option(
        '--halt <limits>',
        'what halts the roll-out, compared with the version before, as in errors=2%,p95=1.5x,memory=1.5x,calls=20; or none (default: none)',
      ).argParser(parseHalt),
    );
}

/**
 * The field `rollOut` of a request: absent without the options.
 *
 * @throws CliError `usage` for limits without steps
 */
export function planField({ rollOut, halt }: PlanOptions): { readonly rollOut?: RollOutPlan | null } {
  if (rollOut === undefined || rollOut === all) {
    if (halt !== undefined)
      throw usageError('--halt needs steps.', 'As in: --roll-out 1%:1h,10%:1d,100% --halt errors=2%');
    return rollOut === undefined ? {} : { rollOut: null };
  }
  return { rollOut: { steps: [...rollOut], halt: halt === undefined || halt === none ? null : halt } };
}

const stepForms = 'it takes <percent>%, <percent>%:<time>, ring:<name>, or ring:<name>:<time>';

/** Reads `ring:staff:1h,10%:1d,100%`. @throws InvalidArgumentError that names the step, its fault, and what is expected */
export function parseSteps(text: string): readonly RollOutStep[] | typeof all {
  if (text.trim() === all) return all;
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length > maxRollOutSteps) {
    throw new InvalidArgumentError(`It takes at most ${maxRollOutSteps} steps (got ${parts.length}).`);
  }
  let percentBefore = 0;
  const rings = new Set<string>();
  return parts.map((part, at) => {
    const fail = (fault: string) => new InvalidArgumentError(`Step ${at + 1}, "${part}": ${fault}.`);
    const [, ring, percentText, time] = /^(?:ring:([^:]*)|([^:]*)%)(?::(.*))?$/s.exec(part) ?? [];
    if (ring !== undefined) {
      if (!new RegExp(ringPattern, 'u').test(ring)) throw fail(`the name of a ring must match ${ringPattern}`);
      if (rings.has(ring)) throw fail('an earlier step has this ring');
      if (percentBefore === 100) throw fail('all guests have the version after 100%');
      rings.add(ring);
      return { ring, holdSeconds: time === undefined ? null : holdOf(time, fail) };
    }
    if (percentText === undefined) throw fail(stepForms);
    const percent = /^\d{1,3}$/.test(percentText) ? Number(percentText) : 0;
    if (percent < 1 || percent > 100) throw fail('the percentage must be a whole number from 1 to 100');
    if (percent <= percentBefore) throw fail(`the percentage must be more than the ${percentBefore}% before it`);
    percentBefore = percent;
    // Everyone has the version at 100%, so that a step without a time has nothing to wait for.
    return { percent, holdSeconds: time === undefined ? (percent === 100 ? 0 : null) : holdOf(time, fail) };
  });
}

function holdOf(time: string, fail: (fault: string) => Error): number {
  const seconds = time === '0' || isDuration(time) ? parseDuration(time) / 1000 : Number.NaN;
  if (Number.isInteger(seconds) && seconds <= maxHoldSeconds) return seconds;
  const most = formatDuration(maxHoldSeconds * 1000);
  throw fail(`the time must be whole seconds, at most ${most}, as a number and a unit (s, m, h, d): 30m, 1h, 7d`);
}

const limitForms = 'It takes errors=<points>%, p95=<times>x, memory=<times>x, and calls=<number>';

/** Reads `errors=2%,p95=1.5x,memory=1.5x,calls=20`. @throws InvalidArgumentError that names the limit and what is expected */
export function parseHalt(text: string): RollOutHalt | typeof none {
  if (text.trim() === none) return none;
  const found = new Map<string, number>();
  for (const part of text.split(',').map((part) => part.trim())) {
    const [, name = '', value = ''] = /^(errors|p95|memory|calls)=(.*)$/s.exec(part) ?? [];
    if (name === '') throw new InvalidArgumentError(`"${part}" is not a limit. ${limitForms}, separated by commas.`);
    if (found.has(name)) throw new InvalidArgumentError(`"${part}": ${name} is given twice.`);
    found.set(name, limitOf(part, name, value));
  }
  const [errors = null, p95 = null, memory = null] = ['errors', 'p95', 'memory'].map((name) => found.get(name) ?? null);
  if (errors === null && p95 === null && memory === null) {
    throw new InvalidArgumentError('It takes errors, p95, or memory too: the calls alone halt nothing.');
  }
  const halt = { errorRate: errors, p95Ratio: p95, memoryRatio: memory };
  return { minCalls: found.get('calls') ?? defaultMinCalls, ...halt };
}

function limitOf(part: string, name: string, value: string): number {
  const [, number = ''] = name === 'calls' ? [value, value] : (/^(.*)(?:%|x)$/.exec(value) ?? []);
  const amount = /^\d{1,7}(?:\.\d{1,4})?$/.test(number) ? Number(number) : Number.NaN;
  if (name === 'calls') {
    if (Number.isInteger(amount) && amount >= 1 && amount <= maxMinCalls) return amount;
    throw new InvalidArgumentError(`"${part}": calls must be a whole number from 1 to ${maxMinCalls}, as in calls=20.`);
  }
  if (name === 'errors') {
    if (value.endsWith('%') && amount <= 100) return Math.round(amount * 1e4) / 1e6;
    throw new InvalidArgumentError(`"${part}": errors must be from 0% to 100%, as in errors=2%.`);
  }
  if (value.endsWith('x') && amount >= 1 && amount <= maxRatio) return amount;
  throw new InvalidArgumentError(`"${part}": ${name} must be from 1x to ${maxRatio}x, as in ${name}=1.5x.`);
}

/** A plan as `--roll-out` takes it: `1%:1h,100%`. */
export function formatSteps(plan: RollOutPlan | null): string {
  return plan === null ? all : plan.steps.map(formatStep).join(',');
}

export function formatStep(step: RollOutStep): string {
  const { holdSeconds } = step;
  const guests = 'ring' in step ? `ring:${step.ring}` : `${step.percent}%`;
  const isLast = guests === '100%' && holdSeconds === 0;
  if (holdSeconds === null || isLast) return guests;
  return `${guests}:${holdSeconds === 0 ? '0' : formatDuration(holdSeconds * 1000)}`;
}

/** Limits as `--halt` takes them. */
export function formatHalt(halt: RollOutHalt | null): string {
  if (halt === null) return none;
  const { errorRate, p95Ratio, memoryRatio, minCalls } = halt;
  return [
    ...(errorRate === null ? [] : [`errors=${Math.round(errorRate * 1e6) / 1e4}%`]),
    ...(p95Ratio === null ? [] : [`p95=${p95Ratio}x`]),
    ...(memoryRatio === null ? [] : [`memory=${memoryRatio}x`]),
    `calls=${minCalls}`,
  ].join(',');
}
