import type { Subject } from './subject.ts';

/** A place in the order of what was told of commits: it grows by one with each. */
export type Moment = number;

/** How many subjects are noted before older notes are given up. */
const defaultSize = 100_000;

/** Tells of what commits have touched, as far back as it is noted. */
export interface TouchLog {
  /** The moment of the last commit that was told of. */
  readonly moment: Moment;
  /** Notes a commit, and what it has touched; `undefined` when that may be anything. */
  note(touched: readonly Subject[] | undefined): void;
  /** Whether none of the subjects was touched after a moment. `false` for moments that the notes don't reach back to. */
  isUntouched(subjects: readonly Subject[], since: Moment): boolean;
}

/**
 * Notes are kept in two halves. When the younger one is full, the older one is given up: what depends on nothing that was touched,
 * and was looked at since, is as good as before.
 *
 * @param size how many subjects a half notes
 */
export function createTouchLog(size: number = defaultSize): TouchLog {
  let moment: Moment = 0;
  let young = new Map<Subject, Moment>();
  let old = new Map<Subject, Moment>();
  let youngSince: Moment = 0;
  let oldSince: Moment = 0;
  return {
    get moment() {
      return moment;
    },
    note(touched) {
      moment++;
      if (touched === undefined || touched.length > size) {
        young.clear();
        old.clear();
        youngSince = moment;
        oldSince = moment;
        return;
      }
      if (young.size + touched.length > size) {
        old = young;
        oldSince = youngSince;
        young = new Map();
        youngSince = moment - 1; // this commit's are in the younger half
      }
      for (const subject of touched) young.set(subject, moment);
    },
    isUntouched(subjects, since) {
      if (since < oldSince) return false;
      if (since === moment) return true;
      return subjects.every((subject) => (young.get(subject) ?? old.get(subject) ?? 0) <= since);
    },
  };
}
