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

/** A simulation whose modules are read just before it runs. */
export interface SimulationSource extends Pick<SimulationInputs, 'name' | 'revision'> {
  /** The size of the modules, the mock input and the fixtures. */
  readonly bytes: number;
  /** @throws DamagedContentError */
  read(): Promise<SimulationInputs>;
}

/** A stored simulation. */
export function storedSource(deps: Pick<Deps, 'contents'>, record: SimulationRecord): SimulationSource {
  const { name, revision, bytes, testModule, mockHost, mockInputBase64, fixturesJson } = record;
  return {
    name,
    revision,
    bytes,
    read: async () => ({
      name,
      revision,
      ...(testModule !== null && { testModule: await readModule(deps, testModule) }),
      ...(mockHost !== null && { mockHost: await readModule(deps, mockHost) }),
      ...(mockInputBase64 !== null && { mockInput: Buffer.from(mockInputBase64, 'base64') }),
      ...(fixturesJson !== null && { fixtures: JSON.parse(fixturesJson) as Fixture[] }),
    }),
  };
}

/** @throws DamagedContentError if the bytes are missing or damaged */
export async function readModule({ contents }: Pick<Deps, 'contents'>, address: ContentAddress): Promise<Uint8Array> {
  const found = await contents.find(address);
  if (found === undefined) throw new DamagedContentError(address, 'missing');
  return found.read();
}

/** A simulation that is not stored. */
export function draftSource(name: string, checked: CheckedSimulation): SimulationSource {
  const { testModule, mockHost, mockInput, fixtures } = checked;
  const inputs = {
    name,
    revision: null,
    ...(testModule !== null && { testModule }),
    ...(mockHost !== null && { mockHost }),
    ...(mockInput !== null && { mockInput }),
    ...(fixtures !== null && { fixtures }),
  };
  const bytes = [testModule, mockHost, mockInput].reduce((sum, one) => sum + (one?.length ?? 0), 0);
  return { name, revision: null, bytes, read: async () => inputs };
}

/** Takes memory for simulations that run one after another, each with all of these versions. */
export function reserveFor(
  reserve: Reserve,
  simulations: readonly Pick<SimulationSource, 'bytes'>[],
  versionBytes: number,
): void {
  if (simulations.length > 0) reserve(Math.max(...simulations.map(({ bytes }) => bytes)) + versionBytes);
}

/** Takes memory for that many bytes. @throws HttpError `unavailable` */
export type Reserve = (bytes: number) => void;

/**
 * Does work for a request that waits for simulations. The requests of one account take turns, and hold no modules while they wait.
 *
 * @throws ClientDisconnected
 */
export async function takeTurn<T>(
  { mutex }: Pick<Deps, 'mutex'>,
  { fairnessKey, signal }: SimulatorOptions,
  work: () => Promise<T>,
): Promise<T> {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const onAbort = (): void => begun.reject(new ClientDisconnected('The client disconnected'));
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  void mutex(`simulations ${fairnessKey}`, () => {
    begun.resolve();
    return ended.promise;
  });
  try {
    await begun.promise;
    return await work();
  } finally {
    ended.resolve();
    signal?.removeEventListener('abort', onAbort);
  }
}

export interface SimulationRunOptions extends SimulatorOptions {
  readonly schemaJson: string;
  /** When to give up (of `performance.now()`). A later simulation gets the verdict `errored`. */
  readonly deadlineMs: number;
}

/**
 * Runs a simulation, for a request that waits for the report.
 *
 * @throws HttpError `unavailable` if the queue is full, ClientDisconnected, DamagedContentError
 */
export async function runSimulation(
  { simulator }: Pick<Deps, 'simulator'>,
  plugin: Uint8Array,
  source: SimulationSource,
  { schemaJson, deadlineMs, ...options }: SimulationRunOptions,
): Promise<SimulationReport> {
  if (performance.now() > deadlineMs) {
    return notRun(source, 'errored', 'It was not run, because the simulations before it took too long.');
  }
  const simulation = await source.read();
  return simulator.run({ plugin, simulation, schemaJson }, options).catch(toRequestError);
}

/** The report of a simulation that was not run. */
export function notRun(
  { name, revision }: Pick<SimulationSource, 'name' | 'revision'>,
  verdict: 'errored' | 'timed_out',
  detail: string,
): SimulationReport {
  const lists = { assertions: [], calls: [], log: [] };
  return { name, revision, verdict, detail, ...lists, durationMs: 0, isCut: false };
}

const retrySeconds = 5;

function toRequestError(error: unknown): never {
  if (!(error instanceof PoolError)) throw error;
  if (error.code === 'aborted') throw new ClientDisconnected('The client disconnected', { cause: error });
  throw unavailable('Other simulations run, and others wait already. Try again shortly.', retrySeconds, error);
}
