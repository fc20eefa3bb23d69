/** How a call ends: with a number, or with what stopped it. */
export type Ending = number | 'trap' | 'exception' | 'out of fuel' | 'too long';

/** Ends a call without a result. */
export class Stop extends Error {
  readonly ending: Exclude<Ending, number>;
  constructor(ending: Exclude<Ending, number>) {
    super(ending);
    this.ending = ending;
  }
}
