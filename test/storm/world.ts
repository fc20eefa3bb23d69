import type { Balancer } from './balancer.ts';
import type { Node } from './nodes.ts';
import type { Notes } from './notes.ts';
import type { Chance } from './random.ts';
import { createRegister, type Register } from './register.ts';
import { pluginNames, type Stage } from './stage.ts';

/** What all who act in a storm share. */
export interface World {
  readonly stage: Stage;
  readonly nodes: readonly Node[];
  readonly balancer: Balancer;
  readonly notes: Notes;
  readonly chance: Chance;
  /** What is to be bound, by guest key and plugin name: a content address, or nothing. */
  readonly bound: ReadonlyMap<string, ReadonlyMap<string, Register<string | null>>>;
  /** What versions are to be there, by plugin path: addresses in the order of their numbers. */
  readonly versions: Map<string, string[]>;
  /** Who asks. */
  readonly hosts: Set<Host>;
  /** Tokens whose revocation was acknowledged. */
  readonly revoked: string[];
  register<V>(initial: V): Register<V>;
  /** Whether no more is to be begun. */
  isOver(): boolean;
}

/** Who asks for lists and contents, and what they are to be told. */
export interface Host {
  readonly token: string;
  readonly isRevoked: Register<boolean>;
  readonly isMember: Register<boolean>;
}

type Given = Pick<World, 'stage' | 'nodes' | 'balancer' | 'notes' | 'chance' | 'isOver'>;

export function createWorld(given: Given, now: () => number, staleMs: number): World {
  const register = <V>(initial: V): Register<V> => createRegister(initial, now, staleMs);
  const bound = given.stage.publishers.map(({ guestKey }) => {
    const names = pluginNames.map((name) => [name, register<string | null>(null)] as const);
    return [guestKey, new Map(names)] as const;
  });
  return { ...given, bound: new Map(bound), versions: new Map(), hosts: new Set(), revoked: [], register };
}

export function listPath({ stage }: Pick<World, 'stage'>, guestKey: string): string {
  return `/api/v1/extension-points/${stage.extensionPointId}/bindings/${guestKey}`;
}
