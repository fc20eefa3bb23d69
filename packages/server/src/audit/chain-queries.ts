import type { AuditEventId } from '@tenon/protocol';
import type { SelectQueryBuilder } from 'kysely';
import type {
  AuditLinkRecord,
  AuditPosition,
  AuditPositionKind,
  AuditPositionRecord,
  LinkedAuditEvent,
} from '../db/audit-chain-records.ts';
import type { AuditEventRecord } from '../db/audit-records.ts';
import { type Db, hasRow } from '../db/db.ts';
import { mutation, nothing } from '../db/mutation.ts';
import { columns, type Database } from '../db/records.ts';

const notAudited = { audit: false, invalidates: nothing } as const;

export const auditChainQueries = {
  auditPosition: (db: Db, kind: AuditPositionKind): Promise<AuditPosition | undefined> =>
    db.selectFrom('audit_positions').select(['seq', 'hash']).where('kind', '=', kind).executeTakeFirst(),

  isAnyAuditEventUnsealed: (db: Db): Promise<boolean> =>
    hasRow(db.selectFrom('audit_events').select('id').where('isSealed', 'is', null)),

  /** The links after a sequence number, with their events. One statement, so that it sees one snapshot. */
  async auditLinks(db: Db, afterSeq: number, limit: number): Promise<LinkedAuditEvent[]> {
    const rows = await db
      .selectFrom('audit_links')
      .leftJoin('audit_events', 'audit_events.id', 'audit_links.eventId')
      .select(columns.auditLinks)
      .select(columns.accountAudit)
      .select('audit_events.guestKeys')
      .where('audit_links.seq', '>', afterSeq)
      .orderBy('audit_links.seq')
      .limit(limit)
      .execute();
    return rows.map((row) => {
      const { seq, eventId, sealedAtMs, subjectId, body, bodySalt, marks, hash, ...rest } = row;
      const { person, personSalt, target, targetSalt, guests, guestsSalt, ...event } = rest;
      const parts = { person, personSalt, target, targetSalt, guests, guestsSalt };
      return {
        link: { seq, eventId, sealedAtMs, subjectId, body, bodySalt, marks, ...parts, hash },
        event: event.id === null ? undefined : (event as AuditEventRecord),
      };
    });
  },

  /** Events that are marked as sealed, but have no link. */
  strayAuditEvents: (db: Db, limit: number): Promise<{ readonly id: AuditEventId }[]> =>
    db
      .selectFrom('audit_events')
      .leftJoin('audit_links', 'audit_links.eventId', 'audit_events.id')
      .select('audit_events.id')
      .where('audit_events.isSealed', 'is not', null)
      .where('audit_links.seq', 'is', null)
      .orderBy('audit_events.id')
      .limit(limit)
      .execute(),
};

export const auditChainMutations = {
  /** Returns the head of the chain, and locks it until the end of the transaction. */
  lockAuditHead: mutation(notAudited, async (db: Db): Promise<AuditPosition> => {
    await db
      .insertInto('audit_positions')
      .values({ kind: 'head', seq: 0, hash: '' })
      .onConflict((conflict) => conflict.column('kind').doUpdateSet({ kind: 'head' }))
      .execute();
    return db
      .selectFrom('audit_positions')
      .select(['seq', 'hash'])
      .where('kind', '=', 'head')
      .executeTakeFirstOrThrow();
  }),

  /** Marks the oldest unsealed events as sealed, and returns them. The update locks them, so that none is erased meanwhile. */
  takeUnsealedAuditEvents: mutation(notAudited, async (db: Db, limit: number): Promise<AuditEventRecord[]> => {
    const rows = await db
      .selectFrom('audit_events')
      .select('id')
      .where('isSealed', 'is', null)
      .orderBy('id')
      .limit(limit)
      .execute();
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return [];
    await db.updateTable('audit_events').set({ isSealed: true }).where('id', 'in', ids).execute();
    return db
      .selectFrom('audit_events')
      .select(columns.accountAudit)
      .select('guestKeys')
      .where('id', 'in', ids)
      .orderBy('id')
      .execute();
  }),

  insertAuditLinks: mutation(notAudited, async (db: Db, links: readonly AuditLinkRecord[]): Promise<void> => {
    await db.insertInto('audit_links').values(links).execute();
  }),

  putAuditPosition: mutation(notAudited, (db: Db, position: AuditPositionRecord) => putPosition(db, position)),

  /**
   * Deletes events from before a time from the beginning of the chain, with their links, and moves the anchor. It stops at the first
   * newer event. An event whose clock was ahead counts by the time at which it was sealed.
   *
   * @returns whether further events may be old enough
   */
  deleteAuditBefore: mutation(
    { ...notAudited, usesDiskReserve: true },
    async (
      db: Db,
      beforeMs: number,
      limit: number,
    ): Promise<{ readonly deleted: number; readonly isDone: boolean }> => {
      const links = await db
        .selectFrom('audit_links')
        .leftJoin('audit_events', 'audit_events.id', 'audit_links.eventId')
        .select([
          'audit_links.seq',
          'audit_links.hash',
          'audit_links.sealedAtMs',
          'audit_events.id',
          'audit_events.atMs',
        ])
        .where('audit_links.seq', '>', 0)
        .orderBy('audit_links.seq')
        .limit(limit)
        .execute();
      const end = links.findIndex(({ sealedAtMs, atMs }) => atMs !== null && Math.min(sealedAtMs, atMs) >= beforeMs);
      const old = (end < 0 ? links : links.slice(0, end)).toReversed();
      // Links without an event at the end may be newer.
      const last = old.find(({ sealedAtMs, atMs }) => atMs !== null || sealedAtMs < beforeMs);
      if (last === undefined) return { deleted: 0, isDone: true };
      const ids = old.flatMap(({ id, seq }) => (id !== null && seq <= last.seq ? [id] : []));
      if (ids.length > 0) await db.deleteFrom('audit_events').where('id', 'in', ids).execute();
      await db.deleteFrom('audit_links').where('seq', '<=', last.seq).execute();
      await putPosition(db, { kind: 'anchor', seq: last.seq, hash: last.hash });
      return { deleted: ids.length, isDone: links.length < limit || end >= 0 };
    },
  ),
};

async function putPosition(db: Db, { kind, seq, hash }: AuditPositionRecord): Promise<void> {
  await db
    .insertInto('audit_positions')
    .values({ kind, seq, hash })
    .onConflict((conflict) => conflict.column('kind').doUpdateSet({ seq, hash }))
    .execute();
}

/** The salts of an event that is deleted. */
export const allAuditSalts = ['bodySalt', 'personSalt', 'targetSalt', 'guestsSalt'] as const;

/** Deletes salts of the links of events, so that what is erased from the events can't be guessed from digests. Call it before the erasure. */
export async function deleteAuditSalts(
  db: Db,
  salts: readonly (typeof allAuditSalts)[number][],
  events: SelectQueryBuilder<Database, 'audit_events', { id: AuditEventId }>,
): Promise<void> {
  const none = Object.fromEntries(salts.map((salt) => [salt, null]));
  await db.updateTable('audit_links').set(none).where('eventId', 'in', events).execute();
}
