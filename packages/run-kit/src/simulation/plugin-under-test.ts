import { endingOf, RunFailure } from '../ending.ts';
import { missingImports } from '../plan.ts';
import type { FunctionImport, HostFunctions, HostInstance, ReportedHostCall } from './host-functions.ts';
import { describeRaw } from './host-values.ts';
import { createKernel, type Kernel } from './kernel.ts';
import { type ModuleInstance, SimulationFailure, type SimulationModule } from './module.ts';
import type { LogLine, ReportBuilder } from './report.ts';
import type { SimulationLimits } from './task.ts';
import { excerptOf, isCutBytes, maxNameLength, shorten } from './text.ts';

/** The plugin that a simulation tests, with the host functions that it imports. */
export interface PluginUnderTest {
  /** Calls an export of the current instance, and reports the call. The first call creates the instance. */
  readonly call: (exportName: string, input: Uint8Array) => CallResult;
  /** Makes the next call create new instances of the plugin and its mock host. */
  readonly reset: () => void;
}

export interface CallResult {
  readonly outcome: { readonly output: Uint8Array } | { readonly error: string };
  readonly timeNano: number;
}

/** Limits of the host calls that are reported for one call: number, and UTF-16 code units of JSON. */
const maxHostCalls = 200;
const maxHostCallsLength = 16_384;

interface Running {
  readonly kernel: Kernel;
  readonly host: HostInstance;
  readonly plugin: ModuleInstance;
}

export function createPluginUnderTest(
  module: SimulationModule,
  limits: SimulationLimits,
  report: ReportBuilder,
  source: { from: LogLine['from'] },
  config?: ReadonlyMap<string, string>,
) {
  const imported = missingImports(module.description.imports).filter(
    (each): each is FunctionImport => each.kind === 'function' && each.type !== undefined,
  );

  /** @throws SimulationFailure if the plugin can't start with these host functions */
  return function withHostFunctions(hostFunctions: HostFunctions): PluginUnderTest {
    let running: Running | undefined;
    let hostCalls: ReportedHostCall[] = [];
    let hostCallsLength = 0;

    function start(): Running {
      const kernel = createKernel(limits, report, () => source.from, config);
      const host = hostFunctions.create(imported, kernel);
      const functions: Record<string, WebAssembly.ModuleImports> = Object.create(null);
      for (const target of imported) {
        const fields = functions[target.module] ?? Object.create(null);
        functions[target.module] = fields;
        fields[target.name] = (...args: unknown[]) => callHost(kernel, host, target, args);
      }
      try {
        const plugin = module.instantiate([kernel.host.imports, functions], (stream, text) =>
          report.log('plugin', stream, text),
        );
        return { kernel, host, plugin };
      } catch (error) {
        if (error instanceof SimulationFailure) throw error;
        throw new SimulationFailure(`The plugin does not start: ${module.reasonOf(error)}`);
      }
    }

    function callHost(kernel: Kernel, host: HostInstance, target: FunctionImport, args: readonly unknown[]): unknown {
      const isListed = hostCalls.length < maxHostCalls && hostCallsLength < maxHostCallsLength;
      const described = isListed ? args.map((arg) => describeRaw(arg, kernel, report.cut)) : [];
      const entry: ReportedHostCall = { name: shorten(target.name, maxNameLength), args: described, returns: null };
      if (isListed) hostCalls.push(entry);
      else report.cut();
      const before = source.from;
      source.from = 'host';
      try {
        const result = host.call(target, args);
        if (isListed && result !== undefined) entry.returns = describeRaw(result, kernel, report.cut);
        return result;
      } finally {
        if (isListed) hostCallsLength += JSON.stringify(entry).length;
        source.from = before;
      }
    }

    const reset = () => {
      running?.plugin.end();
      running = undefined;
    };

    function call(exportName: string, input: Uint8Array): CallResult {
      hostCalls = [];
      hostCallsLength = 0;
      running ??= start();
      const { kernel, plugin, host } = running;
      const callsBefore = plugin.functionCalls();
      const startMs = performance.now();
      let outcome: CallResult['outcome'];
      // How often a function calls itself before the stack overflows varies from run to run.
      let isOverflow = false;
      let ended: SimulationFailure | undefined;
      plugin.refuel();
      try {
        outcome = { output: callExport(exportName, input, running, limits) };
      } catch (error) {
        ended = error instanceof SimulationFailure ? error : plugin.outOfFuel(`The call of ${shownName(exportName)}`);
        outcome = { error: ended?.message ?? module.reasonOf(error) };
        isOverflow = error instanceof RangeError;
        // A trap leaves an instance in an unknown state, such as a stack pointer that is not reset.
        if (!(error instanceof ReportedError)) reset();
      }
      const timeNano = Math.round((performance.now() - startMs) * 1e6);
      plugin.flush();
      host.flush();
      kernel.blocks.clear();
      report.call(() => {
        if (isCutBytes(input) || ('output' in outcome && isCutBytes(outcome.output))) report.cut();
        return {
          export: exportName,
          input: excerptOf(input),
          output: 'output' in outcome ? excerptOf(outcome.output) : null,
          error: 'error' in outcome ? outcome.error : null,
          timeNano,
          memoryPages: plugin.memoryPages(),
          functionCalls: module.isCounted && !isOverflow ? plugin.functionCalls() - callsBefore : null,
          hostCalls,
        };
      });
      if (ended !== undefined) throw ended;
      return { outcome, timeNano };
    }
    return { call, reset };
  };
}

/** An error that a plugin reports by returning. Its instance can be called again. */
class ReportedError extends RunFailure {}

function shownName(exportName: string): string {
  return JSON.stringify(shorten(exportName, maxNameLength));
}

function callExport(
  exportName: string,
  input: Uint8Array,
  { kernel, plugin }: Running,
  limits: SimulationLimits,
): Uint8Array {
  const exported = Object.hasOwn(plugin.exports, exportName) ? plugin.exports[exportName] : undefined;
  const shown = shownName(exportName);
  if (typeof exported !== 'function') throw new ReportedError(`the plugin exports no function ${shown}`);
  if (exported.length > 0) {
    throw new ReportedError(`the plugin's export ${shown} takes parameters; an Extism plugin's exports take none`);
  }
  if (input.length > limits.maxOutputBytes) {
    throw new ReportedError(`the input of ${input.length} bytes is larger than the limit of ${limits.maxOutputBytes}`);
  }
  kernel.host.begin(input);
  let result: unknown;
  try {
    result = (exported as () => unknown)();
  } catch (thrown) {
    plugin.check();
    const ending = endingOf(thrown);
    if (ending.kind !== 'returned') throw thrown;
    if (ending.exitCode !== 0) throw new RunFailure(`the plugin exited with code ${ending.exitCode}`);
  }
  plugin.check();
  const { output, error } = kernel.host.end();
  if (error !== undefined) throw new ReportedError(`the plugin reported an error: ${error}`);
  if (result !== undefined && result !== 0 && result !== 0n)
    throw new ReportedError(`the plugin returned ${String(result)}`);
  if (output.length > limits.maxOutputBytes) {
    throw new ReportedError(
      `the output of ${output.length} bytes is larger than the limit of ${limits.maxOutputBytes}`,
    );
  }
  return output;
}
