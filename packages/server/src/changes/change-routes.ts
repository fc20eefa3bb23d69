import { example } from '../http/examples.ts';
import { type Route, type RouteDoc, routeTagged } from '../http/route.ts';
import { eventStreamHeaders, sendChanges } from './send-changes.ts';

const route = routeTagged('Distribution');
const appAccess = { kind: 'app', purpose: 'readBindings' } as const;
const extensionPointAccess = { kind: 'extensionPoint', purpose: 'readBindings' } as const;

const streamExample = [
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

function docOf(id: string, summary: string): RouteDoc {
  return {
    id,
    summary,
    description:
      'Server-sent events, until the connection closes. `binding` names a changed list; fetch it again. `deleted` names an extension point whose lists are gone. `reset` means that events were lost: fetch all lists again. `ready` follows once all earlier events were sent. `end` has the reason why the server ends the stream. The server sends comments to keep an idle connection open.',
    requestHeaders: {
      'last-event-id': 'the id of the last event that you received; the stream starts with the events after it',
    },
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
    ...docOf('followAppChanges', 'Subscribe to changes of the binding lists of an application'),
    handle: (services, { request, auth }, reply) =>
      sendChanges(services, { access: appAccess, actor: auth.actor, app: auth.access.app }, request, reply),
  }),
  route('GET', '/api/v1/extension-points/:extensionPointId/changes', {
    access: extensionPointAccess,
    hasOwnLimit: true,
    ...docOf('followExtensionPointChanges', 'Subscribe to changes of the binding lists of an extension point'),
    handle: (services, { request, auth: { actor, access } }, reply) => {
      const { app, extensionPoint } = access;
      const subscription = { access: extensionPointAccess, actor, app, extensionPointId: extensionPoint.id };
      return sendChanges(services, subscription, request, reply);
    },
  }),
];
