import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../helpers/random.ts';
import { until } from '../helpers/until.ts';
import { createClient } from './client.ts';
import { nodeDisruptions, runDisruptions } from './disruptions.ts';
import { openEmbedded, openWorkers } from './embedded.ts';
import type { Environment } from './environment.ts';
import { runFinalCheck, untilReady } from './final-check.ts';
import { createFixture } from './fixture.ts';
import { superviseNode } from './nodes.ts';
import { openPostgresAndS3 } from './postgres-and-s3.ts';
import { runReader } from './readers.ts';
import { createReport, type Report } from './report.ts';
import { type SeededFault, type StoreFault, seededFaults } from './seeded-faults.ts';
import { createWorkload, type Reader, type Workload } from './workload.ts';
import { runMembershipChanges, runPublisher, runTokenOwner } from './writers.ts';

export const environments: Readonly<Record<string, (storeFault?: StoreFault) => Promise<Environment>>> = {
  postgres: openPostgresAndS3,
  embedded: openEmbedded,
  workers: openWorkers,
};

export interface ChaosOptions {
  /** A key of {@link environments}. */
  readonly environment: string;
  /** Determines the disruptions and operations; their timing also depends on the machine. */
  readonly seed: number;
  /** The test ends after this time, or after this number of rounds of all disruptions, whichever comes first. */
  readonly seconds?: number;
  readonly rounds?: number;
  /** Only disruptions whose name contains this text. */
  readonly only?: string | undefined;
  /** A key of {@link seededFaults}. The test ends when it detects the fault. */
  readonly seededFault?: string | undefined;
}

const [publisherCount, readerCount] = [3, 3];

/**
 * How long after the acknowledgement of a write a node may return the state before it. The promise holds on slow machines too, since
 * a node that has not heard from the database reads from it, so there is no margin.
 */
const staleMs = 1000;

/**
 * Disrupts nodes and stores at random while clients read, publish, revoke tokens and remove members. Checks every response, and
 * finally the whole state, against the acknowledged writes.
 */
export async function runChaos(options: ChaosOptions): Promise<Report> {
  const startedAt = performance.now();
  const now = (): number => performance.now() - startedAt;
  const report = createReport(now);
  const fault = options.seededFault === undefined ? undefined : seededFaults[options.seededFault];
  const open = environments[options.environment];
  if (open === undefined) throw new Error(`unknown environment ${options.environment}`);
  const environment = await open(fault?.storeFault);
  try {
    await run(options, environment, report, now, fault);
  } catch (error) {
    report.violation(String(error));
  } finally {
    await environment.close();
  }
  return report;
}

async function run(
  options: ChaosOptions,
  environment: Environment,
  report: Report,
  now: () => number,
  fault: SeededFault | undefined,
): Promise<void> {
  const {
    seed,
    seconds = Number.POSITIVE_INFINITY,
    rounds = Number.POSITIVE_INFINITY,
    only = fault?.only ?? '',
  } = options;
  const random = createRandom(seed);
  const fixture = await createFixture(environment.config, publisherCount);
  const settings = {
    ...environment.settings,
    TENON_MEMORY_MB: '4', // nodes read large modules from the store each time
    TENON_LIMITS: 'module-bytes=1MiB,config-bytes=256KiB',
    TENON_TIMES: 'gc-grace=1s',
    TENON_MODULE_WORKERS: '1',
  };
  // Only one node collects garbage, since each collection is a write, by which the node reloads its caches.
  const collecting = { ...settings, TENON_TIMES: 'gc-grace=1s,gc-interval=1s' };
  const nodes = Array.from({ length: environment.nodeCount }, (_, at) =>
    superviseNode(at, at === 0 ? collecting : settings, report, now),
  );
  const client = createClient(nodes, random.fork(), report, now, fault?.intercept?.(random.fork()));
  let isOver = false;
  const workload = createWorkload(
    { fixture, nodes, client, report, random: random.fork(), isOver: () => isOver },
    now,
    staleMs,
  );
  try {
    const timeoutMs = 240_000;
    await until(() => nodes.every(({ port }) => port !== undefined), { timeoutMs, message: 'nodes did not start' });
    const working = runWorkload(workload);
    const endsAt = now() + seconds * 1000;
    const isDetected = (): boolean =>
      fault !== undefined && report.violations.some((text) => fault.detectedBy.test(text));
    const disruptions = [...nodeDisruptions, ...environment.disruptions].filter(({ name }) => name.includes(only));
    const disrupting = runDisruptions({ nodes, report, random: random.fork() }, disruptions, (done) => {
      return done >= rounds || now() > endsAt || isDetected();
    });
    await Promise.race([disrupting, working]);
    isOver = true;
    const visitor = await working;
    await disrupting;
    if (isDetected()) return;
    await untilReady(workload);
    await sleep(staleMs);
    await runFinalCheck(workload, visitor, settings);
  } finally {
    isOver = true;
    client.close();
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

/** @returns the reader whose membership changes */
async function runWorkload(workload: Workload): Promise<Reader> {
  const { fixture, createRegister } = workload;
  const { token } = fixture.viewer;
  const viewer = (): Reader => ({ token, isRevoked: createRegister(false), isMember: createRegister(true) });
  const [visitor] = await Promise.all([
    runMembershipChanges(workload),
    runTokenOwner(workload),
    ...fixture.publishers.map((publisher) => runPublisher(workload, publisher)),
    ...Array.from({ length: readerCount }, () => runReader(workload, viewer())),
  ]);
  return visitor;
}
