import type { ExtensionPointId } from '@tenon/protocol';
import type { Db } from '../db/db.ts';
import { mutation } from '../db/mutation.ts';
import { columns } from '../db/records.ts';
import type { SimulationChange, SimulationRecord } from '../db/simulation-records.ts';

const simulationsOf = (db: Db, extensionPointId: ExtensionPointId) =>
  db.selectFrom('simulations').select(columns.simulations).where('extensionPointId', '=', extensionPointId);

export const simulationQueries = {
  /** All simulations of an extension point, by name. */
  simulations: (db: Db, extensionPointId: ExtensionPointId): Promise<SimulationRecord[]> =>
    simulationsOf(db, extensionPointId).orderBy('name').execute(),

  simulation: (db: Db, extensionPointId: ExtensionPointId, name: string): Promise<SimulationRecord | undefined> =>
    simulationsOf(db, extensionPointId).where('name', '=', name).executeTakeFirst(),
};

const setRevision = (db: Db, { extensionPointId, revision }: SimulationChange) =>
  db
    .updateTable('extension_points')
    .set({ simulationsRevision: revision })
    .where('id', '=', extensionPointId)
    .execute();

const rules = {
  audit: true,
  invalidates: ({ extensionPointId }: SimulationChange) => [extensionPointId],
};

export const simulationMutations = {
  /** Inserts or replaces a simulation, and sets the extension point's `simulationsRevision`. */
  putSimulation: mutation(rules, async (db: Db, simulation: SimulationRecord): Promise<void> => {
    const { id: _, extensionPointId: __, name: ___, createdAtMs: ____, ...changed } = simulation;
    await db
      .insertInto('simulations')
      .values(simulation)
      .onConflict((conflict) => conflict.columns(['extensionPointId', 'name']).doUpdateSet(changed))
      .execute();
    await setRevision(db, simulation);
  }),

  /** Deletes a simulation, and sets the extension point's `simulationsRevision`. */
  deleteSimulation: mutation({ ...rules, usesDiskReserve: true }, async (db: Db, change: SimulationChange) => {
    const { extensionPointId, name } = change;
    await db
      .deleteFrom('simulations')
      .where('extensionPointId', '=', extensionPointId)
      .where('name', '=', name)
      .execute();
    await setRevision(db, change);
  }),
};
