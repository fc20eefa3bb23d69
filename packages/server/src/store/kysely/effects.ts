import type { AuditAction } from '@tenon/protocol';
import type { CacheTag } from '../../cache/cache-tag.ts';
import type { Db } from './db.ts';
import { ListChanges } from './list-changes.ts';
import type { MutationRules } from './mutation.ts';

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
