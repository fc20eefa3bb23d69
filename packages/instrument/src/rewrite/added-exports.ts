import { adaptiveExports } from './adaptive.ts';
import type { Layout } from './layout.ts';
import { type AddedExport, probeExports } from './probes.ts';

/** The exports that the rewriter adds behind the module's own. */
export function addedExports({ adaptive, probes }: Layout): AddedExport[] {
  return [...adaptiveExports(adaptive), ...probeExports(probes)];
}
