import type { ComparedCall, SimulatedCall, SimulationComparison, SimulationReport } from '@tenon/protocol';
import type { ExtensionPointAccess } from '../auth/access.ts';
import type { Deps } from '../deps.ts';
import type { JobOptions } from '../plugins/module-checker.ts';
import type { VersionsToDiff } from '../plugins/version-diff.ts';
import { type Reserve, readModule, reserveFor, runSimulation, storedSource, takeTurn } from './simulation-inputs.ts';

/** How long the simulations of both versions may take together. */
const budgetMs = 60_000;

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
  reserve: Reserve,
  { signal }: JobOptions,
): Promise<SimulationComparison> {
  const options = { fairnessKey: actor.userId, signal };
  const simulations = await takeTurn(deps, options, async () => {
    const sources = (await deps.store.read.simulations(extensionPoint.id)).map((one) => storedSource(deps, one));
    if (sources.length === 0) return [];
    reserveFor(reserve, sources, (before?.size ?? 0) + after.size);
    const afterBytes = await readModule(deps, after.contentAddress);
    const beforeBytes = before && (await readModule(deps, before.contentAddress));
    const run = { ...options, schemaJson: extensionPoint.schemaJson, deadlineMs: performance.now() + budgetMs };
    const compared: SimulationComparison['simulations'][number][] = [];
    for (const source of sources) {
      const afterReport = await runSimulation(deps, afterBytes, source, run);
      const beforeReport = beforeBytes && (await runSimulation(deps, beforeBytes, source, run));
      compared.push(compareReports(beforeReport, afterReport));
    }
    return compared;
  });
  return { version: after.number, against: before?.number ?? null, simulations };
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
