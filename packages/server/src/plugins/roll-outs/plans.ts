import { type RollOutPlan, rollOutPlanFault } from '@tenon/protocol';
import { invalidField } from '../../http/domain-errors.ts';

/** Returns a plan that is valid, or `null`. @throws DomainError `invalid_field` */
export function requireValidPlan(plan: RollOutPlan | null): RollOutPlan | null {
  const fault = plan === null ? undefined : rollOutPlanFault(plan);
  if (fault !== undefined) throw invalidField(`/rollOut${fault.pointer}`, fault.detail);
  return plan;
}
