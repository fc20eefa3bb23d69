import type { RequestKind } from './requests.ts';

/** Load for so long, on so many connections, each of which asks again as soon as it was answered. */
export interface LoadOrder {
  /** Ports of this machine; the connections are spread over them, as a balancer would. */
  readonly ports: readonly number[];
  readonly connections: number;
  /** The number of the first connection. */
  readonly firstConnection: number;
  readonly seconds: number;
  readonly kinds: readonly RequestKind[];
}

/** What one process of the load generator has to tell. */
export interface LoadReport {
  readonly counts: Readonly<Record<number, number>>;
  readonly elapsedMs: number;
  /** Time of the process itself. */
  readonly cpuUs: number;
  /** How many were answered. */
  readonly requests: number;
  readonly error?: string;
}
