import { hash } from 'node:crypto';
import { type ExtensionPointLimits, newId } from '@tenon/protocol';
import { describeFault, parseExtensionPointSchema, SchemaError } from '@tenon/protocol/extension-point-schema';
import { type AppAccess, type ExtensionPointAccess, renewAccess } from './access.ts';
import { changedFields, record } from './audit/record.ts';
import type { Context } from './context.ts';
import { DomainError, notFound } from './errors.ts';
import { type PageOf, paged } from './paging.ts';
import type { Page } from './ports.ts';
import { type ExtensionPointRecord, noLimits } from './records.ts';

/** What an extension point is made of, as it was sent: the schema as an object, or as its YAML or JSON text. */
export interface ExtensionPointFields {
  readonly name: string;
  readonly schema?: unknown;
  readonly requiresApproval?: boolean;
  /** A limit that is left out keeps its value, as a field does. */
  readonly limits?: Partial<ExtensionPointLimits>;
}

/** @throws DomainError `invalid_field` when the schema is none */
export async function createExtensionPoint(
  context: Context,
  access: AppAccess,
  fields: ExtensionPointFields,
): Promise<ExtensionPointRecord> {
  const createdAtMs = context.clock();
  const extensionPoint: ExtensionPointRecord = {
    id: newId('extensionPoint'),
    appId: access.app.id,
    name: fields.name,
    schemaJson: readSchema(fields.schema ?? {}),
    requiresApproval: fields.requiresApproval ?? false,
    limits: { ...noLimits, ...fields.limits },
    createdAtMs,
    updatedAtMs: createdAtMs,
  };
  await context.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeExtensionPoints');
    await tx.insertExtensionPoint(extensionPoint);
    await record(context, tx, access.actor, {
      action: 'extension_point.create',
      appId: access.app.id,
      target: extensionPoint,
      details: auditedFields(extensionPoint),
    });
  });
  return extensionPoint;
}

export function listExtensionPoints(
  context: Context,
  access: AppAccess,
  page: Page,
): Promise<PageOf<ExtensionPointRecord>> {
  return paged(
    page,
    (extensionPoint: ExtensionPointRecord) => extensionPoint.id,
    (stretch) => context.store.read.extensionPoints(access.app.id, stretch),
  );
}

/**
 * Replaces the fields that were sent; one that was left out keeps its value.
 *
 * @throws DomainError `invalid_field` when the schema is none
 */
export async function updateExtensionPoint(
  context: Context,
  access: ExtensionPointAccess,
  fields: Partial<ExtensionPointFields>,
): Promise<ExtensionPointRecord> {
  const schemaJson = fields.schema === undefined ? undefined : readSchema(fields.schema);
  return context.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeExtensionPoints');
    const present = await tx.extensionPoint(access.extensionPoint.id);
    if (present === undefined) throw notFound('extension point');
    const change = {
      name: fields.name ?? present.name,
      schemaJson: schemaJson ?? present.schemaJson,
      requiresApproval: fields.requiresApproval ?? present.requiresApproval,
      limits: { ...present.limits, ...fields.limits },
      updatedAtMs: context.clock(),
    };
    await tx.updateExtensionPoint(present.id, change);
    const changed = { ...present, ...change };
    await record(context, tx, access.actor, {
      action: 'extension_point.update',
      appId: present.appId,
      target: changed,
      details: changedFields(auditedFields(present), auditedFields(changed), [
        'name',
        'requiresApproval',
        'limits',
        'schema',
      ]),
    });
    return changed;
  });
}

/** Deletes an extension point with its plugins and bindings. */
export async function deleteExtensionPoint(context: Context, access: ExtensionPointAccess): Promise<void> {
  const { actor, app, extensionPoint } = access;
  await context.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeExtensionPoints');
    await record(context, tx, actor, { action: 'extension_point.delete', appId: app.id, target: extensionPoint });
    await tx.deleteExtensionPoint(extensionPoint.id);
  });
}

/** The longest schema that the audit trail tells in full, in characters of JSON. */
const maxAuditedSchema = 4096;

/** What the audit trail tells of an extension point: a long schema by its digest. */
function auditedFields({ name, requiresApproval, limits, schemaJson }: ExtensionPointRecord) {
  const schema: unknown =
    schemaJson.length <= maxAuditedSchema ? JSON.parse(schemaJson) : { sha256: hash('sha256', schemaJson, 'hex') };
  return { name, requiresApproval, limits, schema };
}

/**
 * A schema as it is kept.
 *
 * @throws DomainError `invalid_field` with every fault that was found, each with its place
 */
export function readSchema(schema: unknown): string {
  try {
    return parseExtensionPointSchema(schema);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const errors = error.faults.map((fault) => ({ pointer: `/schema${fault.pointer}`, detail: describeFault(fault) }));
    throw new DomainError('invalid_field', `/schema${error.pointer}: ${error.message}`, { errors });
  }
}
