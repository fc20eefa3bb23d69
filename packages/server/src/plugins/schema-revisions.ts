import type { SchemaRevision, SchemaRevisions } from '@tenon/protocol';
import type { ExtensionPointAccess } from '../auth/access.ts';
import type { AuditEventRecord } from '../db/audit-records.ts';
import type { Deps } from '../deps.ts';

const maxRevisions = 10;
/** How many changes of an extension point are searched. Some change only its name or rules. */
const maxEvents = 100;

/** Reads the last changes of an extension point's schema from the audit trail, as far back as that goes. */
export async function readSchemaRevisions(
  { store }: Deps,
  { app, extensionPoint }: ExtensionPointAccess,
): Promise<SchemaRevisions> {
  const filter = { action: 'extension_point.update', targetId: extensionPoint.id } as const;
  const events = await store.read.auditOfApp(app.id, filter, { limit: maxEvents });
  return { objects: events.flatMap(toRevision).slice(0, maxRevisions) };
}

function toRevision({ id, atMs, userId, userName, details }: AuditEventRecord): SchemaRevision[] {
  const { schema } = details as { readonly schema?: { readonly before: object; readonly after: object } };
  if (schema === undefined) return [];
  const user = userId === null ? null : { id: userId, name: userName ?? '' };
  return [{ id, at: new Date(atMs).toISOString(), user, before: kept(schema.before), after: kept(schema.after) }];
}

/** Of a large schema, the audit trail has only a hash. */
function kept(schema: object): SchemaRevision['before'] {
  return 'exports' in schema ? (schema as SchemaRevision['before']) : null;
}
