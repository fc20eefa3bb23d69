import { type Content, exportsOf, type GuestKey, type Name, names, type Operation, type Person } from './operations.ts';

/*
 * The model: nothing but the list of what was done, and questions to it. Where the service keeps states and moves them, each
 * answer here is found again by reading that list, so that the two have no idea in common by which both could be wrong.
 */

/** What was done. A publish includes its result. */
export type Event =
  | Exclude<Operation, { kind: 'publish' | 'decide' }>
  | (Extract<Operation, { kind: 'decide' }> & {
      /** It followed from what the team decided about the same bytes. */
      readonly isCopy?: true;
    })
  /** A version has the minimum age. */
  | { kind: 'mature'; of: Person; name: Name; number: number; awaits: boolean }
  | (Extract<Operation, { kind: 'publish' }> & {
      /** The version that has the bytes, made now or before. */
      readonly number: number;
      readonly isNew: boolean;
      readonly awaits: boolean;
      /** Whether it has to reach a minimum age. */
      readonly cools: boolean;
      readonly under: readonly GuestKey[];
    });

type Publish = Extract<Event, { kind: 'publish' }>;
type Decision = Extract<Event, { kind: 'decide' }>;
export type Side = 'publisher' | 'host';

/** What was done up to some time. */
export class History {
  readonly events: readonly Event[];

  constructor(events: readonly Event[]) {
    this.events = events;
  }

  before(index: number): History {
    return new History(this.events.slice(0, index));
  }

  holds(person: Person): GuestKey[] {
    const held = new Set<GuestKey>();
    for (const event of this.events) {
      if (event.kind === 'join' && event.user === person) held.add(event.guest);
      if (event.kind === 'removeUser' && event.user === person) held.delete(event.guest);
      if (event.kind === 'removeGuest') held.delete(event.guest);
    }
    return [...held];
  }

  isGuest(guest: GuestKey): boolean {
    const last = this.events.findLast(
      ({ kind, ...event }) => 'guest' in event && event.guest === guest && ['join', 'removeGuest'].includes(kind),
    );
    return last?.kind === 'join';
  }

  requiresApproval(): boolean {
    const last = this.events.findLast((event) => event.kind === 'settings');
    return last?.kind === 'settings' && last.requiresApproval;
  }

  requiresAge(): boolean {
    const last = this.events.findLast((event) => event.kind === 'settings');
    return last?.kind === 'settings' && last.minVersionAgeSeconds > 0;
  }

  isPublisherBlocked(of: Person): boolean {
    const last = this.events.findLast(
      (event) => (event.kind === 'blockPublisher' || event.kind === 'unblockPublisher') && event.of === of,
    );
    return last?.kind === 'blockPublisher';
  }

  /** Whether a module has the export that the schema asks for by now. */
  fits(content: Content): boolean {
    const last = this.events.findLast((event) => event.kind === 'schema');
    return last?.kind !== 'schema' || exportsOf[content].some((exported) => exported === last.exported);
  }

  plugin(of: Person, name: Name): PluginHistory {
    const isDeletion = (event: Event) => event.kind === 'delete' && event.of === of && event.name === name;
    return new PluginHistory(this, of, name, this.events.findLastIndex(isDeletion) + 1);
  }

  /** Whose name it is under a guest, and since which event; `undefined` when it is free. */
  claim(guest: GuestKey, name: Name): { readonly user: Person; readonly since: number } | undefined {
    let claim: { user: Person; since: number } | undefined;
    for (const [index, event] of this.events.entries()) {
      if (event.kind === 'publish' && event.name === name && event.under.includes(guest)) {
        claim ??= { user: event.by, since: index };
      }
      const isGone =
        (event.kind === 'removeGuest' && event.guest === guest) ||
        (event.kind === 'removeUser' && event.guest === guest && event.user === claim?.user) ||
        (event.kind === 'delete' && event.name === name && event.of === claim?.user);
      if (isGone) claim = undefined;
    }
    return claim;
  }

  /** For whom the name of a deleted plugin is reserved under a guest; sequences are shorter than a reservation. */
  reservedFor(guest: GuestKey, name: Name): Person | undefined {
    let reserved: Person | undefined;
    for (const [index, event] of this.events.entries()) {
      if (event.kind === 'delete' && event.name === name) {
        if (this.before(index).claim(guest, name)?.user === event.of) reserved = event.of;
      }
      const isGone =
        (event.kind === 'removeGuest' && event.guest === guest) ||
        (event.kind === 'removeUser' && event.guest === guest && event.user === reserved);
      if (isGone) reserved = undefined;
    }
    return reserved;
  }

