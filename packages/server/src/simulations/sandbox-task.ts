import { defaultSimulationLimits, runSimulation } from '@tenon/run-kit/simulation';
import type { TaskResponse } from '../workers/serve-tasks.ts';
import { decodeTask, type SandboxResult, type SandboxTask } from './sandbox-messages.ts';

/** Counting the blocks of a larger plugin would take noticeable time, which the verdict waits for. */
const maxCoverageBytes = 4 * 1024 ** 2;

/** Runs a simulation. Only the process of a simulation loads this module. */
export function runTask(message: SandboxTask): TaskResponse<SandboxResult> {
  const { maxMemoryBytes, ...task } = decodeTask(message);
  try {
    const report = runSimulation({
      ...task,
      limits: { ...defaultSimulationLimits, maxMemoryBytes },
      measuresCoverage: task.plugin.length <= maxCoverageBytes,
    });
    return { result: { reportJson: JSON.stringify(report) }, shouldRecycle: true };
  } catch (error) {
    // The engine throws this when it gets no more memory, and when the stack is full.
    if (!(error instanceof RangeError)) throw error;
    const failure = /call stack/.test(error.message) ? 'stack' : 'memory';
    return { result: { failure }, shouldRecycle: true };
  }
}
