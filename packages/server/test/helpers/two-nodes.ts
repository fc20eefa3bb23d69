import type { Config } from '../../src/config/config.ts';
import { startPostgres } from './postgres.ts';
import { openService, type TestService } from './service.ts';

/** Two nodes with one PostgreSQL of their own. */
export interface TwoNodes {
  readonly nodes: readonly [TestService, TestService];
  close(): Promise<void>;
}

export async function openTwoNodes(config: Partial<Config>): Promise<TwoNodes> {
  const postgres = await startPostgres();
  const { url: databaseUrl } = await postgres.createDatabase();
  const options = { config: { ...config, databaseUrl, databaseConnections: 6 } };
  const nodes = [await openService(options), await openService(options)] as const;
  return {
    nodes,
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
      postgres.stop();
    },
  };
}
