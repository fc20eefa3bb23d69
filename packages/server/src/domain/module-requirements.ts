import { type Mismatch, summarizeMismatches } from '@tenon/extension-schema/interface-check';
import { DomainError } from './errors.ts';
import type { ModuleRequirements } from './ports.ts';

export function isSameRequirements(a: ModuleRequirements, b: ModuleRequirements): boolean {
  return a.schemaJson === b.schemaJson && JSON.stringify(a.limits) === JSON.stringify(b.limits);
}

/** @throws DomainError `interface_mismatch`, with each mismatch, when there are any */
export function requireFit(mismatches: readonly Mismatch[]): void {
  if (mismatches.length === 0) return;
  const errors = mismatches.map(({ pointer, detail }) => ({ pointer, detail }));
  const detail = `The module does not fit the extension point. ${summarizeMismatches(mismatches)}`;
  throw new DomainError('interface_mismatch', detail, { errors });
}
