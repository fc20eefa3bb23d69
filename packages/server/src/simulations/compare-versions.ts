import type { ComparedCall, SimulatedCall, SimulationComparison, SimulationReport } from '@tenon/protocol';
import type { ExtensionPointAccess } from '../auth/access.ts';
import type { Deps } from '../deps.ts';
import type { JobOptions } from '../plugins/module-checker.ts';
import type { VersionsToDiff } from '../plugins/version-diff.ts';
import { readInputs, readModule, runInputs } from './simulation-inputs.ts';

/** How long the simulations of one version may take together. */
const versionBudgetMs = 30_000;

/** The maximum length of the calls of a simulation as JSON. */
const maxCallsLength = 256 * 1024;

/** Times differ by chance. A call is reported as slower or faster only beyond this ratio and this difference. */
const [minTimeRatio, minTimeNano] = [2, 1_000_000];

/**
 * Runs the extension point's simulations with two versions, and pairs their calls. It changes nothing.
 *
 * @throws DamagedContentError; HttpError `unavailable`; ClientDisconnected
 */
export async function compareVersions(
  deps: Deps,
  { actor, extensionPoint }: ExtensionPointAccess,
  { before, after }: VersionsToDiff,
  { signal }: JobOptions,
): Promise<SimulationComparison> {
  const inputs = await readInputs(deps, await deps.store.read.simulations(extensionPoint.id));
  const run = async (version: VersionsToDiff['after']): Promise<SimulationReport[]> => {
    const deadlineMs = performance.now() + versionBudgetMs;
    const options = { schemaJson: extensionPoint.schemaJson, deadlineMs, fairnessKey: actor.userId, signal };
    return runInputs(deps, await readModule(deps, version.contentAddress), inputs, options);
  };
  const afterReports = await run(after);
  const beforeReports = before === undefined ? [] : await run(before);
  return {
    version: after.number,
    against: before?.number ?? null,
    simulations: afterReports.map((report, index) => compareReports(beforeReports[index], report)),
  };
}

export function compareReports(
  before: SimulationReport | undefined,
  after: SimulationReport,
): SimulationComparison['simulations'][number] {
  const compared = pairCalls(before?.calls ?? [], after.calls);
  const ordered = [...compared.filter(({ differs }) => differs), ...compared.filter(({ differs }) => !differs)];
  let length = 0;
  const calls = ordered.filter((call) => {
    length += JSON.stringify(call).length;
    return length <= maxCallsLength;
  });
  return {
    name: after.name,
    before: before?.verdict ?? null,
    after: after.verdict,
    calls,
    isCut: after.isCut || before?.isCut === true || calls.length < compared.length,
  };
}

/** Pairs the first call of an export with the first one of the other version, and so on. The result has the order of `after`. */
function pairCalls(before: readonly SimulatedCall[], after: readonly SimulatedCall[]): ComparedCall[] {
  const rest = Map.groupBy(before, (call) => call.export);
  const pairs = after.map((call) => compareCalls(rest.get(call.export)?.shift() ?? null, call));
  const removed = new Set([...rest.values()].flat());
  return [...pairs, ...before.filter((call) => removed.has(call)).map((call) => compareCalls(call, null))];
}

function compareCalls(before: SimulatedCall | null, after: SimulatedCall | null): ComparedCall {
  if (before === null || after === null) return { before, after, differs: true, changes: [] };
  const isOther = (field: (call: SimulatedCall) => unknown): boolean =>
    JSON.stringify(field(before)) !== JSON.stringify(field(after));
  const times = [before.timeNano, after.timeNano] as const;
  const [faster, slower] = [Math.min(...times), Math.max(...times)];
  const isTimeOther = slower - faster >= minTimeNano && slower >= faster * minTimeRatio;
  const changes = {
    input: isOther(({ input }) => [input.size, input.sha256]),
    output: isOther(({ output }) => output && [output.size, output.sha256]),
    error: isOther(({ error }) => error),
    host_calls: isOther(({ hostCalls }) => hostCalls),
    time: isTimeOther,
    memory: isOther(({ memoryPages }) => memoryPages),
    function_calls: isOther(({ functionCalls }) => functionCalls),
  };
  const differs = changes.input || changes.output || changes.error || changes.host_calls;
  const names = Object.keys(changes) as (keyof typeof changes)[];
  return { before, after, differs, changes: names.filter((name) => changes[name]) };
}