  /** How the team has withdrawn some bytes from a publisher: by what is there, and by what was deleted. */
  withdrawn(of: Person, content: Content): { blockedAs: Name[]; isYanked: boolean; isRejected: boolean } {
    const live = names.map((name) => this.plugin(of, name));
    const isPublished = live.some((plugin) => plugin.offers(content));
    const blockedAs = live.flatMap((plugin) => (plugin.isBlocked() && plugin.has(content) ? [plugin.name] : []));
    let [isYanked, isRejected] = [false, false];
    if (!isPublished) {
      isYanked = live.some((plugin) => plugin.withContent(content, 'yanked', 'host').length > 0);
      isRejected = live.some((plugin) => plugin.withContent(content, 'rejected', 'host').length > 0);
    }
    const left = this.#leftWithdrawn(of, content);
    if (left?.state === 'blocked') blockedAs.push(left.name);
    return {
      blockedAs,
      isYanked: isYanked || left?.state === 'yanked',
      isRejected: isRejected || left?.state === 'rejected',
    };
  }

  /** What deleted plugins left: the strongest decision, until the team publishes the bytes again. */
  #leftWithdrawn(of: Person, content: Content): { state: 'blocked' | 'yanked' | 'rejected'; name: Name } | undefined {
    const strength = { blocked: 3, yanked: 2, rejected: 1 };
    let left: { state: 'blocked' | 'yanked' | 'rejected'; name: Name } | undefined;
    for (const [index, event] of this.events.entries()) {
      if (!('of' in event) || !('name' in event) || event.of !== of) continue;
      const plugin = this.before(index).plugin(of, event.name);
      if (event.kind === 'decide' && plugin.version(event.number)?.content === content) {
        if (['approve', 'release'].includes(event.action) || (event.action === 'restore' && event.by === 'olga')) {
          left = undefined;
        }
      }
      if (event.kind !== 'delete' || !plugin.has(content)) continue;
      const isPublished = plugin.offers(content);
      const state = plugin.isBlocked()
        ? 'blocked'
        : isPublished
          ? undefined
          : (['yanked', 'rejected'] as const).find((one) => plugin.withContent(content, one, 'host').length > 0);
      if (state !== undefined && (left === undefined || strength[state] > strength[left.state])) {
        left = { state, name: event.name };
      } else if (state !== undefined && state === left?.state && state !== 'rejected') {
        left = { state, name: event.name };
      }
    }
    return left;
  }

  slot(guest: GuestKey, name: Name): SlotHistory | undefined {
    const claim = this.claim(guest, name);
    return claim && new SlotHistory(this, guest, this.plugin(claim.user, name), claim.since);
  }
}

/** One plugin, from its first publish after it was last deleted. */
export class PluginHistory {
  readonly #history: History;
  readonly #events: readonly Event[];
  readonly of: Person;
  readonly name: Name;

  constructor(history: History, of: Person, name: Name, from: number) {
    this.#history = history;
    this.#events = history.events.slice(from);
    this.of = of;
    this.name = name;
  }

  versions(): Publish[] {
    return this.#events.filter(
      (event): event is Publish =>
        event.kind === 'publish' && event.by === this.of && event.name === this.name && event.isNew,
    );
  }

  newest(): Publish | undefined {
    return this.versions().at(-1);
  }

  version(number: number): Publish | undefined {
    return this.versions().find((version) => version.number === number);
  }

  state(number: number): 'awaiting_approval' | 'cooling_down' | 'published' | 'rejected' | 'yanked' {
    const version = this.version(number);
    if (version === undefined) return 'published';
    const early = version.cools ? 'cooling_down' : 'published';
    let [state, isEarly]: [ReturnType<PluginHistory['state']>, boolean] = [early, version.cools];
    if (version.awaits) state = 'awaiting_approval';
    for (const event of this.#events.slice(this.#events.indexOf(version) + 1)) {
      if (event.kind === 'wait') isEarly = false;
      if (event.kind === 'mature' && this.#isAbout(event, number))
        state = event.awaits ? 'awaiting_approval' : 'published';
      if (event.kind !== 'decide' || !this.#isAbout(event, number)) continue;
      if (event.action === 'reject') state = 'rejected';
      else if (event.action === 'yank') state = 'yanked';
      else state = isEarly && event.action !== 'release' ? 'cooling_down' : 'published';
    }
    return state;
  }

  #isAbout(event: { readonly of: Person; readonly name: Name; readonly number: number }, number: number): boolean {
    return event.of === this.of && event.name === this.name && event.number === number;
  }

  /** Whether the team, and not the publisher, has allowed a version. */
  isAllowedByHost(number: number): boolean {
    const decisions = this.#events.filter(
      (event): event is Decision => event.kind === 'decide' && this.#isAbout(event, number),
    );
    const last = decisions.at(-1);
    if (last === undefined || last.action === 'yank' || last.action === 'reject') return false;
    if (last.action !== 'restore' || last.by !== this.of || this.heldAt(last).length === 0) return true;
    const before = decisions.at(-2); // what the host has yanked, a publisher on the team restores as the host
    return (
      before !== undefined && (before.isCopy === true || before.by !== this.of || this.heldAt(before).length === 0)
    );
  }

  /** What was last decided about a version. */
  decision(number: number): Decision | undefined {
    return this.#events.findLast(
      (event): event is Decision =>
        event.kind === 'decide' && event.of === this.of && event.name === this.name && event.number === number,
    );
  }

  /** Whether hosts have some bytes, or get them once they have the minimum age. */
  offers(content: Content): boolean {
    return this.withContent(content, 'published').length + this.withContent(content, 'cooling_down').length > 0;
  }

  has(content: Content): boolean {
    return this.versions().some((version) => version.content === content);
  }

  /** The numbers of the versions that have some bytes and are in a state, to which a side brought them. */
  withContent(content: Content, state: ReturnType<PluginHistory['state']>, side?: Side): number[] {
    return this.versions()
      .filter((version) => version.content === content && this.state(version.number) === state)
      .filter(({ number }) => side === undefined || this.sideOf(number) === side)
      .map(({ number }) => number);
  }

  /** A publisher who is an owner too yanks what is their own as its publisher, as long as they hold a guest. */
  sideOf(number: number): Side {
    const decision = this.decision(number);
    if (decision === undefined || decision.isCopy || decision.action === 'reject') return 'host';
    return decision.by === this.of && this.heldAt(decision).length > 0 ? 'publisher' : 'host';
  }

  /** The guests that the publisher held when something was decided. */
  heldAt(decision: Decision): GuestKey[] {
    return this.#history.before(this.#history.events.indexOf(decision)).holds(this.of);
  }

  isBlocked(): boolean {
    const last = this.#events.findLast(
      (event) =>
        (event.kind === 'block' || event.kind === 'unblock') && event.of === this.of && event.name === this.name,
    );
    return last?.kind === 'block';
  }
}

