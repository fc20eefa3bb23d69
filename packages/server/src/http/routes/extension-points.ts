import {
  extensionPoint,
  extensionPointInput,
  extensionPointUpdate,
  listOf,
  pageQuery,
  schemaTrial,
  schemaTrialInput,
} from '@tenon/protocol';
import {
  createExtensionPoint,
  deleteExtensionPoint,
  listExtensionPoints,
  updateExtensionPoint,
} from '../../domain/extension-points.ts';
import { trySchema } from '../../domain/schema-trial.ts';
import { jsonBody } from '../bodies/json-body.ts';
import { goneSignal } from '../client-gone.ts';
import { toList, toPage } from '../query.ts';
import { type Route, route } from '../route.ts';
import { toExtensionPoint, toSchemaTrial } from '../wire.ts';
import { extensionPointExample, schemaTrialExample } from './examples.ts';

const tag = 'Extension points';

export const extensionPointRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/apps/:appId/extension-points',
    access: { kind: 'app', purpose: 'readExtensionPoints' },
    query: pageQuery,
    doc: {
      id: 'listExtensionPoints',
      tag,
      summary: "List an application's extension points",
      answers: {
        200: {
          description: 'the extension points',
          schema: listOf(extensionPoint),
          example: { objects: [extensionPointExample] },
        },
      },
    },
    handle: async ({ context }, { admission, query }) =>
      toList(await listExtensionPoints(context, admission.access, toPage(query)), toExtensionPoint),
  }),
  route({
    method: 'POST',
    path: '/api/v1/apps/:appId/extension-points',
    access: { kind: 'app', purpose: 'changeExtensionPoints' },
    body: jsonBody(extensionPointInput, { name: 'Formula functions', schema: 'exports:\n  - evaluate\n' }),
    doc: {
      id: 'createExtensionPoint',
      tag,
      summary: 'Make an extension point',
      description: 'The schema is taken as an object, or as its YAML or JSON text; its `exports` as a map or a list.',
      answers: { 201: { description: 'the new one', schema: extensionPoint, example: extensionPointExample } },
    },
    handle: async ({ context }, { admission, body }, reply) => {
      const created = await createExtensionPoint(context, admission.access, body);
      reply.code(201);
      return toExtensionPoint(created);
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/extension-points/:extensionPointId',
    access: { kind: 'extensionPoint', purpose: 'readExtensionPoints' },
    doc: {
      id: 'readExtensionPoint',
      tag,
      summary: 'Read an extension point',
      answers: { 200: { description: 'the extension point', schema: extensionPoint, example: extensionPointExample } },
    },
    handle: (_parts, { admission }) => toExtensionPoint(admission.access.extensionPoint),
  }),
  route({
    method: 'PUT',
    path: '/api/v1/extension-points/:extensionPointId',
    access: { kind: 'extensionPoint', purpose: 'changeExtensionPoints' },
    body: jsonBody(extensionPointUpdate, { name: 'Formulas' }),
    doc: {
      id: 'updateExtensionPoint',
      tag,
      summary: 'Replace what is sent; a field that is left out keeps its value',
      answers: { 200: { description: 'the extension point', schema: extensionPoint, example: extensionPointExample } },
    },
    handle: async ({ context }, { admission, body }) =>
      toExtensionPoint(await updateExtensionPoint(context, admission.access, body)),
  }),
  route({
    method: 'POST',
    path: '/api/v1/extension-points/:extensionPointId/schema/trial',
    access: { kind: 'extensionPoint', purpose: 'changeExtensionPoints' },
    body: jsonBody(schemaTrialInput, { schema: 'exports:\n  - evaluate\n  - describe\n' }),
    doc: {
      id: 'trySchema',
      tag,
      summary: 'Try a schema, or limits, before they are set',
      description: 'Tells which of the plugins that are bound now would not fit any more, and why. Nothing is changed.',
      answers: { 200: { description: 'what would break', schema: schemaTrial, example: schemaTrialExample } },
    },
    handle: async ({ context }, { admission, body }, reply) => {
      const asker = { caller: admission.actor.userId, signal: goneSignal(reply.raw) };
      return toSchemaTrial(await trySchema(context, admission.access, body, asker));
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/extension-points/:extensionPointId',
    access: { kind: 'extensionPoint', purpose: 'changeExtensionPoints' },
    doc: {
      id: 'deleteExtensionPoint',
      tag,
      summary: 'Delete an extension point with its plugins',
      answers: { 204: { description: 'it is gone' } },
    },
    handle: async ({ context }, { admission }, reply) => {
      await deleteExtensionPoint(context, admission.access);
      return reply.code(204).send();
    },
  }),
];
