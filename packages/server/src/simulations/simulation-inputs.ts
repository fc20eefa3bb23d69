import type { ContentAddress, Fixture, SimulationReport } from '@tenon/protocol';
import type { SimulationInputs } from '@tenon/run-kit/simulation';
import { DamagedContentError } from '../blobs/stored-contents.ts';
import type { SimulationRecord } from '../db/simulation-records.ts';
import type { Deps } from '../deps.ts';
import { ClientDisconnected } from '../http/bodies/read-bytes.ts';
import { unavailable } from '../http/http-error.ts';
import { PoolError } from '../workers/pool.ts';
import type { CheckedSimulation } from './check-simulation.ts';
import type { SimulatorOptions } from './simulator.ts';

type InputDeps = Pick<Deps, 'contents' | 'simulator'>;

/** Reads the modules of stored simulations. @throws DamagedContentError */
export async function readInputs(deps: InputDeps, stored: readonly SimulationRecord[]): Promise<SimulationInputs[]> {
  const inputs: SimulationInputs[] = [];
  for (const { name, revision, testModule, mockHost, mockInputBase64, fixturesJson } of stored) {
    inputs.push({
      name,
      revision,
      ...(testModule !== null && { testModule: await readModule(deps, testModule) }),
      ...(mockHost !== null && { mockHost: await readModule(deps, mockHost) }),
      ...(mockInputBase64 !== null && { mockInput: Buffer.from(mockInputBase64, 'base64') }),
      ...(fixturesJson !== null && { fixtures: JSON.parse(fixturesJson) as Fixture[] }),
    });
  }
  return inputs;
}

/** @throws DamagedContentError if the bytes are missing or damaged */
export async function readModule({ contents }: Pick<Deps, 'contents'>, address: ContentAddress): Promise<Uint8Array> {
  const found = await contents.find(address);
  if (found === undefined) throw new DamagedContentError(address, 'missing');
  return found.read();
}

/** A simulation that is not stored. */
export function draftInputs(name: string, checked: CheckedSimulation): SimulationInputs {
  const { testModule, mockHost, mockInput, fixtures } = checked;
  return {
    name,
    revision: null,
    ...(testModule !== null && { testModule }),
    ...(mockHost !== null && { mockHost }),
    ...(mockInput !== null && { mockInput }),
    ...(fixtures !== null && { fixtures }),
  };
}

export interface InputsRun extends SimulatorOptions {
  readonly schemaJson: string;
  /** When to give up (of `performance.now()`). The remaining simulations get the verdict `errored`. */
  readonly deadlineMs: number;
}

/**
 * Runs simulations one after another, for a request that waits for the reports.
 *
 * @throws HttpError `unavailable` if the queue is full, ClientDisconnected
 */
export async function runInputs(
  { simulator }: Pick<Deps, 'simulator'>,
  plugin: Uint8Array,
  inputs: readonly SimulationInputs[],
  { schemaJson, deadlineMs, ...options }: InputsRun,
): Promise<SimulationReport[]> {
  const reports: SimulationReport[] = [];
  for (const simulation of inputs) {
    if (performance.now() > deadlineMs) {
      reports.push(notRun(simulation));
      continue;
    }
    reports.push(await simulator.run({ plugin, simulation, schemaJson }, options).catch(toRequestError));
  }
  return reports;
}

function notRun({ name, revision }: SimulationInputs): SimulationReport {
  const detail = 'It was not run, because the simulations before it took too long.';
  const lists = { assertions: [], calls: [], log: [] };
  return { name, revision, verdict: 'errored', detail, ...lists, durationMs: 0, isCut: false };
}

const retrySeconds = 5;

function toRequestError(error: unknown): never {
  if (!(error instanceof PoolError)) throw error;
  if (error.code === 'aborted') throw new ClientDisconnected('The client disconnected', { cause: error });
  throw unavailable('Other simulations run, and others wait already. Try again shortly.', retrySeconds, error);
}
