import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { auditChainContract } from './contracts/audit-chain-contract.ts';
import { backend } from './helpers/stores.ts';

auditChainContract('SQLite', backend, async (location, sql) => {
  const database = new DatabaseSync(join(location, 'tenon.db'), { timeout: 5000 });
  try {
    if (!sql.startsWith('select')) {
      database.exec(sql);
      return [];
    }
    const rows = database.prepare(sql).all();
    return rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => {
          const isJson = ['details', 'guestKeys'].includes(name) && typeof value === 'string';
          return [name, isJson ? JSON.parse(value) : value];
        }),
      ),
    );
  } finally {
    database.close();
  }
});
