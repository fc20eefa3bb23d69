import { type ContentAddress, type Fixture, pluginId, type Simulation, type SimulationTrial } from '@tenon/protocol';
import type { SimulationRecord } from '../db/simulation-records.ts';
import { time } from '../http/wire-time.ts';
import type { SimulationTrialPage } from './simulation-trial.ts';
import { kindOf } from './simulations.ts';

export function toSimulation(record: SimulationRecord): Simulation {
  const { id, extensionPointId, name, revision, mockInputBase64, fixturesJson, createdAtMs, updatedAtMs } = record;
  return {
    id,
    extensionPointId,
    name,
    revision,
    kind: kindOf(record),
    testModule: toModule(record.testModule, record.testModuleSize),
    mockHost: toModule(record.mockHost, record.mockHostSize),
    mockInputBase64,
    fixtures: fixturesJson === null ? null : (JSON.parse(fixturesJson) as Fixture[]),
    createdAt: time(createdAtMs),
    updatedAt: time(updatedAtMs),
  };
}

export function toSimulationTrial({ tried, next }: SimulationTrialPage): SimulationTrial {
  return {
    objects: tried.map(({ version, verdict, detail, reports }) => ({
      pluginId: pluginId(version.extensionPointId, version.userId, version.name),
      name: version.name,
      userName: version.userName,
      version: version.number,
      verdict,
      detail,
      simulations: [...reports],
    })),
    isCut: next !== undefined,
    ...(next !== undefined && { nextCursor: next }),
  };
}

function toModule(contentAddress: ContentAddress | null, size: number | null): Simulation['testModule'] {
  return contentAddress === null || size === null ? null : { contentAddress, size };
}
