import type { SimulationReport } from '@tenon/protocol';
import type { CallsResult, CallsTask, PluginCoverage, SimulationTask } from '@tenon/run-kit/simulation';

/** What the thread for untrusted plugins does. */
export type ThreadTask =
  | { readonly kind: 'simulation'; readonly task: SimulationTask }
  | { readonly kind: 'calls'; readonly task: CallsTask };

export type ThreadResult = SimulationReport | CallsResult;

/** A message of the thread. */
export type ThreadMessage =
  | { readonly type: 'begins' }
  | { readonly type: 'coverage'; readonly coverage: PluginCoverage }
  | { readonly type: 'ended'; readonly result: ThreadResult };
