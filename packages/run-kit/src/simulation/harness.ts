import { endingOf, RunFailure } from '../ending.ts';
import { createKernel } from './kernel.ts';
import { OutOfFuel, reasonOf, SimulationFailure, type SimulationModule } from './module.ts';
import { harnessModule, testExport, testModuleFault } from './module-faults.ts';
import type { PluginUnderTest } from './plugin-under-test.ts';
import type { ReportBuilder } from './report.ts';
import type { SimulationLimits } from './task.ts';
import { decodeText, maxNameLength, maxTextLength, shorten } from './text.ts';

/**
 * Runs a test module.
 *
 * @returns why the simulation failed, apart from assertions; `undefined` if `test` returned 0
 * @throws SimulationFailure if the plugin or the test module can't run
 */
export function runTestModule(
  testModule: SimulationModule,
  plugin: PluginUnderTest,
  mockInput: Uint8Array | undefined,
  limits: SimulationLimits,
  report: ReportBuilder,
): string | undefined {
  const fault = testModuleFault(testModule.description);
  if (fault !== undefined) throw new SimulationFailure(`The test module ${fault}`);
  const kernel = createKernel(limits, report, () => 'test');
  let group: string | null = null;
  let ended: SimulationFailure | undefined;

  const textAt = (address: bigint, maxLength: number, what: string): string => {
    const bytes = address === 0n ? new Uint8Array() : kernel.bytesAt(address);
    if (bytes === undefined) throw new RunFailure(`${what} is not the address of a block of memory: ${address}`);
    return decodeText(bytes, maxLength);
  };
  const callPlugin = (name: bigint, input: bigint) => {
    // A simulation that has ended also ends for a test module that catches the first throw.
    if (ended !== undefined) throw ended;
    const exportName = textAt(name, maxNameLength, "the function's name");
    const bytes = input === 0n ? new Uint8Array() : kernel.bytesAt(input);
    if (bytes === undefined) throw new RunFailure(`the input is not the address of a block of memory: ${input}`);
    try {
      const { outcome, timeNano } = plugin.call(exportName, bytes.slice());
      if ('error' in outcome)
        throw new RunFailure(`the call of ${JSON.stringify(exportName)} failed: ${outcome.error}`);
      return { output: outcome.output, timeNano };
    } catch (error) {
      if (error instanceof SimulationFailure) ended = error;
      throw error;
    }
  };
  const harness: Record<string, (...args: never[]) => unknown> = {
    call: (name: bigint, input: bigint) => kernel.blocks.put(callPlugin(name, input).output),
    time: (name: bigint, input: bigint) => BigInt(callPlugin(name, input).timeNano),
    assert(name: bigint, value: bigint | number, reason = 0n) {
      const text = textAt(reason, maxTextLength, "an assertion's reason");
      report.assert({
        group,
        name: textAt(name, maxNameLength, "an assertion's name"),
        passed: BigInt(value) !== 0n,
        reason: text === '' ? null : text,
      });
    },
    group(name: bigint) {
      group = textAt(name, maxNameLength, "the group's name") || null;
    },
    reset: plugin.reset,
    mock_input: () => (mockInput === undefined ? 0n : kernel.blocks.put(mockInput)),
  };
  const outcome = runTest();
  if (ended !== undefined) throw ended;
  return outcome;

  function runTest(): string | undefined {
    try {
      const hosts = [kernel.host.imports, { [harnessModule]: harness as WebAssembly.ModuleImports }];
      const instance = testModule.instantiate(hosts, (stream, text) => report.log('test', stream, text));
      try {
        kernel.host.begin(new Uint8Array());
        const result = (instance.exports[testExport] as () => unknown)();
        instance.check();
        const { error } = kernel.host.end();
        if (error !== undefined) return `The test module reported an error: ${shorten(error, maxTextLength)}`;
        return result === undefined || result === 0 || result === 0n ? undefined : `"test" returned ${String(result)}`;
      } catch (thrown) {
        throw instance.outOfFuel('"test"') ?? thrown;
      } finally {
        instance.flush();
      }
    } catch (thrown) {
      if (thrown instanceof OutOfFuel) throw thrown;
      const ending = endingOf(thrown);
      if (ending.kind === 'returned' && ending.exitCode === 0) return undefined;
      return `"test" failed: ${reasonOf(thrown)}`;
    }
  }
}
