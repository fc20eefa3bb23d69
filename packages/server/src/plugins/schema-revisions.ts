import type { SchemaRevision, SchemaRevisions } from '@tenon/protocol';
import type { ExtensionPointAccess } from '../auth/access.ts';
import type { AuditEventRecord } from '../db/audit-records.ts';
import type { Deps } from '../deps.ts';

const maxRevisions = 10;
/** How many changes of each kind are searched. Some change only an extension point's name or rules. */
const maxEvents = 100;

const actions = ['extension_point.update', 'simulation.put', 'simulation.delete'] as const;

/** Reads the last changes of an extension point's schema and simulations from the audit trail, as far back as that goes. */
export async function readSchemaRevisions(
  { store }: Deps,
  { app, extensionPoint }: ExtensionPointAccess,
): Promise<SchemaRevisions> {
  const events = await Promise.all(
    actions.map((action) =>
      store.read.auditOfApp(app.id, { action, targetId: extensionPoint.id }, { limit: maxEvents }),
    ),
  );
  const revisions = events.flat().flatMap(toRevision).sort(newestFirst);
  const ofSchema = revisions.filter(({ simulation }) => simulation === null).slice(0, maxRevisions);
  const ofSimulations = revisions.filter(({ simulation }) => simulation !== null).slice(0, maxRevisions);
  return { objects: [...ofSchema, ...ofSimulations].sort(newestFirst) };
}

const orderOf = ({ at, id }: SchemaRevision): string => `${at} ${id}`;
const newestFirst = (a: SchemaRevision, b: SchemaRevision): number => (orderOf(a) < orderOf(b) ? 1 : -1);

interface RevisionDetails {
  readonly schema?: { readonly before: object; readonly after: object };
  readonly simulation?: string;
  readonly revision?: number;
}

function toRevision({ id, atMs, action, userId, userName, details }: AuditEventRecord): SchemaRevision[] {
  const { schema, simulation: name, revision = 0 } = details as RevisionDetails;
  const user = userId === null ? null : { id: userId, name: userName ?? '' };
  const change = { id, at: new Date(atMs).toISOString(), user };
  if (name !== undefined) {
    const simulation = { name, revision, change: action === 'simulation.put' ? ('put' as const) : ('delete' as const) };
    return [{ ...change, before: null, after: null, simulation }];
  }
  if (schema === undefined) return [];
  return [{ ...change, before: kept(schema.before), after: kept(schema.after), simulation: null }];
}

/** Of a large schema, the audit trail has only a hash. */
function kept(schema: object): SchemaRevision['before'] {
  return 'exports' in schema ? (schema as SchemaRevision['before']) : null;
}
