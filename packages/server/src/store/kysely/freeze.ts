import { sql } from 'kysely';
import type { FreezeKind } from '../../domain/housekeeping/ports.ts';
import { UnavailableError } from '../../domain/ports.ts';
import type { Db } from './db.ts';

/** A row of `leases` that ends when it is taken away. */
export interface Freeze {
  readonly kind: FreezeKind;
  /** Names the move. */
  readonly holder: string;
}

const kinds: readonly FreezeKind[] = ['frozen', 'moved', 'arriving'];

/** An expression that is true while a store takes no changes. */
export const isFrozenSql = sql<boolean | number>`
  exists (select 1 from leases where kind in (${sql.join(kinds.map((kind) => sql.lit(kind)))}))
`;

export function frozenError(): UnavailableError {
  return new UnavailableError(
    'Cannot write: the data is being moved to another store, or was, or has not all arrived here ("tenon admin migrate-store")',
  );
}

/** @throws UnavailableError while the store takes no changes */
export async function demandThawed(db: Db): Promise<void> {
  const { rows } = await sql<{ frozen: boolean | number }>`select ${isFrozenSql} as frozen`.execute(db);
  if (rows[0]?.frozen) throw frozenError();
}

/** Why the store takes no changes; nothing while it does. */
export async function freezesOf(db: Db): Promise<Freeze[]> {
  const rows = await db.selectFrom('leases').select(['kind', 'holder']).where('kind', 'in', kinds).execute();
  return rows.map(({ kind, holder }) => ({ kind: kind as FreezeKind, holder }));
}

/** Takes the place of every freeze there is; `undefined` thaws. To be called in a transaction that did not come through the store. */
export async function setFreeze(db: Db, freeze: Freeze | undefined): Promise<void> {
  await db.deleteFrom('leases').where('kind', 'in', kinds).execute();
  if (freeze === undefined) return;
  await db
    .insertInto('leases')
    .values({ ...freeze, untilMs: Number.MAX_SAFE_INTEGER })
    .execute();
}
