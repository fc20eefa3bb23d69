import pg from 'pg';
import { auditChainContract } from './contracts/audit-chain-contract.ts';
import { whyNoPostgres } from './helpers/postgres.ts';
import { backend } from './helpers/postgres-stores.ts';

if (whyNoPostgres(18) === false) {
  auditChainContract('PostgreSQL', backend, async (location, sql) => {
    const client = new pg.Client(location.split(' ')[0]);
    await client.connect();
    try {
      const answer = await client.query(sql);
      return Array.isArray(answer) ? [] : answer.rows;
    } finally {
      await client.end();
    }
  });
}
