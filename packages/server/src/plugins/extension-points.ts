import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type ExtensionPointInput, type ExtensionPointUpdate, newId, type SchemaWarning } from '@tenon/protocol';
import { changeProvenancePolicy, relaxesPolicy } from '../attestations/provenance-policy.ts';
import { changedFields, record } from '../audit/record.ts';
import { type AppAccess, type ExtensionPointAccess, renewAccess } from '../auth/access.ts';
import { requireStepUp } from '../auth/confirmation.ts';
import { takeQuota } from '../auth/quotas.ts';
import { deleteBatchSize } from '../db/deletion-scope.ts';
import { nameCursor } from '../db/page-queries.ts';
import { type PageOf, readAllPages, readPage } from '../db/paging.ts';
import { type ExtensionPointChange, type ExtensionPointRecord, noLimits } from '../db/records.ts';
import type { NameSort, Page, SortedPage } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, invalidField, notFound, type Precondition, requirePrecondition } from '../http/domain-errors.ts';
import type { JobOptions, ReadSchema } from './module-checker.ts';
import { requireValidPlan } from './roll-outs/plans.ts';

/** The schema of an extension point that is created without one. */
const emptySchema: ReadSchema = { schemaJson: '{"exports":{}}', warnings: [] };

/** An extension point after a change, with the warnings about the schema that was given. */
export interface SavedExtensionPoint {
  readonly extensionPoint: ExtensionPointRecord;
  readonly warnings: readonly SchemaWarning[];
}

/** @throws DomainError `invalid_field` for an invalid schema or plan of roll-outs, `quota_exceeded` */
export async function createExtensionPoint(
  deps: Deps,
  access: AppAccess,
  fields: ExtensionPointInput,
  jobOptions?: JobOptions,
): Promise<SavedExtensionPoint> {
  const createdAtMs = deps.clock();
  const { schemaJson, warnings } =
    fields.schema === undefined ? emptySchema : await deps.checker.readSchema(fields.schema, jobOptions);
  const extensionPoint: ExtensionPointRecord = {
    id: newId('extensionPoint'),
    appId: access.app.id,
    name: fields.name,
    schemaJson,
    requiresApproval: fields.requiresApproval ?? false,
    limits: { ...noLimits, ...fields.limits },
    provenance: changeProvenancePolicy(fields.provenance),
    simulationsRevision: 0,
    minVersionAgeSeconds: fields.minVersionAgeSeconds ?? 0,
    rollOut: requireValidPlan(fields.rollOut ?? null),
    imports: {},
    createdAtMs,
    updatedAtMs: createdAtMs,
  };
  await deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeExtensionPoints');
    const { count, bytes } = await tx.countExtensionPoints(access.app.id);
    await takeQuota(deps, tx, 'extension-points', access.app.id, count);
    await takeQuota(deps, tx, 'schema-bytes', access.app.id, bytes, Buffer.byteLength(extensionPoint.schemaJson));
    await tx.insertExtensionPoint(extensionPoint);
    await record(deps, tx, access.actor, {
      action: 'extension_point.create',
      appId: access.app.id,
      target: extensionPoint,
      details: auditDetails(extensionPoint),
    });
  });
  return { extensionPoint, warnings };
}

/** How many extension points one query reads, and a page has at most. It is small because schemas may be large. */
const batchSize = 32;

/** Reads an application's extension points in batches, with backpressure. */
export function readExtensionPoints(
  { store }: Pick<Deps, 'store'>,
  { app }: AppAccess,
  { after, sort }: SortedPage<NameSort>,
  text?: string,
) {
  const list = (page: Page) => store.read.extensionPoints(app.id, { ...page, sort }, text);
  return readAllPages(batchSize, (extensionPoint) => nameCursor(extensionPoint, sort), list, after);
}

export async function listExtensionPoints(
  deps: Deps,
  access: AppAccess,
  page: SortedPage<NameSort>,
  text?: string,
): Promise<PageOf<ExtensionPointRecord>> {
  const { read } = deps.store;
  const { id } = access.app;
  const cursorOf = (extensionPoint: ExtensionPointRecord): string => nameCursor(extensionPoint, page.sort);
  return readPage(
    { ...page, limit: Math.min(page.limit ?? batchSize, batchSize) },
    cursorOf,
    (range) => read.extensionPoints(id, range, text),
    () => read.countExtensionPointsFound(id, text),
  );
}

/**
 * Replaces the given fields. An omitted field keeps its value.
 *
 * @throws DomainError `invalid_field` for an invalid schema or an invalid plan of roll-outs, `step_up_required` to turn approval off, lower
 *   the minimum age, change the plan of roll-outs or relax the provenance policy, `precondition_failed`, `quota_exceeded`; `conflict` for an
 *   imported state that is older than one before, `limit_exceeded` for those of too many extension points
 */
