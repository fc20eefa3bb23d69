import { type CaseName, cases } from './cases.ts';
import type { Contender } from './contenders.ts';
import type { LoadGenerator } from './load.ts';
import { cpuTimeUs } from './processes.ts';
import { medianOf } from './statistics.ts';

export interface CompareOptions {
  readonly rounds: number;
  readonly secondsARound: number;
  /** Receives progress. */
  onProgress(text: string): void;
}

/** What one contender came to in a case. */
export interface Row {
  readonly name: string;
  readonly requestsPerSecond: number;
  /** To the first contender's that was measured, round by round. */
  readonly ratio: number | undefined;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  /** Time of its processes; and of its stores' besides. */
  readonly cpuUsPerRequest: number | undefined;
  readonly storeCpuUsPerRequest: number | undefined;
  /** The first contender's by this one's: the ratio on a machine that has a core for each and nothing else to do. */
  readonly cpuRatio: number | undefined;
  /** What share of its time the load generator worked, and did not wait. */
  readonly generatorBusy: number;
}

export interface CaseResult {
  readonly case: CaseName;
  readonly title: string;
  readonly connections: number;
  readonly rows: readonly Row[];
}

/** In which threads are started, caches filled, and code compiled. */
const warmUpSeconds = 1;

/** A round of one contender. */
type Round = Omit<Row, 'name' | 'ratio' | 'cpuRatio'>;

/**
 * Puts a case to the contenders in turn, in short rounds, so that what else the machine does meanwhile falls on all of them. Each has
 * a round before that doesn't count, to warm up.
 */
export async function compare(
  generator: LoadGenerator,
  name: CaseName,
  contenders: readonly Contender[],
  { rounds, secondsARound, onProgress }: CompareOptions,
): Promise<CaseResult> {
  const taking = contenders.filter(({ kinds }) => kinds[name] !== undefined);
  const measured = new Map<Contender, Round[]>(taking.map((contender) => [contender, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const contender of taking) {
      onProgress(`${name}: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}, ${contender.name}`);
      const seconds = round === 0 ? warmUpSeconds : secondsARound;
      const one = await measure(generator, name, contender, seconds);
      if (round > 0) measured.get(contender)?.push(one);
    }
  }
  const first = taking[0] && measured.get(taking[0]);
  const rows = taking.map((contender) => toRow(contender.name, measured.get(contender) ?? [], first ?? []));
  const { title, connections } = cases[name];
  return { case: name, title, connections, rows };
}

async function measure(
  generator: LoadGenerator,
  name: CaseName,
  { ports, pids, storePids, kinds }: Contender,
  seconds: number,
): Promise<Round> {
  const before = [cpuTimeUs(pids), cpuTimeUs(storePids)] as const;
  const { connections } = cases[name];
  const loaded = await generator.load({ ports, connections, seconds, kinds: kinds[name] ?? [] });
  const { requests, requestsPerSecond, latencies, generatorBusy } = loaded;
  const aRequest = (from: number | undefined, to: number | undefined): number | undefined =>
    from === undefined || to === undefined ? undefined : (to - from) / requests;
  return {
    requestsPerSecond,
    p50Ms: latencies.percentileMs(0.5),
    p99Ms: latencies.percentileMs(0.99),
    cpuUsPerRequest: aRequest(before[0], cpuTimeUs(pids)),
    storeCpuUsPerRequest: storePids.length === 0 ? undefined : aRequest(before[1], cpuTimeUs(storePids)),
    generatorBusy,
  };
}

function toRow(name: string, rounds: readonly Round[], first: readonly Round[]): Row {
  const isFirst = rounds === first;
  return {
    name,
    requestsPerSecond: medianOf(rounds, (one) => one.requestsPerSecond) ?? 0,
    ratio: isFirst
      ? undefined
      : medianOf(rounds, (one, at) => quotient(one.requestsPerSecond, first[at]?.requestsPerSecond)),
    p50Ms: medianOf(rounds, (one) => one.p50Ms),
    p99Ms: medianOf(rounds, (one) => one.p99Ms),
    cpuUsPerRequest: medianOf(rounds, (one) => one.cpuUsPerRequest),
    storeCpuUsPerRequest: medianOf(rounds, (one) => one.storeCpuUsPerRequest),
    cpuRatio: isFirst
      ? undefined
      : medianOf(rounds, (one, at) => quotient(first[at]?.cpuUsPerRequest, one.cpuUsPerRequest)),
    generatorBusy: medianOf(rounds, (one) => one.generatorBusy) ?? 0,
  };
}

/** `undefined` where there is nothing to divide, or to divide by. */
function quotient(dividend: number | undefined, divisor: number | undefined): number | undefined {
  return dividend === undefined || !divisor ? undefined : dividend / divisor;
}
