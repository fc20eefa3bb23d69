import type { ExtensionPointId, SimulationReport, SimulationVerdict } from '@tenon/protocol';
import type { SimulationRecord } from '../../src/db/simulation-records.ts';
import type { Simulator } from '../../src/simulations/simulator.ts';
import { simulationRecord } from './records.ts';
import type { TestService } from './service.ts';

type Task = Parameters<Simulator['run']>[0];

/** A report as the simulator returns it. */
export function reportOf(verdict: SimulationVerdict, fields: Partial<SimulationReport> = {}): SimulationReport {
  return {
    name: 'basics',
    revision: 1,
    verdict,
    detail: null,
    assertions: [],
    calls: [],
    log: [],
    durationMs: 1,
    isCut: false,
    ...fields,
  };
}

/** A simulator whose verdicts a test decides. */
export function scriptedSimulator(run: (task: Task, signal: AbortSignal | undefined) => Promise<SimulationReport>) {
  return { run: (task, { signal }) => run(task, signal) } satisfies Pick<Simulator, 'run'>;
}

/** Gives an extension point a simulation, or another one. It bypasses the checks of the route. */
export async function putSimulation(
  service: TestService,
  extensionPointId: string,
  fields: Partial<SimulationRecord> = {},
): Promise<void> {
  const id = extensionPointId as ExtensionPointId;
  const revision = ((await service.store.read.extensionPoint(id))?.simulationsRevision ?? 0) + 1;
  const modules = { testModule: null, testModuleSize: null, mockHost: null, mockHostSize: null };
  const fixturesJson = '[{"export":"evaluate","input":"","expect":{}}]';
  await service.store.write((tx) =>
    tx.putSimulation(simulationRecord(id, { ...modules, revision, fixturesJson, ...fields })),
  );
}

/** Removes it again. */
export async function deleteSimulation(service: TestService, extensionPointId: string): Promise<void> {
  const id = extensionPointId as ExtensionPointId;
  const revision = ((await service.store.read.extensionPoint(id))?.simulationsRevision ?? 0) + 1;
  await service.store.write((tx) => tx.deleteSimulation({ extensionPointId: id, name: 'basics', revision }));
}
