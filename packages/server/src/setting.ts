import type { Reader } from './config-readers.ts';

/** One setting: which variable sets it, how its text is read, what it is without one. */
export interface Setting<T> {
  readonly variable: string;
  readonly read: Reader<T>;
  readonly default: T;
  readonly description: string;
}

export function setting<T>(variable: string, read: Reader<T>, fallback: NoInfer<T>, description: string): Setting<T> {
  return { variable, read, default: fallback, description };
}
