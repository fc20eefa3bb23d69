import type { Random } from '../helpers/random.ts';
import type { Client } from './client.ts';
import { type Fixture, pluginNames } from './fixture.ts';
import type { Node } from './nodes.ts';
import { createRegister, type Register } from './register.ts';
import type { Report } from './report.ts';

/** What the readers and writers of a chaos test share: the expected state, and the means to change and check it. */
export interface Workload {
  readonly fixture: Fixture;
  readonly nodes: readonly Node[];
  readonly client: Client;
  readonly report: Report;
  readonly random: Random;
  /** The expected content address of each binding, by guest key and plugin name; `null` without a binding. */
  readonly bindings: ReadonlyMap<string, ReadonlyMap<string, Register<string | null>>>;
  /** The content addresses of the acknowledged versions in the order of their numbers, by plugin path. */
  readonly versions: Map<string, string[]>;
  readonly readers: Set<Reader>;
  /** Tokens whose revocation was acknowledged. */
  readonly revokedTokens: string[];
  createRegister<V>(initial: V): Register<V>;
  /** Whether to start no further operations. */
  isOver(): boolean;
}

/** A client that reads lists and contents, and the expected state of its token and its user's membership. */
export interface Reader {
  readonly token: string;
  readonly isRevoked: Register<boolean>;
  readonly isMember: Register<boolean>;
}

type WorkloadParts = Pick<Workload, 'fixture' | 'nodes' | 'client' | 'report' | 'random' | 'isOver'>;

export function createWorkload(parts: WorkloadParts, now: () => number, staleMs: number): Workload {
  const register = <V>(initial: V): Register<V> => createRegister(initial, now, staleMs);
  const bindings = parts.fixture.publishers.map(({ guestKey }) => {
    const registers = pluginNames.map((name) => [name, register<string | null>(null)] as const);
    return [guestKey, new Map(registers)] as const;
  });
  return {
    ...parts,
    bindings: new Map(bindings),
    versions: new Map(),
    readers: new Set(),
    revokedTokens: [],
    createRegister: register,
  };
}

export function listPath({ fixture }: Pick<Workload, 'fixture'>, guestKey: string): string {
  return `/api/v1/extension-points/${fixture.extensionPointId}/bindings/${guestKey}`;
}
