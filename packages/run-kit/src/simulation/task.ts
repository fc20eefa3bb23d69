import type { CoverageCounts, CoverageMap } from '@tenon/instrument/coverage';
import type { Fixture } from '@tenon/protocol';

/** A plugin, and the simulation that it must pass. */
export interface SimulationTask {
  readonly plugin: Uint8Array;
  readonly simulation: SimulationInputs;
  /** The extension point's schema as the API returns it, for `matchesSchema` and the types of host functions. */
  readonly schemaJson: string | null;
  readonly limits: SimulationLimits;
  /** Whether the report has the plugin's coverage. */
  readonly measuresCoverage?: boolean;
}

/** The coverage of a plugin by a simulation. */
export interface PluginCoverage {
  readonly map: CoverageMap;
  readonly counts: CoverageCounts;
}

/** A simulation has a test module, or fixtures. */
export interface SimulationInputs {
  readonly name: string;
  /** `null` for a simulation that is not stored. */
  readonly revision: number | null;
  readonly testModule?: Uint8Array;
  /** Its exports are the host functions that the plugin imports. */
  readonly mockHost?: Uint8Array;
  /** What `mock_input()` returns. */
  readonly mockInput?: Uint8Array;
  readonly fixtures?: readonly Fixture[];
}

export interface SimulationLimits {
  /** Of each module's memories, of the memory that modules share with the host, and of the plugin's variables. */
  readonly maxMemoryBytes: number;
  /** Of the input and of the output of one call. */
  readonly maxOutputBytes: number;
  /** Of one call of the plugin or its mock host, and of a test module. The same in every run, unlike a time limit. */
  readonly maxInstructions: number;
}

export const defaultSimulationLimits: SimulationLimits = {
  maxMemoryBytes: 256 * 1024 ** 2,
  maxOutputBytes: 8 * 1024 ** 2,
  maxInstructions: 20e9, // 5 to 10 seconds of most programs
};
