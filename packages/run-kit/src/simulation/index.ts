/** Runs a plugin against a simulation of its extension point. */
export { defaultSimulationLimits, type SimulationInputs, type SimulationLimits, type SimulationTask } from './task.ts';
