import type { Static } from 'typebox';
import { extensionPointSchema } from './extension-points.ts';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { Type } from './type.ts';

const keptSchema = nullable(extensionPointSchema, {
  description: '`null` if it was too large for the audit trail, or did not change',
});

/** A change of an extension point's schema, or of one of its simulations. */
export const schemaRevision = Type.Object({
  id: id('auditEvent', "the change's entry of the audit trail"),
  at: timestamp('when'),
  user: nullable(
    Type.Object({ id: id('user', 'the user'), name: Type.String({ description: 'the name at that time' }) }),
    { description: 'the user who changed it; `null` if no user did' },
  ),
  before: keptSchema,
  after: keptSchema,
  simulation: nullable(
    Type.Object({
      name: Type.String(),
      revision: Type.Integer({ description: 'the number of the change of the simulations: 1, 2, 3, …' }),
      change: oneOf(['put', 'delete']),
    }),
    { description: 'the simulation that changed; `null` if the schema changed' },
  ),
});
export type SchemaRevision = Static<typeof schemaRevision>;

export const schemaRevisions = Type.Object({
  objects: Type.Array(schemaRevision, {
    description: 'the newest first; at most 10 of the schema and 10 of the simulations',
  }),
});
export type SchemaRevisions = Static<typeof schemaRevisions>;
