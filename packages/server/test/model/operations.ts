import type { Random } from '../../../../test/helpers/random.ts';
import type { VersionAction } from '../../src/plugins/version-states.ts';

/*
 * What people do in one sequence: two guests of one application; Ann holds both, Bob holds one of them beside her, and Olga, who owns
 * the application, holds the other beside her. Two names, of which one looks like a number and one is an object's own.
 */
export const guestKeys = ['tenants/a', 'b'] as const;
export const people = ['ann', 'bob', 'olga'] as const;
export const names = ['10', 'constructor'] as const;
export const contents = [0, 1, 2] as const;

/** The functions that each module exports, of which a schema asks for one. */
export const exportsOf = [['evaluate'], ['describe'], ['evaluate', 'describe']] as const;

export type GuestKey = (typeof guestKeys)[number];
export type Person = (typeof people)[number];
export type Name = (typeof names)[number];
export type Content = (typeof contents)[number];

/** Who holds what when a sequence begins. */
export const firstHolders: readonly (readonly [GuestKey, Person])[] = [
  ['tenants/a', 'ann'],
  ['tenants/a', 'bob'],
  ['b', 'ann'],
  ['b', 'olga'],
];

export type Operation =
  | { kind: 'publish'; by: Person; name: Name; guest: GuestKey | null; content: Content }
  | { kind: 'decide'; by: Person; of: Person; name: Name; number: number; action: VersionAction }
  | { kind: 'rollBack'; by: Person; of: Person; name: Name; number: number }
  | { kind: 'pin'; by: Person; guest: GuestKey; name: Name; number: number }
  | { kind: 'unpin'; by: Person; guest: GuestKey; name: Name }
  | { kind: 'block'; by: Person; of: Person; name: Name }
  | { kind: 'unblock'; by: Person; of: Person; name: Name }
  | { kind: 'delete'; by: Person; of: Person; name: Name }
  | { kind: 'removeGuest'; guest: GuestKey }
  | { kind: 'removeUser'; guest: GuestKey; user: Person }
  | { kind: 'join'; guest: GuestKey; user: Person }
  | { kind: 'settings'; requiresApproval: boolean; minVersionAgeSeconds: number }
  | { kind: 'blockPublisher'; by: Person; of: Person }
  | { kind: 'unblockPublisher'; by: Person; of: Person }
  /** Time passes until all versions have their minimum age, and the service looks for them. */
  | { kind: 'wait' }
  | { kind: 'schema'; exported: 'evaluate' | 'describe' };

/** How often kinds of operations are drawn; those that are left out, never. */
type Weights = Readonly<Partial<Record<Operation['kind'], number>>>;

const everything: Weights = {
  publish: 26,
  decide: 36,
  rollBack: 16,
  pin: 10,
  unpin: 5,
  block: 5,
  unblock: 6,
  delete: 4,
  removeGuest: 1,
  removeUser: 1,
  join: 1,
  settings: 4,
  schema: 5,
  blockPublisher: 3,
  unblockPublisher: 4,
  wait: 3,
};
const approvals: Weights = { publish: 32, decide: 26, rollBack: 26, settings: 14, pin: 1, unpin: 1 };
const ages: Weights = { publish: 30, decide: 26, rollBack: 12, settings: 10, wait: 16, pin: 3, block: 2, unblock: 2 };
const comingsAndGoings: Weights = { publish: 30, decide: 25, rollBack: 10, removeUser: 9, removeGuest: 3, join: 12 };

/** What a sequence is mostly about: everybody's plugins, or one that much happens to. */
export interface Scene {
  readonly publishers: readonly Person[];
  readonly names: readonly Name[];
  readonly kinds: readonly Operation['kind'][];
  readonly maxLength: number;
}

const scenes: readonly Scene[] = [
  { publishers: ['ann', 'ann', 'bob', 'olga'], names, kinds: drawn(everything), maxLength: 7 },
  { publishers: ['ann', 'ann', 'ann', 'ann', 'bob'], names: ['10'], kinds: drawn(everything), maxLength: 10 },
  { publishers: ['ann'], names: ['constructor'], kinds: drawn(approvals), maxLength: 13 },
  { publishers: ['ann', 'ann', 'ann', 'olga'], names: ['10'], kinds: drawn(comingsAndGoings), maxLength: 9 },
  { publishers: ['ann', 'ann', 'ann', 'olga'], names: ['10'], kinds: drawn(ages), maxLength: 13 },
];

function drawn(weights: Weights): Operation['kind'][] {
  return Object.entries(weights).flatMap(([kind, weight]) =>
    Array.from({ length: weight }, () => kind as Operation['kind']),
  );
}

export function drawScene(random: Random): Scene {
  return random.pick(scenes);
}

/** The minimum age of new versions, if there is one. */
export const minVersionAgeSeconds = 3600;

/** How long a wait takes: longer than the minimum age, also if the clock is set back meanwhile. */
export const waitMs = 2 * minVersionAgeSeconds * 1000;

/** How far the clock goes on before an operation, in milliseconds. Clocks are set back, too. */
export function drawDelayMs(random: Random): number {
  return random.pick([0, 0, 1, 1, 7, 1000, -1, -500]);
}

/** A kind of operation for the step of that number: something has to be there before anything can happen to it. */
export function drawKind(random: Random, { kinds }: Scene, step: number): Operation['kind'] {
  return step === 0 ? random.pick(['publish', 'publish', 'publish', 'settings']) : random.pick(kinds);
}

/**
 * A random operation of a kind, whether it can succeed or not.
 *
 * @param newestOf the number of a plugin's newest version; 0 when there is no such plugin
 */
export function drawOperation(
  random: Random,
  scene: Scene,
  kind: Operation['kind'],
  newestOf: (of: Person, name: Name) => number,
): Operation {
  const of = random.pick(scene.publishers);
  const name = random.pick(scene.names);
  const number = 1 + random.below(Math.max(newestOf(of, name), random.pick([1, 1, 1, 1, 2, 3])));
  const publisherOrHost = random.pick([of, of, 'olga', 'olga', 'bob'] as const);
  const host = random.pick(['olga', 'olga', 'olga', 'olga', 'ann'] as const);
  const guest = random.pick(guestKeys);
  switch (kind) {
    case 'publish':
      return { kind, by: of, name, guest: random.pick([null, guest]), content: random.pick(contents) };
    case 'decide': {
      const action = random.pick(['approve', 'approve', 'reject', 'release', 'yank', 'yank', 'restore'] as const);
      return { kind, by: publisherOrHost, of, name, number, action };
    }
    case 'rollBack':
      return { kind, by: publisherOrHost, of, name, number };
    case 'pin':
      return { kind, by: host, guest, name, number };
    case 'unpin':
      return { kind, by: host, guest, name };
    case 'block':
    case 'unblock':
      return { kind, by: host, of, name };
    case 'delete':
      return { kind, by: random.pick([of, of, 'olga']), of, name };
    case 'removeGuest':
      return { kind, guest };
    case 'removeUser':
    case 'join':
      return { kind, guest, user: random.pick(scene.publishers) };
    case 'settings':
      return {
        kind,
        requiresApproval: random.below(3) > 0,
        minVersionAgeSeconds: random.pick([0, minVersionAgeSeconds]),
      };
    case 'blockPublisher':
    case 'unblockPublisher':
      return { kind, by: host, of };
    case 'wait':
      return { kind };
    case 'schema':
      return { kind, exported: random.pick(['evaluate', 'describe']) };
  }
}
