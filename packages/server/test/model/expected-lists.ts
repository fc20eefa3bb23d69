import type { History } from './history.ts';
import { type Content, type GuestKey, guestKeys, type Name, names, type Person } from './operations.ts';

/** What a binding list is to hold by one name. */
export interface ExpectedBinding {
  readonly of: Person;
  readonly name: Name;
  readonly content: Content;
  readonly updatedAtMs: number;
}

/** Follows what hosts see, and when it last changed: that is no matter of what was done alone, but of the clock too. */
export class ExpectedLists {
  readonly #seen = new Map<string, { since: number; shown: number | undefined; atMs: number }>();

  /** @param nowMs when what was done last was done */
  follow(history: History, nowMs: number): void {
    for (const guest of guestKeys) {
      for (const name of names) {
        const key = `${guest} ${name}`;
        const since = history.claim(guest, name)?.since;
        if (since === undefined) {
          this.#seen.delete(key);
          continue;
        }
        const known = this.#seen.get(key);
        const seen = known?.since === since ? known : { since, shown: undefined, atMs: 0 };
        const shown = history.slot(guest, name)?.visible();
        if (shown !== seen.shown) this.#seen.set(key, { since, shown, atMs: Math.max(nowMs, seen.atMs + 1) });
        else this.#seen.set(key, seen);
      }
    }
  }

  /** The list of a guest key, by name. */
  list(history: History, guest: GuestKey): ExpectedBinding[] {
    return [...names].sort().flatMap((name) => {
      const slot = history.slot(guest, name);
      const shown = slot?.visible();
      if (slot === undefined || shown === undefined) return [];
      const version = slot.plugin.version(shown);
      if (version === undefined) throw new Error(`The model shows version ${shown}, which it does not know`);
      const updatedAtMs = this.#seen.get(`${guest} ${name}`)?.atMs ?? Number.NaN;
      return [{ of: slot.plugin.of, name, content: version.content, updatedAtMs }];
    });
  }
}
