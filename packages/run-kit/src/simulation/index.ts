/** Runs a plugin against a simulation of its extension point, or calls one of its exports. */
export { type CallsResult, type CallsTask, callExports } from './call-exports.ts';
export { mockHostFault, testModuleFault } from './module-faults.ts';
export { runSimulation } from './run-simulation.ts';
export {
  defaultSimulationLimits,
  type PluginCoverage,
  type SimulationInputs,
  type SimulationLimits,
  type SimulationTask,
} from './task.ts';
