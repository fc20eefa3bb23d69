import type { Io } from '../io.ts';
import type { ClientCommand } from './client-process.ts';

/** What a client may lack. */
export const features = ['cache', 'streaming'] as const;

export type Feature = (typeof features)[number];

export interface ClientSetting {
  readonly io: Pick<Io, 'nowMs' | 'sleep' | 'randomBytes'>;
  readonly command: ClientCommand;
  /** How long a case waits for a state. */
  readonly timeoutMs: number;
  /** What the client lacks. */
  readonly without: ReadonlySet<Feature>;
  /** How many cases run at once. */
  readonly concurrency: number;
}
