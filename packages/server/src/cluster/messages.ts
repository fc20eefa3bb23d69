import type { RateName } from '../allowances.ts';
import type { Config } from '../config.ts';
import type { FirstStart } from '../first-start.ts';
import type { Slot } from '../http/slots.ts';
import type { Readings } from '../metrics/readings.ts';
import type { ErrorWords } from './error-words.ts';

/** What a worker serves, as it tells its primary. */
export interface WorkerServer {
  readonly url: string;
  readonly port: number;
  readonly start: FirstStart;
}

/** What the primary tells a worker. All that they tell each other is JSON: what is `undefined` is not there. */
export type ToWorker =
  | {
      readonly kind: 'serve';
      /** From 1. The first one keeps the house. */
      readonly number: number;
      readonly config: Config;
      /** What the first start found or made; left out for the worker that is to look. */
      readonly start?: FirstStart | undefined;
    }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: CountAnswer }
  | { readonly kind: 'tell'; readonly id: number }
  | { readonly kind: 'stop' };

/** What a worker tells the primary. */
export type ToPrimary =
  | { readonly kind: 'here' }
  | { readonly kind: 'listening'; readonly server: WorkerServer }
  | { readonly kind: 'failed'; readonly error: ErrorWords }
  | { readonly kind: 'told'; readonly id: number; readonly readings: Readings }
  | CountMessage;

/** What a worker asks the primary to count; the messages with an `id` are answered. */
export type CountMessage =
  | {
      readonly kind: 'rate';
      readonly id: number;
      readonly rate: RateName;
      readonly key: string;
    }
  | { readonly kind: 'give'; readonly rate: RateName; readonly key: string }
  | { readonly kind: 'slot'; readonly id: number; readonly key: string }
  /** Gives back the place that was asked for with this id. */
  | { readonly kind: 'free'; readonly id: number };

/** Seconds to wait; or how it is with a place. */
export type CountAnswer = number | Exclude<Slot, () => void> | 'taken';
