import type { AuditAction } from '@tenon/protocol';
import type { CacheTag } from '../cache/cache-tag.ts';
import type { Db } from './db.ts';
import { ListChanges } from './list-changes.ts';

/** The effects of a mutation on the audit trail, caches, the change feed, and the disk reserve. */
export interface MutationRules<A extends readonly unknown[]> {
  /** Whether a transaction that calls it fails unless it also writes an audit event. */
  readonly audit: boolean | ((...args: A) => boolean);
  /** Returns the cache tags that it invalidates, or a query for them. Called before the mutation. */
  readonly invalidates: (...args: A) => readonly CacheTag[] | ((db: Db) => Promise<readonly CacheTag[]>);
  /** Collects the binding lists that it changes. Called before the mutation. */
  readonly changes?: (changed: ListChanges, db: Db, ...args: A) => Promise<void> | void;
  /** Whether it may use the disk reserve: it frees space, revokes rights or plugins, or signs in a user to do so. */
  readonly usesDiskReserve?: boolean | ((...args: A) => boolean);
  /** The audit events that it writes. */
  readonly records?: (...args: A) => readonly AuditAction[];
}

type Run = (db: Db, ...args: never[]) => Promise<unknown>;
type Build = (db: Db, ...args: never[]) => { execute(): Promise<unknown> };
type ArgumentsOf<F> = F extends (db: Db, ...args: infer A) => unknown ? A : never;

/** Declares a mutation, with the rules that {@link Effects} applies when a transaction calls it. */
export function mutation<F extends Run>(rules: MutationRules<ArgumentsOf<F>>, run: F) {
  return { ...rules, run };
}

/** Declares a mutation of one statement. */
export function statement<F extends Build>(rules: MutationRules<ArgumentsOf<F>>, build: F) {
  const run = async (db: Db, ...args: ArgumentsOf<F>): Promise<void> => {
    await build(db, ...(args as never[])).execute();
  };
  return { ...rules, run };
}

/** For mutations that no cache depends on. Inserts are among them: only binding lists are cached as missing or empty. */
export const nothing = (): readonly CacheTag[] => [];

/** Rolls back a transaction that makes a change without an audit event, which is a bug of the use case. */
export class UnrecordedChangeError extends Error {
  override readonly name = 'UnrecordedChangeError';
  readonly changes: readonly string[];

  constructor(changes: readonly string[]) {
    super(`A transaction made changes without an audit event: ${changes.join(', ')}`);
    this.changes = changes;
  }
}

/** Collects the effects of a transaction's mutations. */
export class Effects {
  /** The cache tags that it invalidates. */
  readonly invalidated = new Set<CacheTag>();
  /** The binding lists that it changes. */
  readonly lists = new ListChanges();
  /** The audit events that it wrote. */
  readonly recorded: AuditAction[] = [];
  /** Whether it may use the disk reserve. */
  usesDiskReserve = false;
  readonly #audited: string[] = [];

  /** Call before the mutation runs. */
  async add<A extends readonly unknown[]>(name: string, rules: MutationRules<A>, db: Db, args: A): Promise<void> {
    const { audit, invalidates, changes, usesDiskReserve = false, records } = rules;
    if (isTrue(usesDiskReserve, args)) this.usesDiskReserve = true;
    if (isTrue(audit, args)) this.#audited.push(name);
    if (records !== undefined) this.recorded.push(...records(...args));
    const tags = invalidates(...args);
    for (const tag of typeof tags === 'function' ? await tags(db) : tags) this.invalidated.add(tag);
    await changes?.(this.lists, db, ...args);
  }

  /** @throws UnrecordedChangeError */
  requireAuditEvent(): void {
    if (this.#audited.length > 0 && this.recorded.length === 0) throw new UnrecordedChangeError(this.#audited);
  }
}

function isTrue<A extends readonly unknown[]>(rule: boolean | ((...args: A) => boolean), args: A): boolean {
  return typeof rule === 'function' ? rule(...args) : rule;
}
