import type { Static } from 'typebox';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { pageQuery } from './pages.ts';
import {
  defaultMinCalls,
  maxHoldSeconds,
  maxMinCalls,
  maxRatio,
  maxRollOutSteps,
  ringPattern,
} from './roll-out-limits.ts';
import { Type } from './type.ts';

/* Staged roll-outs: a version reaches the guests of its plugin step by step. */

/** How many versions of one plugin may be in a roll-out at the same time. */
export const maxOpenRollOuts = 10;

/** The number of buckets that guests are spread over. A step of one percent reaches a hundredth of them. */
export const rollOutBuckets = 10_000;

const ringName = (what: string) => Type.String({ pattern: ringPattern, description: what });

/** The ring of a guest. */
export const guestRing = ringName('the group of guests that steps of roll-outs name; guests never see it');

const holdSeconds = nullable(Type.Integer({ minimum: 0, maximum: maxHoldSeconds }), {
  description: 'how long the step lasts, at most 90 days; `null` until a member of the team promotes the version',
});

// Rejects unknown properties: a misspelt one would silently have no effect.
export const rollOutStep = Type.Union(
  [
    Type.Object(
      {
        percent: Type.Integer({
          minimum: 1,
          maximum: 100,
          description: 'the share of the guests that get the version',
        }),
        holdSeconds,
      },
      { additionalProperties: false },
    ),
    Type.Object(
      { ring: ringName('the ring whose guests get the version'), holdSeconds },
      { additionalProperties: false },
    ),
  ],
  { description: 'a step reaches the guests of the steps before it, too' },
);
export type RollOutStep = Static<typeof rollOutStep>;

const ratio = (what: string) =>
  nullable(Type.Number({ minimum: 1, maximum: maxRatio }), {
    description: `the greatest ${what}, as a multiple of that of the version before; \`null\` for no limit`,
  });

/** When the reports of hosts halt a roll-out. At least one of the limits is not `null`. */
export const rollOutHalt = Type.Object(
  {
    minCalls: Type.Integer({
      minimum: 1,
      maximum: maxMinCalls,
      default: defaultMinCalls,
      description: 'how many calls of the version hosts must have reported before it is judged, and before a step ends',
    }),
    errorRate: nullable(Type.Number({ minimum: 0, maximum: 1 }), {
      description:
        'by how much the share of failed calls may exceed that of the version before, such as `0.02`; `null` for no limit',
    }),
    p95Ratio: ratio('95th percentile of the durations of calls'),
    memoryRatio: ratio('memory'),
  },
  { additionalProperties: false },
);
export type RollOutHalt = Static<typeof rollOutHalt>;

export const rollOutPlan = Type.Object(
  {
    steps: Type.Array(rollOutStep, {
      minItems: 1,
      maxItems: maxRollOutSteps,
      description: 'the steps, with growing shares; after the last one, all guests get the version',
    }),
    halt: nullable(rollOutHalt, { description: 'what halts the roll-out; `null` for nothing' }),
  },
  { additionalProperties: false },
);
export type RollOutPlan = Static<typeof rollOutPlan>;

/**
 * `planned`: it starts when the version has its minimum age. `running`, `paused`, and `halted` ones are open. While it is halted, it reaches
 * no guest. `superseded`: a newer version reached all guests.
 */
export const rollOutState = oneOf(['planned', 'running', 'paused', 'halted', 'completed', 'aborted', 'superseded'], {
  description:
    'open: `running`, `paused` (its guests keep the version), `halted` (its guests are back on the version before); ended: `completed` (all guests have it), `aborted` (it was withdrawn), `superseded` (a newer version reached all guests); or `planned`, until the version has its minimum age',
});
export type RollOutState = Static<typeof rollOutState>;

/** The part of a roll-out that its version has. */
export const rollOutSummary = Type.Object({
  state: rollOutState,
  step: Type.Integer({ minimum: 0, description: 'the current or last step, from 0' }),
  steps: Type.Integer({ minimum: 0, description: 'the number of steps' }),
  percent: Type.Integer({ minimum: 0, maximum: 100, description: 'the share that the step reaches, besides rings' }),
});
export type RollOutSummary = Static<typeof rollOutSummary>;

