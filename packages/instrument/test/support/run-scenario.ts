import { outcomeOfWorker } from '../../../../test/helpers/real-programs/outcome-of-worker.ts';
import type { Mode, Outcome } from './scenario-worker.ts';

/** Runs a scenario in a worker of its own. */
export function runScenario(scenario: string, mode: Mode): Promise<Outcome> {
  return outcomeOfWorker(new URL('./scenario-worker.ts', import.meta.url), { scenario, mode });
}
