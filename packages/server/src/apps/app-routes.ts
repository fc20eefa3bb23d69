import { app, appInput, appListQuery, appOverview, appUpdate, guestsQuery } from '@tenon/protocol';
import type { AppAccess } from '../auth/access.ts';
import { jsonBody } from '../http/bodies/json-body.ts';
import { appExample, example } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { conditionalRead, conditionalWrite, preconditionOf, sendRepresentation } from '../http/representation.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { toApp } from './app-wire.ts';
import { createApp, deleteApp, listApps, updateApp } from './apps.ts';
import { readOverview } from './overview.ts';

const route = routeTagged('Applications');

const overviewExample = {
  extensionPoints: 1,
  plugins: 12,
  blockedPlugins: 0,
  guests: 40,
  pendingInvitations: 3,
  awaitingApproval: 2,
  members: 4,
  firstExtensionPoints: [{ id: example.extensionPointId, name: 'Cell functions' }],
  example: {
    extensionPoint: { id: example.extensionPointId, name: 'Cell functions' },
    guestKey: 'customers/globex',
    pluginName: 'median',
  },
};

export const appRoutes: readonly Route[] = [
  route('GET', '/api/v1/apps', {
    access: { kind: 'user', scope: 'read' },
    query: appListQuery,
    id: 'listApps',
    summary: 'List the applications that you are a member or a guest of',
    responses: { 200: jsonList('the applications', app, appExample) },
    handle: async ({ deps }, { auth, query }) =>
      toList(
        await listApps(deps, auth.actor, toPage(query), query.q),
        (one) => toApp(one, query.maxGuests),
        query.sort,
      ),
  }),
  route('POST', '/api/v1/apps', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    body: jsonBody(appInput, { name: 'Acme Spreadsheet' }),
    id: 'createApp',
    summary: 'Create an application and become its owner',
    description: '`TENON_CREATE_APPS` sets which accounts may: by default operators and members of any team.',
    responses: { 201: json('the new application', app, appExample) },
    errors: ['quota_exceeded'],
    handle: async ({ deps }, { auth, body }) => toApp(await createApp(deps, auth.actor, body.name)),
  }),
  route('GET', '/api/v1/apps/:appId', {
    access: { kind: 'app', purpose: 'readApp' },
    query: guestsQuery,
    id: 'readApp',
    summary: 'Read an application',
    ...conditionalRead('the application', app, appExample),
    handle: (_services, { request, auth, query }, reply) =>
      sendRepresentation(request, reply, toApp(auth.access, query.maxGuests)),
  }),
  route('GET', '/api/v1/apps/:appId/overview', {
    access: { kind: 'app', purpose: 'readGuests' },
    id: 'readAppOverview',
    summary: "Count an application's plugins, guests, and what waits for its team",
    responses: { 200: json('the numbers', appOverview, overviewExample) },
    handle: ({ deps }, { auth }) => readOverview(deps, auth.access),
  }),
  route('PUT', '/api/v1/apps/:appId', {
    access: { kind: 'app', purpose: 'updateApp' },
    query: guestsQuery,
    body: jsonBody(appUpdate, { name: 'Acme Sheets' }),
    id: 'updateApp',
    summary: 'Change an application: its name, and whether its members need a passkey',
    description: 'Only an owner with a passkey can change `requiresPasskey`.',
    requestHeaders: conditionalWrite.requestHeaders,
    responses: { 200: json('the application', app, appExample, conditionalWrite.headers) },
    errors: ['precondition_failed', 'step_up_required', 'conflict'],
    handle: async ({ deps }, { request, auth, body, query }, reply) => {
      const toResource = (access: AppAccess) => toApp(access, query.maxGuests);
      const updated = await updateApp(deps, auth.access, body, preconditionOf(request, toResource));
      return sendRepresentation(request, reply, toResource(updated));
    },
  }),
  route('DELETE', '/api/v1/apps/:appId', {
    access: { kind: 'app', purpose: 'deleteApp' },
    id: 'deleteApp',
    summary: 'Delete an application with everything in it',
    description:
      'Also deletes its extension points, guests, invitations, and plugins, and the tokens restricted to it.',
    responses: { 204: { description: 'deleted' } },
    errors: ['step_up_required'],
    handle: ({ deps }, { auth }) => deleteApp(deps, auth.access),
  }),
];
