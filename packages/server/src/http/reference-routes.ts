import { type Route, routeTagged } from './route.ts';

const route = routeTagged('Operation');

export const referenceRoutes: readonly Route[] = [
  route('GET', '/openapi.json', {
    access: { kind: 'public' },
    area: 'both',
    id: 'readOpenApi',
    summary: 'Read this OpenAPI description',
    responses: { 200: { description: 'an OpenAPI 3.1 document', schema: { type: 'object' } } },
    handle: ({ openApi }, _call, reply) => reply.json(openApi()),
  }),
];
