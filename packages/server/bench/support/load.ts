import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createLatencies, type Latencies } from './latencies.ts';
import type { LoadOrder, LoadReport } from './load-order.ts';

export interface Loaded {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly latencies: Latencies;
  /** What share of its time the busiest process of the load generator worked: near 1 the rate is its own limit. */
  readonly generatorBusy: number;
}

export interface LoadGenerator {
  /** @throws Error when an answer isn't what its kind says, or none comes */
  load(order: Omit<LoadOrder, 'firstConnection'>): Promise<Loaded>;
  close(): void;
}

/** Starts the processes that make load. */
export function startLoadGenerator(processes: number): LoadGenerator {
  const script = new URL('./load-process.ts', import.meta.url);
  const children = Array.from({ length: processes }, () => fork(script, { serialization: 'advanced' }));
  return {
    async load(order) {
      const taking = children.slice(0, order.connections);
      const share = Math.ceil(order.connections / taking.length);
      // Each is heard out, so that none of them still has something to say when the next order is given.
      const heard = await Promise.allSettled(
        taking.map((child, at) => {
          const connections = Math.min(share, order.connections - at * share);
          return report(child, { ...order, connections, firstConnection: at * share });
        }),
      );
      const reports = heard.map((one) => {
        if (one.status === 'rejected') throw one.reason;
        return one.value;
      });
      const latencies = createLatencies();
      for (const { counts } of reports) latencies.add(counts);
      return {
        requests: latencies.total,
        requestsPerSecond: reports.reduce((sum, { requests, elapsedMs }) => sum + requests / (elapsedMs / 1000), 0),
        latencies,
        generatorBusy: Math.max(...reports.map(({ cpuUs, elapsedMs }) => cpuUs / 1000 / elapsedMs)),
      };
    },
    close() {
      for (const child of children) child.disconnect();
    },
  };
}

async function report(child: ChildProcess, order: LoadOrder): Promise<LoadReport> {
  if (order.connections < 1) return { counts: {}, elapsedMs: 1, cpuUs: 0, requests: 0 };
  child.send(order);
  const [answer] = (await once(child, 'message')) as [LoadReport];
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}
