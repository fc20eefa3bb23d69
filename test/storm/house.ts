import type { Config } from '@tenon/server';
import type { Disaster } from './disasters.ts';

/** Where nodes keep their data, and what may happen to that. */
export interface House {
  /** How many nodes there are. */
  readonly nodes: number;
  /** Of the node that makes what is there before the storm. */
  readonly config: Partial<Config>;
  /** Of those that go through it. */
  readonly environment: Readonly<Record<string, string>>;
  /** What may happen, beside what happens to all nodes. */
  readonly disasters: readonly Disaster[];
  close(): Promise<void>;
}
