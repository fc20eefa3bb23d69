import {
  extensionPoint,
  extensionPointExample,
  extensionPointInput,
  extensionPointListQuery,
  extensionPointUpdate,
  listedExtensionPoint,
  savedExtensionPoint,
  schemaRevisions,
  schemaTrial,
  schemaTrialInput,
} from '@tenon/protocol';
import { type Actor, isMember } from '../auth/access.ts';
import type { ExtensionPointRecord } from '../db/records.ts';
import { jsonBody } from '../http/bodies/json-body.ts';
import { schemaRevisionsExample, schemaTrialExample } from '../http/examples.ts';
import { ListResponse } from '../http/list-response.ts';
import { toList, toPage } from '../http/query.ts';
import type { Reply } from '../http/reply.ts';
import { disconnectSignal } from '../http/reply.ts';
import { conditionalRead, conditionalWrite, preconditionOf, sendRepresentation } from '../http/representation.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import {
  createExtensionPoint,
  deleteExtensionPoint,
  listExtensionPoints,
  readExtensionPoints,
  updateExtensionPoint,
} from './extension-points.ts';
import type { JobOptions } from './module-checker.ts';
import { toExtensionPoint, toSchemaTrial, withExportNames } from './plugin-wire.ts';
import { readSchemaRevisions } from './schema-revisions.ts';
import { trySchema } from './schema-trial.ts';

const savedExample = { ...extensionPointExample, warnings: [] };

const route = routeTagged('Extension points');

/** Schemas are parsed in worker processes, which accounts share fairly. */
function jobOptionsOf({ userId }: Actor, reply: Reply): JobOptions {
  return { fairnessKey: userId, signal: disconnectSignal(reply.response) };
}

const toMemberView = (extensionPoint: ExtensionPointRecord) => toExtensionPoint(extensionPoint, true);

export const extensionPointRoutes: readonly Route[] = [
  route('GET', '/api/v1/apps/:appId/extension-points', {
    access: { kind: 'app', purpose: 'readExtensionPoints' },
    query: extensionPointListQuery,
    id: 'listExtensionPoints',
    summary: "List an application's extension points",
    description:
      'Without `limit`, the response has all of them, since a host reads this list once. Quotas limit its length.',
    responses: {
      200: jsonList('the extension points', listedExtensionPoint, { ...extensionPointExample, ownPlugins: 2 }),
    },
    handle: async ({ deps }, { auth: { actor, access }, query }) => {
      const page = toPage(query);
      const { limit, q: text, sort, schema } = query;
      const toShown = (one: ExtensionPointRecord) => {
        const extensionPoint = toExtensionPoint(one, isMember(access));
        return schema === 'names' ? withExportNames(extensionPoint) : extensionPoint;
      };
      const counts = await deps.store.read.countOwnPlugins(access.app.id, actor.userId);
      const toListed = (one: ExtensionPointRecord) => ({
        ...toShown(one),
        ownPlugins: counts.get(one.id) ?? 0,
      });
      if (limit === undefined) return new ListResponse(readExtensionPoints(deps, access, page, text), toListed);
      return toList(await listExtensionPoints(deps, access, page, text), toListed, sort);
    },
  }),
  route('POST', '/api/v1/apps/:appId/extension-points', {
    access: { kind: 'app', purpose: 'changeExtensionPoints' },
    body: jsonBody(extensionPointInput, { name: 'Formula functions', schema: 'exports:\n  - evaluate\n' }),
    id: 'createExtensionPoint',
    summary: 'Create an extension point',
    description: '`schema` is an object, or its YAML or JSON text. Its `exports` are a map or a list.',
    responses: { 201: json('the new extension point', savedExtensionPoint, savedExample) },
    errors: ['quota_exceeded'],
    handle: async ({ deps }, { auth, body }, reply) => {
      const { extensionPoint, warnings } = await createExtensionPoint(
        deps,
        auth.access,
        body,
        jobOptionsOf(auth.actor, reply),
      );
      return { ...toMemberView(extensionPoint), warnings };
    },
  }),
  route('GET', '/api/v1/extension-points/:extensionPointId', {
    access: { kind: 'extensionPoint', purpose: 'readExtensionPoints' },
    id: 'readExtensionPoint',
    summary: 'Read an extension point',
    ...conditionalRead('the extension point', extensionPoint, extensionPointExample),
    handle: (_services, { request, auth: { access } }, reply) =>
      sendRepresentation(request, reply, toExtensionPoint(access.extensionPoint, isMember(access))),
  }),
  route('PUT', '/api/v1/extension-points/:extensionPointId', {
    access: { kind: 'extensionPoint', purpose: 'changeExtensionPoints' },
    body: jsonBody(extensionPointUpdate, { name: 'Formulas' }),
    id: 'updateExtensionPoint',
    summary: 'Update an extension point; absent fields keep their values',
    requestHeaders: conditionalWrite.requestHeaders,
    responses: { 200: json('the extension point', savedExtensionPoint, savedExample, conditionalWrite.headers) },
    errors: ['step_up_required', 'precondition_failed', 'quota_exceeded', 'conflict', 'limit_exceeded'],
    handle: async ({ deps }, { request, auth, body }, reply) => {
      const jobOptions = jobOptionsOf(auth.actor, reply);
      const precondition = preconditionOf(request, toMemberView);
      const updated = await updateExtensionPoint(deps, auth.access, body, { jobOptions, precondition });
      const { extensionPoint, warnings } = updated;
      return sendRepresentation(request, reply, toMemberView(extensionPoint), { warnings });
    },
  }),
  route('POST', '/api/v1/extension-points/:extensionPointId/schema/trial', {
    access: { kind: 'extensionPoint', purpose: 'changeExtensionPoints' },
    body: jsonBody(schemaTrialInput, { schema: 'exports:\n  - evaluate\n  - describe\n' }),
    id: 'trySchema',
    summary: 'Test a schema, or limits, before you set them',
    description: 'Returns the bound plugins that would no longer fit, with the reasons. Changes nothing.',
    responses: { 200: json('what would break', schemaTrial, schemaTrialExample) },
    handle: async ({ deps }, { auth, body }, reply) => {
      return toSchemaTrial(await trySchema(deps, auth.access, body, jobOptionsOf(auth.actor, reply)));
    },
  }),
  route('GET', '/api/v1/extension-points/:extensionPointId/schema/revisions', {
    access: { kind: 'extensionPoint', purpose: 'readBindings' },
    id: 'listSchemaRevisions',
    summary: 'Read the last changes of the schema and the simulations',
    description: 'For members. The changes are those of the audit trail, as long as it is kept.',
    responses: { 200: json('the changes', schemaRevisions, schemaRevisionsExample) },
    handle: ({ deps }, { auth }) => readSchemaRevisions(deps, auth.access),
  }),
  route('DELETE', '/api/v1/extension-points/:extensionPointId', {
    access: { kind: 'extensionPoint', purpose: 'changeExtensionPoints' },
    id: 'deleteExtensionPoint',
    summary: 'Delete an extension point with its plugins',
    responses: { 204: { description: 'deleted' } },
    errors: ['step_up_required'],
    handle: ({ deps }, { auth }) => deleteExtensionPoint(deps, auth.access),
  }),
];
