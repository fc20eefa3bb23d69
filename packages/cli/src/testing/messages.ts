import type { SimulationReport } from '@tenon/protocol';

/** A message of the thread that runs a simulation. */
export type SimulationMessage =
  | { readonly type: 'begins' }
  | { readonly type: 'ended'; readonly report: SimulationReport };
