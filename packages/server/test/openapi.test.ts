import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorCodes } from '@tenon/protocol';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { errorCodesOf } from '../src/http/openapi.ts';
import { buildOpenApi, createOpenApiText } from '../src/openapi.ts';
import { allRoutes } from '../src/routes.ts';

interface Media {
  readonly schema: TSchema;
  readonly example?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly security: readonly Record<string, unknown>[];
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: TSchema; example?: unknown }[];
  readonly requestBody?: { readonly content: Record<string, Media> };
  readonly responses: Record<
    string,
    { readonly description: string; readonly headers: object; readonly content?: Record<string, Media> }
  >;
}

const document = buildOpenApi() as {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
};
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));

describe('buildOpenApi()', () => {
  it('describes every route once', () => {
    assert.match(document.openapi, /^3\.1\./);
    assert.equal(operations.length, allRoutes.length);
    assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, allRoutes.length);
  });

  it('names every parameter of every path', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters } of Object.values(methods)) {
        assert.deepEqual(
          parameters.filter((one) => one.in === 'path').map(({ name }) => name),
          named,
          path,
        );
      }
    }
  });

  it('gives examples that fit their schemas', () => {
    let count = 0;
    for (const { operationId, parameters, requestBody, responses } of operations) {
      const media = [requestBody, ...Object.values(responses)].flatMap((one) => Object.values(one?.content ?? {}));
      for (const { schema, example } of [...media, ...parameters]) {
        if (example === undefined) continue;
        const validator = Compile(schema);
        assert.ok(validator.Check(example), `${operationId}: ${JSON.stringify(validator.Errors(example))}`);
        count++;
      }
    }
    assert.ok(count > 60, `${count}`);
  });

  it('has an example for every JSON body and response except its own', () => {
    for (const { operationId, requestBody, responses } of operations) {
      if (operationId === 'readOpenApi') continue;
      const bodies = [
        requestBody,
        ...Object.entries(responses)
          .filter(([status]) => status < '300')
          .map(([, one]) => one),
      ];
      for (const body of bodies) {
        const json = body?.content?.['application/json'];
        if (json !== undefined) assert.notEqual(json.example, undefined, operationId);
      }
    }
  });

  it('describes what each route requires, and the resulting errors', () => {
    const schemes: Readonly<Record<string, string[]>> = {
      public: [],
      ownOrigin: [],
      session: ['sessionCookie'],
      apiKey: ['apiKey'],
    };
    for (const route of allRoutes) {
      const operation = operations.find(({ operationId }) => operationId === route.id);
      assert.ok(operation);
      assert.deepEqual(
        operation.security.flatMap(Object.keys),
        schemes[route.access.kind] ?? ['accessToken'],
        route.id,
      );
      for (const code of errorCodesOf(route))
        assert.ok(operation.responses[errorCodes[code].status], `${route.id}: ${code}`);
      if (operation.security.length > 0) assert.ok(operation.responses['401'], route.id);
      for (const { headers } of Object.values(operation.responses)) assert.ok('x-request-id' in headers, route.id);
    }
  });

  it('describes a server with only area B', () => {
    const { paths } = buildOpenApi({ only: 'instrument', base: 'https://x.example' }) as typeof document;
    assert.deepEqual(Object.keys(paths).sort(), [
      '/docs',
      '/docs/search.json',
      '/docs/{page}',
      '/healthz',
      '/instrument',
      '/openapi.json',
      '/readyz',
      '/reference/errors',
    ]);
  });
});

describe('createOpenApiText()', () => {
  it('creates the text once for each base URL', () => {
    let base = 'http://localhost:1';
    const text = createOpenApiText(undefined, { base: () => base, instrument: () => base });
    const first = text();
    assert.equal(text(), first, 'the very same bytes, however often a stranger asks');
    assert.deepEqual(JSON.parse(first.toString()), buildOpenApi({ base }));
    base = 'http://localhost:2';
    assert.deepEqual(JSON.parse(text().toString()), buildOpenApi({ base }));
  });
});
