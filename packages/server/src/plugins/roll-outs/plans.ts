import { type RollOutPlan, rollOutPlanFault } from '@tenon/protocol';
import { invalidField } from '../../http/domain-errors.ts';

/** Returns a plan that is valid, or `null`. @throws DomainError `invalid_field` */
export function requireValidPlan(plan: RollOutPlan | null): RollOutPlan | null {
  const fault = plan === null ? undefined : rollOutPlanFault(plan);
  if (fault !== undefined) throw invalidField(`/rollOut${fault.pointer}`, fault.detail);
  return plan;
}

/** Returns when a step that begins now ends; `null` if it does not end by itself. */
export function dueAt({ steps }: RollOutPlan, step: number, nowMs: number): number | null {
  const holdSeconds = steps[step]?.holdSeconds ?? null;
  return holdSeconds === null ? null : nowMs + holdSeconds * 1000;
}
