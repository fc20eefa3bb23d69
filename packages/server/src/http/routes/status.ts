import { serverStatus } from '@tenon/protocol';
import { type Route, route } from '../route.ts';
import { toServerStatus } from '../status-wire.ts';
import { statusExample } from './status-example.ts';

export const statusRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/status',
    access: { kind: 'user', scope: 'read', userLevel: true, operator: true },
    doc: {
      id: 'readStatus',
      tag: 'Operation',
      summary: 'How the server is: its processes, its stores, what they are busy with, and how much there is',
      description:
        'For operators, whom `tenon admin grant-operator` makes; to be one gives no right on any application. What a process tells of itself is as old as `lastSeenAt` says, 15 seconds at the most while it is well. Rows are counted once a minute; from some thousands on about how many there are is told.',
      answers: { 200: { description: 'the status', schema: serverStatus, example: statusExample } },
      errors: ['forbidden', 'unavailable'],
    },
    handle: async ({ status, settings }) => toServerStatus(await status.read(), settings),
  }),
];
