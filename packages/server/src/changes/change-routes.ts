import { maxUpdateSeconds, updatesQuery } from '@tenon/protocol';
import { example } from '../http/examples.ts';
import { type Route, type RouteDoc, routeTagged } from '../http/route.ts';
import { eventStreamHeaders, sendEventStream } from './event-stream.ts';
import { followUpdates, updateAccess } from './follow-updates.ts';
import { sendChanges } from './send-changes.ts';

const route = routeTagged('Distribution');
const appAccess = { kind: 'app', purpose: 'readBindings' } as const;
const extensionPointAccess = { kind: 'extensionPoint', purpose: 'readBindings' } as const;

const changesExample = [
  'retry: 1000',
  '',
  'id: 41-8d1c52fb0e9a7733',
  'event: ready',
  'data: {}',
  '',
  'id: 42-5f0de4c09b12a86e',
  'event: binding',
  `data: {"extensionPointId":"${example.extensionPointId}","guestKey":"customers/globex"}`,
  '',
  '',
].join('\n');

const changesDescription =
  'Server-sent events, until the connection closes. `binding` names a changed list; fetch it again. `plugin` names a plugin with other attestations. `deleted` names an extension point whose lists are gone. `reset` means that events were lost: fetch all lists again. `ready` follows once all earlier events were sent. `end` has the reason why the server ends the stream. The server sends comments to keep an idle connection open.';

const lastEventId = {
  'last-event-id': 'the id of the last event that you received; the stream starts with the events after it',
};

function docOf(id: string, summary: string, description: string, streamExample: string): RouteDoc {
  return {
    id,
    summary,
    description,
    responses: {
      200: {
        description: 'the events',
        contentType: 'text/event-stream',
        headers: {
          'cache-control': `\`${eventStreamHeaders['cache-control']}\``,
          'x-accel-buffering': `\`${eventStreamHeaders['x-accel-buffering']}\``,
        },
        example: streamExample,
      },
    },
    errors: ['rate_limited', 'unavailable'],
  };
}

export const changeRoutes: readonly Route[] = [
  route('GET', '/api/v1/apps/:appId/changes', {
    access: appAccess,
    hasOwnLimit: true,
    ...docOf(
      'followAppChanges',
      'Subscribe to changes of the binding lists of an application',
      changesDescription,
      changesExample,
    ),
    requestHeaders: lastEventId,
    handle: (services, { request, auth }, reply) =>
      sendChanges(services, { access: appAccess, actor: auth.actor, app: auth.access.app }, request, reply),
  }),
  route('GET', '/api/v1/extension-points/:extensionPointId/changes', {
    access: extensionPointAccess,
    hasOwnLimit: true,
    ...docOf(
      'followExtensionPointChanges',
      'Subscribe to changes of the binding lists of an extension point',
      changesDescription,
      changesExample,
    ),
    requestHeaders: lastEventId,
    handle: (services, { request, auth: { actor, access } }, reply) => {
      const { app, extensionPoint } = access;
      const subscription = { access: extensionPointAccess, actor, app, extensionPointId: extensionPoint.id };
      return sendChanges(services, subscription, request, reply);
    },
  }),
  route('GET', '/api/v1/apps/:appId/updates', {
    access: updateAccess,
    query: updatesQuery,
    hasOwnLimit: true,
    ...docOf(
      'followAppUpdates',
      'Subscribe to changes of anything in an application',
      'Server-sent events, until the connection closes: `update` after a change, without saying which. Guests get it only for changes of the application, its extension points, and their own plugins. `ready` says that the stream is open. `end` has the reason why the server ends the stream. The console uses it to refetch what it shows.',
      'retry: 1000\n\nevent: ready\ndata: {}\n\nevent: update\ndata: {}\n\n',
    ),
    handle: (services, { request, auth: { actor, access }, query }, reply) => {
      const seconds = Math.min(Number(query.within ?? 0), maxUpdateSeconds);
      const sinceMs = seconds === 0 ? Number.POSITIVE_INFINITY : services.deps.clock() - seconds * 1000;
      return sendEventStream(services, { access: updateAccess, actor }, request, reply, (options) =>
        followUpdates(services.changes, access.app.id, { ...options, sinceMs }),
      );
    },
  }),
];
