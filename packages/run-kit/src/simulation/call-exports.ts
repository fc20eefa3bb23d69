import type { HostFunctions } from './host-functions.ts';
import { prepareModule, SimulationFailure } from './module.ts';
import { createPluginUnderTest } from './plugin-under-test.ts';
import { createReport } from './report.ts';
import type { SimulationLimits } from './task.ts';

/** Calls of one export, on one instance. */
export interface CallsTask {
  readonly plugin: Uint8Array;
  readonly config: ReadonlyMap<string, string>;
  readonly exportName: string;
  readonly inputs: readonly Uint8Array[];
  readonly limits: SimulationLimits;
  /** Of all outputs together. */
  readonly maxTotalBytes: number;
}

export interface CallsResult {
  /** The outputs of the first calls, up to the one that failed. */
  readonly outputs: readonly Uint8Array[];
  /** Why a call failed, or the plugin can't run. */
  readonly error: string | undefined;
}

/** A plugin that is called outside of a simulation gets the functions of Extism and WASI. */
const withoutHostFunctions: HostFunctions = {
  create([first]) {
    if (first === undefined) return { call: () => undefined, flush() {} };
    throw new SimulationFailure(`The plugin imports ${first.module}.${first.name}, which is not provided`);
  },
};

/** Calls a plugin as a simulation does: without files, network, and host functions. Blocks until the calls have ended. */
export function callExports(task: CallsTask): CallsResult {
  const { exportName, inputs, limits, maxTotalBytes } = task;
  const outputs: Uint8Array[] = [];
  try {
    const module = prepareModule(task.plugin, 'The plugin', limits, { countsCalls: false });
    const create = createPluginUnderTest(module, limits, createReport('', null), { from: 'plugin' }, task.config);
    const plugin = create(withoutHostFunctions);
    let totalBytes = 0;
    for (const input of inputs) {
      const { outcome } = plugin.call(exportName, input);
      if ('error' in outcome) return { outputs, error: outcome.error };
      totalBytes += outcome.output.length;
      if (totalBytes > maxTotalBytes) {
        return { outputs, error: `its outputs are larger than the limit of ${maxTotalBytes} bytes together` };
      }
      outputs.push(outcome.output);
    }
    return { outputs, error: undefined };
  } catch (error) {
    if (error instanceof SimulationFailure) return { outputs, error: error.message };
    throw error;
  }
}