export async function updateExtensionPoint(
  deps: Deps,
  access: ExtensionPointAccess,
  fields: ExtensionPointUpdate,
  {
    jobOptions,
    precondition,
  }: { readonly jobOptions?: JobOptions; readonly precondition?: Precondition<ExtensionPointRecord> | undefined } = {},
): Promise<SavedExtensionPoint> {
  const read = fields.schema === undefined ? undefined : await deps.checker.readSchema(fields.schema, jobOptions);
  const extensionPoint = await deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeExtensionPoints');
    const present = await tx.extensionPoint(access.extensionPoint.id);
    if (present === undefined) throw notFound('extension point');
    const provenance = changeProvenancePolicy(fields.provenance, present.provenance);
    const { minVersionAgeSeconds = present.minVersionAgeSeconds } = fields;
    const endsApproval = present.requiresApproval && fields.requiresApproval === false;
    const rollOut = fields.rollOut === undefined ? present.rollOut : requireValidPlan(fields.rollOut);
    const isOtherPlan = present.rollOut !== null && !isDeepStrictEqual(rollOut, present.rollOut);
    const isYounger = minVersionAgeSeconds < present.minVersionAgeSeconds;
    if (endsApproval || isYounger || isOtherPlan || relaxesPolicy(present.provenance, provenance)) {
      await requireStepUp(deps, access.actor.sessionId, tx);
    }
    requirePrecondition(precondition, present);
    const change: ExtensionPointChange = {
      name: fields.name ?? present.name,
      schemaJson: read?.schemaJson ?? present.schemaJson,
      requiresApproval: fields.requiresApproval ?? present.requiresApproval,
      limits: { ...present.limits, ...fields.limits },
      minVersionAgeSeconds,
      provenance,
      rollOut,
      imports: addImport(present.imports, fields.imported),
      updatedAtMs: deps.clock(),
    };
    const addedBytes = Buffer.byteLength(change.schemaJson) - Buffer.byteLength(present.schemaJson);
    if (addedBytes > 0) {
      const { bytes } = await tx.countExtensionPoints(present.appId);
      await takeQuota(deps, tx, 'schema-bytes', present.appId, bytes, addedBytes);
    }
    await tx.updateExtensionPoint(present.id, change);
    const changed = { ...present, ...change };
    await record(deps, tx, access.actor, {
      action: 'extension_point.update',
      appId: present.appId,
      target: changed,
      details: changedFields(
        { ...auditDetails(present), imports: present.imports },
        { ...auditDetails(changed), imports: changed.imports },
      ),
    });
    return changed;
  });
  return { extensionPoint, warnings: read?.warnings ?? [] };
}

/** Of how many other extension points the imported states are known. */
const maxImports = 100;

/** @throws DomainError `conflict` if a newer state was imported, `limit_exceeded` */
function addImport(
  imports: ExtensionPointRecord['imports'],
  imported: ExtensionPointUpdate['imported'],
): ExtensionPointRecord['imports'] {
  if (imported === undefined) return imports;
  const { extensionPointId, changedAt } = imported;
  const [before, changedAtMs] = [imports[extensionPointId], Date.parse(changedAt)];
  if (Number.isNaN(changedAtMs)) throw invalidField('/imported/changedAt', 'must be a time');
  if (before !== undefined && before > changedAtMs) {
    const newer = new Date(before).toISOString();
    throw new DomainError('conflict', `A newer state of ${extensionPointId} was imported, of ${newer}.`);
  }
  if (before === undefined && Object.keys(imports).length >= maxImports) {
    throw new DomainError('limit_exceeded', `An extension point can import ${maxImports} others.`);
  }
  return { ...imports, [extensionPointId]: changedAtMs };
}

/**
 * Deletes an extension point with its plugins and bindings. If it has very many rows, it is only marked as deleted, and
 * `finishPendingChanges()` deletes the rows later.
 *
 * @throws DomainError `step_up_required`
 */
export async function deleteExtensionPoint(deps: Deps, access: ExtensionPointAccess): Promise<void> {
  const { actor, app, extensionPoint } = access;
  await deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeExtensionPoints');
    await requireStepUp(deps, actor.sessionId, tx);
    await record(deps, tx, actor, { action: 'extension_point.delete', appId: app.id, target: extensionPoint });
    const isLarge = await tx.hasMoreRows({ extensionPointId: extensionPoint.id }, deleteBatchSize);
    if (isLarge) await tx.markExtensionPointDeleted(extensionPoint.id, deps.clock());
    else await tx.deleteExtensionPoint(extensionPoint.id);
  });
}

/** The longest schema that an audit event contains, in characters of JSON. */
const maxAuditedSchema = 4096;

/** Returns the audited fields of an extension point. The digest replaces a long schema. */
function auditDetails(extensionPoint: ExtensionPointRecord) {
  const { name, schemaJson, requiresApproval, minVersionAgeSeconds, limits, provenance, rollOut } = extensionPoint;
  const schema: unknown =
    schemaJson.length <= maxAuditedSchema ? JSON.parse(schemaJson) : { sha256: hash('sha256', schemaJson, 'hex') };
  return { name, requiresApproval, minVersionAgeSeconds, limits, provenance, rollOut, schema };
}
