import { serverStatus } from '@tenon/protocol';
import { json, type Route, routeTagged } from '../route.ts';
import { statusExample } from './status-example.ts';

const route = routeTagged('Operation');

export const statusRoutes: readonly Route[] = [
  route('GET', '/api/v1/status', {
    access: { kind: 'user', scope: 'read', userLevel: true, operator: true },
    id: 'readStatus',
    summary: 'The status of the server: its stores, the process that answers, and on PostgreSQL all nodes',
    description:
      'For operators, whom `tenon admin grant-operator` makes; to be one gives no right on any application. The figures are those of the process that answers, since its start. `/metrics` has those of each process.',
    answers: { 200: json('the status', serverStatus, statusExample) },
    errors: ['forbidden', 'unavailable'],
    handle: ({ status }) => status.read(),
  }),
];
