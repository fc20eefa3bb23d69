import { type SimulationReport, type SimulationVerdict, simulationReport } from '@tenon/protocol';
import { isValid } from '@tenon/protocol/validate';
import type { SimulationTask } from '@tenon/run-kit/simulation';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import { createPool, type OnTaskEnd, PoolError, type PoolLoad } from '../workers/pool.ts';
import { processWorkers } from '../workers/process-worker.ts';
import { createCompileCache } from './compile-cache.ts';
import { availableProtections, type Protection, sandboxHeapMiB, sandboxOptions } from './sandbox.ts';
import { encodeTask, type SandboxTask } from './sandbox-messages.ts';

export interface SimulatorOptions {
  /** The queue takes turns between keys: the id of the account that published, or of the application. */
  readonly fairnessKey: string;
  readonly signal?: AbortSignal | undefined;
}

/** Runs simulations in confined processes. */
export interface Simulator {
  /**
   * Runs one simulation of one plugin in a process of its own, which is killed at the time limit.
   *
   * @returns a report with the verdict `timed_out` at the time limit; `failed` if it needs more memory or output than it may have; `errored`
   *   if the process crashed or could not run
   * @throws PoolError `queue_full`, `aborted`, or `closed`
   */
  run(task: Omit<SimulationTask, 'limits'>, options: SimulatorOptions): Promise<SimulationReport>;
  /** Starts processes ahead, so that a simulation that follows soon doesn't wait for one. */
  warm(): void;
  /** How processes are confined; empty if simulations are turned off. */
  readonly protections: readonly Protection[];
  readonly load: PoolLoad;
  /** Kills all processes. Simulations in progress fail with `closed`. */
  close(): Promise<void>;
}

type SimulatorSettings = Pick<
  Settings,
  | 'simulations'
  | 'simulationsAtOnce'
  | 'simulationQueue'
  | 'simulationSpares'
  | 'simulationTimeoutMs'
  | 'simulationMemoryBytes'
  | 'maxModuleBytes'
>;

/** The maximum length of a report as JSON. The runner's own limit is 256 KiB, without the details. */
const maxReportBytes = 320 * 1024;

/** The task of the metrics. */
interface PoolTask extends SandboxTask {
  readonly kind: 'simulate';
}

export function createSimulator(settings: SimulatorSettings, log: Logger | undefined, onEnd?: OnTaskEnd): Simulator {
  const { simulationTimeoutMs: timeoutMs, simulationMemoryBytes: memoryBytes, maxModuleBytes } = settings;
  const isOn = settings.simulations === 'on';
  let protections = isOn ? availableProtections() : [];
  const cache = createCompileCache();
  const onConfined = (confirmed: readonly Protection[]): void => {
    if (confirmed.length < protections.length) log?.warn({ protections: confirmed }, 'simulations: less confined');
    protections = confirmed;
  };
  const limits = { timeoutMs, memoryBytes, maxModuleBytes };
  // The report travels as a string of JSON, in which quotes and backslashes are escaped again.
  const untrusted = sandboxOptions(limits, 2 * maxReportBytes, onConfined, cache.folder);
  const script = new URL('./sandbox-process.ts', import.meta.url);
  const pool = createPool<PoolTask, unknown>({
    startWorker: processWorkers({ script, maxHeapMiB: sandboxHeapMiB, untrusted }),
    size: settings.simulationsAtOnce,
    maxQueued: settings.simulationQueue,
    spares: settings.simulationSpares,
    onEnd,
  });
  const memoryDetail = `The simulation needs more memory than it may use (${Math.floor(memoryBytes / 2 ** 20)} MiB).`;

  return {
    async run(task, { fairnessKey, signal }) {
      const startedAtMs = performance.now();
      const end = (verdict: SimulationVerdict, detail: string): SimulationReport => ({
        name: task.simulation.name,
        revision: task.simulation.revision,
        verdict,
        detail,
        assertions: [],
        calls: [],
        log: [],
        durationMs: performance.now() - startedAtMs,
        isCut: false,
      });
      if (!isOn) return end('errored', 'Simulations are turned off on this server.');
      if (!protections.includes('permissions')) {
        return end('errored', 'The server runs no simulations, because its version of Node.js cannot confine them.');
      }
      let result: unknown;
      try {
        const message = { kind: 'simulate' as const, ...encodeTask({ ...task, maxMemoryBytes: memoryBytes }) };
        result = await pool.run(message, { caller: fairnessKey, timeoutMs, signal });
      } catch (error) {
        if (!(error instanceof PoolError)) throw error;
        switch (error.code) {
          case 'timed_out':
            return end('timed_out', `The simulation took longer than ${timeoutMs} ms.`);
          case 'out_of_memory':
            return end('failed', memoryDetail);
          case 'crashed':
            log?.error({ err: error }, 'simulations: a process failed');
            return end('errored', `${error.message}.`);
          default:
            throw error;
        }
      }
      const { reportJson, failure } = Object(result) as Readonly<Record<string, unknown>>;
      if (failure === 'memory') return end('failed', memoryDetail);
      if (failure === 'stack')
        return end('failed', 'The simulation calls functions more deeply than the engine allows.');
      const report = readReport(reportJson);
      if (report === undefined) {
        log?.error('simulations: a process returned an invalid report');
        return end('errored', 'The process returned an invalid report.');
      }
      const { name, revision } = task.simulation;
      return { ...report, name, revision };
    },
    warm() {
      if (isOn) pool.warm();
    },
    get protections() {
      return protections;
    },
    load: pool,
    async close() {
      await pool.close();
      await cache.remove();
    },
  };
}

/** Reads a report, which code that escaped may have forged. Returns `undefined` if it is not one. */
function readReport(json: unknown): SimulationReport | undefined {
  if (typeof json !== 'string' || json.length > maxReportBytes) return undefined;
  try {
    const report: unknown = JSON.parse(json);
    return isValid(simulationReport, report) ? report : undefined;
  } catch {
    return undefined;
  }
}
