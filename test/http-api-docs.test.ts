import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { buildOpenApi } from '@tenon/server';
import { rowsOfCode } from '../scripts/lib/reference-rows.mjs';
import { root } from './helpers/server.ts';

describe('docs/reference/http-api.md', () => {
  it('lists exactly the routes that the description of the interface has', () => {
    const page = readFileSync(join(root, 'docs', 'reference', 'http-api.md'), 'utf8');
    const listed = [...page.matchAll(/^\| `(GET|POST|PUT|DELETE|PATCH) (\S+)` \|/gm)].map(
      ([, method, path = '']) => `${method} ${path.replaceAll(/<\w+>/g, '*')}`,
    );
    const { paths } = buildOpenApi() as { paths: Record<string, object> };
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => ['get', 'post', 'put', 'delete', 'patch'].includes(method))
        .map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '*')}`),
    );
    assert.deepEqual(listed.sort(), described.sort());
  });
});

describe('docs', () => {
  it('has the rows that scripts/write-reference-rows.mjs writes', async () => {
    for (const [path, write] of Object.entries(await rowsOfCode())) {
      const page = readFileSync(join(root, path), 'utf8');
      assert.equal(write(page), page, path);
    }
  });
});
