import type { AuditAction } from '@tenon/protocol';
import type { CacheTag } from '../cache/cache-tag.ts';
import type { Db } from './db.ts';
import { ListChanges } from './list-changes.ts';

/** What a mutation means for the audit trail, for caches, for hosts, and for a full disk. */
export interface MutationRules<A extends readonly unknown[]> {
  /** Whether a transaction that calls it fails unless it also writes an audit event. */
  readonly audit: boolean | ((...args: A) => boolean);
  /** The cache tags that it invalidates. Called before the mutation; the second form reads what they depend on. */
  readonly invalidates: (...args: A) => readonly CacheTag[] | ((db: Db) => Promise<readonly CacheTag[]>);
  /** Collects the binding lists that it changes. Called before the mutation. */
  readonly changes?: (changed: ListChanges, db: Db, ...args: A) => Promise<void> | void;
  /**
   * Whether it may use the room that is reserved for a full disk: it frees room, takes rights or plugins away, or signs a user in
   * who is to do that.
   */
  readonly freesSpace?: boolean | ((...args: A) => boolean);
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

/** Of mutations that no cache depends on. Caches hold that something is missing only for binding lists. */
export const nothing = (): readonly CacheTag[] => [];

/** Thrown when a transaction makes a change without an audit event, which is a bug of the use case. Nothing of it is stored. */
export class UnrecordedChangeError extends Error {
  override readonly name = 'UnrecordedChangeError';
  readonly changes: readonly string[];

  constructor(changes: readonly string[]) {
    super(`A change was made without a row in the audit trail: ${changes.join(', ')}`);
    this.changes = changes;
  }
}

/** What the mutations of a transaction have done so far, by their declarations. */
export class Effects {
  /** The cache tags that it invalidates. */
  readonly invalidated = new Set<CacheTag>();
  /** The binding lists that it changes. */
  readonly lists = new ListChanges();
  /** The audit events that it wrote. */
  readonly recorded: AuditAction[] = [];
  /** Whether it may use the room that is reserved for a full disk. */
  freesSpace = false;
  readonly #audited: string[] = [];

  /** Call before the mutation runs. */
  async add<A extends readonly unknown[]>(name: string, rules: MutationRules<A>, db: Db, args: A): Promise<void> {
    const { audit, invalidates, changes, freesSpace = false, records } = rules;
    if (isTrue(freesSpace, args)) this.freesSpace = true;
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