/** One plugin's name under one guest, from when it was claimed. */
export class SlotHistory {
  readonly plugin: PluginHistory;
  readonly #history: History;
  readonly #guest: GuestKey;
  readonly #since: number;

  constructor(history: History, guest: GuestKey, plugin: PluginHistory, since: number) {
    this.#history = history;
    this.#guest = guest;
    this.plugin = plugin;
    this.#since = since;
  }

  /** The numbers of the versions that were published under the guest. */
  under(): number[] {
    const { of, name } = this.plugin;
    return this.#own().flatMap(([, event]) =>
      event.kind === 'publish' && event.by === of && event.name === name && event.under.includes(this.#guest)
        ? [event.number]
        : [],
    );
  }

  newestPublished(): number | undefined {
    const good = this.under().filter((number) => this.plugin.state(number) === 'published');
    return good.length === 0 ? undefined : Math.max(...good);
  }

  pinned(): number | undefined {
    const last = this.#own().findLast(
      ([, event]) =>
        (event.kind === 'pin' || event.kind === 'unpin') &&
        event.guest === this.#guest &&
        event.name === this.plugin.name,
    )?.[1];
    return last?.kind === 'pin' ? last.number : undefined;
  }

  /** The version that the last roll back led to, unless something has ended it since. */
  rolledBackTo(): number | undefined {
    const own = this.#own();
    const back = own.findLast(
      ([index, event]) =>
        event.kind === 'rollBack' &&
        this.#isOwn(event.of, event.name) &&
        this.#before(index).under().includes(event.number),
    );
    if (back === undefined) return undefined;
    const [at, event] = back;
    if (event.kind !== 'rollBack' || this.#before(at).newestPublished() === event.number) return undefined;
    return own.some(([index, later]) => index > at && this.#ends(at, index, later, event.number))
      ? undefined
      : event.number;
  }

  /** The version that a host is to see. */
  visible(): number | undefined {
    if (this.plugin.isBlocked() || this.#history.isPublisherBlocked(this.plugin.of)) return undefined;
    const pinned = this.pinned();
    if (pinned !== undefined) return this.plugin.state(pinned) === 'published' ? pinned : undefined;
    return this.rolledBackTo() ?? this.newestPublished();
  }

  #ends(at: number, index: number, event: Event, number: number): boolean {
    if (event.kind === 'publish') {
      const isOffered = event.isNew && !event.awaits && !event.cools;
      return this.#isOwn(event.by, event.name) && isOffered && event.under.includes(this.#guest);
    }
    if (event.kind !== 'decide' && event.kind !== 'mature') return false;
    if (!this.#isOwn(event.of, event.name)) return false;
    if (event.kind === 'decide' && event.action === 'yank') return event.number === number;
    const isNewer = event.number > number && this.#before(index).under().includes(event.number);
    if (event.kind === 'mature') {
      const published = this.plugin.version(event.number);
      const isLater = published !== undefined && this.#history.events.indexOf(published) > at;
      return isNewer && !event.awaits && isLater;
    }
    if (event.action === 'release') return isNewer;
    return event.action === 'approve' && isNewer && this.#before(index + 1).plugin.state(event.number) === 'published';
  }

  #isOwn(of: Person, name: Name): boolean {
    return of === this.plugin.of && name === this.plugin.name;
  }

  /** The events since the claim, with their places in the whole. */
  #own(): [number, Event][] {
    return [...this.#history.events.entries()].slice(this.#since);
  }

  /** The same name under the same guest, as it was before an event. */
  #before(index: number): SlotHistory {
    const history = this.#history.before(index);
    const { of, name } = this.plugin;
    return new SlotHistory(history, this.#guest, history.plugin(of, name), this.#since);
  }
}
