import type { DatabaseSync } from 'node:sqlite';
import type { StoreFault } from '../../domain/housekeeping/ports.ts';

/**
 * Has SQLite read the whole database and tell what contradicts itself in it: pages, indexes, and foreign keys.
 * https://www.sqlite.org/pragma.html#pragma_integrity_check
 */
export function checkFile(database: DatabaseSync): StoreFault[] {
  const faults: StoreFault[] = [];
  for (const row of database.prepare('pragma integrity_check').all()) {
    const detail = String(row.integrity_check);
    if (detail !== 'ok') faults.push({ subject: 'database', detail });
  }
  for (const { table, rowid, parent } of database.prepare('pragma foreign_key_check').all()) {
    faults.push({
      subject: 'database',
      detail: `row ${rowid} of ${table} refers to a row of ${parent} that is not there`,
    });
  }
  return faults;
}
