import type { Config } from '@tenon/server';
import type { Disruption } from './disruptions.ts';

/** The stores of the nodes, and the disruptions that these stores can suffer. */
export interface Environment {
  readonly nodeCount: number;
  /** Configuration of the server that creates the fixture. */
  readonly config: Partial<Config>;
  /** Environment variables of the nodes under test. */
  readonly settings: Readonly<Record<string, string>>;
  /** Disruptions of the stores; the disruptions of nodes are the same in every environment. */
  readonly disruptions: readonly Disruption[];
  close(): Promise<void>;
}