export const rollOut = Type.Object({
  pluginId: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  version: Type.Integer({ minimum: 1, description: "the version's number" }),
  semver: nullable(Type.String({ description: "the publisher's semantic version" })),
  versionId: id('version', 'the version'),
  previousVersion: nullable(
    Type.Integer({ description: 'the version before, with which reports are compared; `null` when none is published' }),
  ),
  ...rollOutSummary.properties,
  reason: nullable(Type.String({ description: 'why it was paused, halted, or aborted' })),
  plan: nullable(rollOutPlan, {
    description: "`null` for the publisher, who doesn't see rings, and for a planned release to all guests at once",
  }),
  reachedGuests: Type.Integer({ description: 'for how many guests the version is bound' }),
  totalGuests: Type.Integer({ description: 'under how many guests the version was published' }),
  startedAt: nullable(timestamp('when the first step began; `null` while it is planned')),
  stepAt: nullable(timestamp('when the step began, or when it was last resumed')),
  nextStepAt: nullable(timestamp('when the step ends; `null` if it does not end by itself')),
  waitsForReports: nullable(Type.Object({ calls: Type.Integer(), minCalls: Type.Integer() }), {
    description: 'the reported calls of the version in the step, if it lacks some; only for members',
  }),
  endedAt: nullable(timestamp('when it was completed, aborted, or superseded')),
});
export type RollOut = Static<typeof rollOut>;

/** The states that a list can be of. */
export const rollOutListStates = [
  'open',
  'running',
  'paused',
  'halted',
  'completed',
  'aborted',
  'superseded',
  'planned',
] as const;

export const rollOutListQuery = Type.Object({
  ...pageQuery.properties,
  state: Type.Optional(
    oneOf(rollOutListStates, {
      description: 'lists only those in the state',
    }),
  ),
});
export type RollOutListQuery = Static<typeof rollOutListQuery>;

/** The plan of a release. */
export const rollOutChoice = Type.Optional(
  nullable(rollOutPlan, {
    description:
      "how the version reaches the guests, for the team; `null`: all at once. Default: as it was planned before, or else the extension point's plan",
  }),
);

export const promotionInput = Type.Object({
  full: Type.Optional(
    Type.Boolean({ description: 'whether all guests get the version; default: those of the next step' }),
  ),
  step: Type.Optional(
    Type.Integer({ minimum: 0, description: 'the current step as you know it; the request fails in another one' }),
  ),
});

/** @returns the share that a step reaches besides rings, in percent */
export function percentOfStep({ steps }: Pick<RollOutPlan, 'steps'>, step: number): number {
  return Math.max(0, ...steps.slice(0, step + 1).map((one) => ('percent' in one ? one.percent : 0)));
}

/**
 * Whether a step of a plan reaches a guest.
 *
 * @param step from 0; a step reaches the guests of the steps before it, too
 * @param bucket from 0, less than {@link rollOutBuckets}
 */
export function reaches(
  plan: Pick<RollOutPlan, 'steps'>,
  step: number,
  bucket: number,
  ring: string | null | undefined,
): boolean {
  if (bucket < (percentOfStep(plan, step) * rollOutBuckets) / 100) return true;
  return ring != null && plan.steps.slice(0, step + 1).some((one) => 'ring' in one && one.ring === ring);
}

/** A part of a plan that is invalid, besides its types. */
export interface RollOutPlanFault {
  /** A JSON Pointer within the plan. */
  readonly pointer: string;
  /** Completes "… " after the pointer. */
  readonly detail: string;
}

/** Checks what the schema of a plan doesn't. */
export function rollOutPlanFault({ steps, halt }: RollOutPlan): RollOutPlanFault | undefined {
  let percent = 0;
  const rings = new Set<string>();
  for (const [at, step] of steps.entries()) {
    if ('percent' in step) {
      if (step.percent <= percent) {
        return {
          pointer: `/steps/${at}/percent`,
          detail: `must be greater than ${percent}, the share of an earlier step`,
        };
      }
      percent = step.percent;
    } else if (rings.has(step.ring) || percent === 100) {
      return { pointer: `/steps/${at}/ring`, detail: 'adds no guests to those of the earlier steps' };
    } else rings.add(step.ring);
  }
  if (halt !== null && halt.errorRate === null && halt.p95Ratio === null && halt.memoryRatio === null) {
    return { pointer: '/halt', detail: 'must have one of "errorRate", "p95Ratio", and "memoryRatio"' };
  }
  return undefined;
}

/** For the OpenAPI description. */
export const rollOutPlanExample = {
  steps: [
    { percent: 1, holdSeconds: 3600 },
    { percent: 10, holdSeconds: 86_400 },
    { percent: 50, holdSeconds: null },
  ],
  halt: { minCalls: 20, errorRate: 0.02, p95Ratio: 1.5, memoryRatio: null },
} satisfies RollOutPlan;
