import { type ErrorCode, errorCodes, type IdKind, idPattern, pluginNamePattern } from '@tenon/protocol';
import type { TObject, TSchema } from 'typebox';
import { cookieName } from './cookies.ts';
import { example } from './examples.ts';
import type { ErrorFormat } from './http-error.ts';
import { problemFormat } from './problem.ts';
import { type Access, type Route, type SuccessDoc, tags } from './route.ts';

interface OpenApiServer {
  readonly base: string;
  readonly instrument: string;
  readonly version: string;
}

/**
 * Describes routes as an OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1), with the schemas that validate requests.
 */
export function describeRoutes(routes: readonly Route[], server: OpenApiServer): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = openApiPath(route);
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = describeOperation(route, server);
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tenon',
      version: server.version,
      summary: 'Distributes WebAssembly plugins and instruments WebAssembly modules',
      description:
        'Every error is a problem document (RFC 9457) with a stable `code`. HEAD works wherever GET does. Lists come in pages of 100 entries unless `limit` asks for another number.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server.base }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name, description: tags[name] })),
    paths,
    components: {
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', description: 'an access token of a user, `tnn_…`' },
        apiKey: { type: 'http', scheme: 'bearer', description: 'an API key, `tnk_…`' },
        sessionCookie: {
          type: 'apiKey',
          in: 'cookie',
          name: cookieName('session', server.base),
          description:
            'the cookie of a browser that is signed in. It opens the routes of the browser session alone, to our own pages alone',
        },
      },
      schemas: { Problem: problemFormat.schema },
      headers: {
        RequestId: {
          description: 'names the request in the log; your own `x-request-id` when you sent one',
          schema: { type: 'string' },
        },
        RetryAfter: { description: 'in how many seconds to try again', schema: { type: 'integer' } },
      },
    },
  };
}

function openApiPath({ path, wildcard }: Route): string {
  return path.replace(/:(\w+)/g, '{$1}').replace('*', `{${wildcard?.name ?? 'rest'}}`);
}

function describeOperation(route: Route, server: OpenApiServer): object {
  const { id, tag, summary, description, body, access, area } = route;
  const hasOwnServer = area === 'instrumentation' && server.instrument !== server.base;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(hasOwnServer ? { servers: [{ url: server.instrument }] } : {}),
    security: securityOf(access),
    parameters: [...pathParameters(route), ...queryParameters(route.query), ...headerParameters(route)],
    ...(body === undefined ? {} : { requestBody: { required: body.doc.required, content: body.doc.content } }),
    responses: describeResponses(route),
  };
}

function securityOf({ kind }: Access): object[] {
  if (kind === 'public' || kind === 'ownOrigin') return [];
  if (kind === 'session') return [{ sessionCookie: [] }];
  return [kind === 'apiKey' ? { apiKey: [] } : { accessToken: [] }];
}

const parameterIds: Readonly<Record<string, IdKind>> = {
  appId: 'app',
  extensionPointId: 'extensionPoint',
  userId: 'user',
  guestId: 'guest',
  invitationId: 'invitation',
  tokenId: 'token',
  apiKeyId: 'apiKey',
  sessionId: 'session',
};

function pathParameters({ path, wildcard }: Route): object[] {
  const parameters = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const kind = parameterIds[name];
    const pattern = kind === undefined ? parameterPatterns[name] : idPattern(kind);
    const schema = { type: 'string', ...(pattern === undefined ? {} : { pattern }) };
    const value = (example as Readonly<Record<string, string>>)[name] ?? parameterExamples[name];
    return { name, in: 'path', required: true, schema, ...(value === undefined ? {} : { example: value }) };
  });
  if (wildcard === undefined) return parameters;
  const { name, description } = wildcard;
  return [
    ...parameters,
    { name, in: 'path', required: true, description, schema: { type: 'string' }, example: 'globex' },
  ];
}

/** Examples and patterns of path parameters that are not ids. */
const parameterExamples: Readonly<Record<string, string>> = { pluginName: 'median', number: '3', repository: 'median' };
const parameterPatterns: Readonly<Record<string, string>> = {
  pluginName: pluginNamePattern,
  number: '^[1-9][0-9]{0,14}$',
};

function queryParameters(query: TObject | undefined): object[] {
  return Object.entries((query?.properties ?? {}) as Record<string, TSchema & { description?: string }>).map(
    ([name, schema]) => ({
      name,
      in: 'query',
      required: false,
      ...(schema.description === undefined ? {} : { description: schema.description }),
      schema,
    }),
  );
}

function headerParameters({ requestHeaders = {} }: Route): object[] {
  return Object.entries(requestHeaders).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

function describeResponses(route: Route): Record<string, object> {
  const responses: Record<string, object> = {};
  for (const [status, success] of Object.entries(route.responses)) responses[status] = describeSuccess(success);
  const codes = Map.groupBy(errorCodesOf(route), (code) => errorCodes[code].status);
  for (const [status, sameStatus] of codes) {
    if (responses[status] !== undefined) continue;
    responses[status] = describeFailure(sameStatus, route.errorFormat ?? problemFormat);
  }
  return responses;
}

function describeSuccess({ description, schema, contentType, headers, example: value, orJson }: SuccessDoc): object {
  const media = contentType ?? (schema === undefined ? undefined : 'application/json');
  const content =
    media === undefined
      ? {}
      : {
          content: {
            [media]: {
              schema: schema ?? (media.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' }),
              ...(value === undefined ? {} : { example: value }),
            },
            ...(orJson === undefined ? {} : { 'application/json': orJson }),
          },
        };
  const headerDocs = Object.entries(headers ?? {}).map(([name, text]) => [
    name,
    { description: text, schema: { type: 'string' } },
  ]);
  return {
    description,
    headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' }, ...Object.fromEntries(headerDocs) },
    ...content,
  };
}

function describeFailure(codes: readonly ErrorCode[], format: ErrorFormat): object {
  const hasRetry = codes.some((code) => code === 'rate_limited' || code === 'unavailable');
  return {
    description: codes.map((code) => format.describe(code)).join('; '),
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(hasRetry ? { 'retry-after': { $ref: '#/components/headers/RetryAfter' } } : {}),
    },
    content: {
      [format.contentType]: {
        schema: format === problemFormat ? { $ref: '#/components/schemas/Problem' } : format.schema,
      },
    },
  };
}

/** Returns all error codes of a route: its own, and those that follow from its access, query and body. */
export function errorCodesOf({ access, query, body, errors = [], page }: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>();
  const isOwnOrigin = access.kind === 'ownOrigin' || access.kind === 'session';
  const takesToken = access.kind !== 'public' && !isOwnOrigin;
  if (takesToken) codes.add('missing_credentials').add('invalid_token');
  if (isOwnOrigin) codes.add('cross_site_request');
  if (access.kind === 'session') codes.add('not_signed_in');
  if (takesToken || access.kind === 'session') codes.add('rate_limited');
  if (access.kind === 'app' || access.kind === 'extensionPoint' || access.kind === 'repository') {
    codes.add('not_found').add('insufficient_scope').add('forbidden');
  }
  if (access.kind === 'user' && access.scope !== undefined) codes.add('insufficient_scope');
  if (access.kind === 'user' && access.userLevel === true) codes.add('forbidden');
  if (query !== undefined || takesToken) codes.add('invalid_request');
  for (const code of [...(body?.doc.errors ?? []), ...errors]) codes.add(code);
  if (page !== true) codes.add('internal');
  return [...codes].sort((a, b) => errorCodes[a].status - errorCodes[b].status);
}
