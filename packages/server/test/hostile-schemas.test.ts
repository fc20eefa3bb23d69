import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createModuleWorkers } from '../src/instrument/module-workers.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { makeWorld, type World } from './helpers/world.ts';

const brackets = `a: ${'['.repeat(50_000)}`;

/** Texts of up to 250 KB that take a YAML parser long, or take it deep. */
const texts: Record<string, string> = {
  'flow collections in each other': brackets,
  'blocks in each other': Array.from({ length: 600 }, (_, at) => `${' '.repeat(at)}a:`).join('\n'),
  'many keys': Array.from({ length: 7_000 }, (_, at) => `k${at}: 1`).join('\n'),
  'many tags': Array.from({ length: 6_000 }, (_, at) => `k${at}: !t${at} x`).join('\n'),
  'keys of keys': '? '.repeat(10_000),
  'lists in each other': `a:\n${'- '.repeat(10_000)}`,
  'many documents': '---\n'.repeat(50_000),
  'many aliases': `a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${new Array(10).fill(`*a${at}`).join(',')}]`).join('\n')}`,
};

describe('hostile schemas', () => {
  let service: TestService;
  let world: World;
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
  });
  after(() => service.close());

  const tryIt = (schema: unknown) =>
    service.call('POST', `/api/v1/extension-points/${world.extensionPointId}/schema/trial`, {
      token: world.owner.token,
      json: { schema },
    });

  for (const [name, schema] of Object.entries(texts)) {
    it(`are rejected: ${name}`, async () => {
      assertProblem(await tryIt(schema), 422, 'invalid_field');
    });
  }

  it('are rejected as objects too, however deep', async () => {
    const deep = `{"schema":{"x-a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`;
    const answer = await service.call('POST', `/api/v1/extension-points/${world.extensionPointId}/schema/trial`, {
      token: world.owner.token,
      body: Buffer.from(deep),
      headers: { 'content-type': 'application/json' },
    });
    assertProblem(answer, 422, 'invalid_field');
  });

  it('have the same error messages as usual', async () => {
    const answer = await tryIt('exports:\n  greet:\n    input: 1\n');
    assertProblem(answer, 422, 'invalid_field');
    const [fault] = answer.json<{ errors: { pointer: string; detail: string }[] }>().errors;
    assert.equal(fault?.pointer, '/schema/exports/greet/input');
    assert.match(fault.detail, /^line 3, column 12: .*found a number/);
  });
});

describe('reading schemas', () => {
  /** Each change of an extension point, with a schema that the workers are asked to read. */
  const changes: [method: string, path: (world: World) => string][] = [
    ['POST', ({ appId }) => `/api/v1/apps/${appId}/extension-points`],
    ['PUT', ({ extensionPointId }) => `/api/v1/extension-points/${extensionPointId}`],
    ['POST', ({ extensionPointId }) => `/api/v1/extension-points/${extensionPointId}/schema/trial`],
  ];

  it("uses the pool's queue of the account, in another process", async () => {
    const asked: unknown[][] = [];
    const service = await openService({
      replace: ({ deps }) => ({
        deps: {
          ...deps,
          checker: {
            ...deps.checker,
            async readSchema(schema, jobOptions) {
              if (schema !== brackets) return deps.checker.readSchema(schema, jobOptions);
              asked.push([schema, jobOptions?.fairnessKey]);
              return { schemaJson: '{"exports":{"from-elsewhere":{}}}', warnings: [] };
            },
          },
        },
      }),
    });
    try {
      const world = await makeWorld(service);
      for (const [method, path] of changes) {
        const answer = await service.call(method, path(world), {
          token: world.owner.token,
          json: { name: 'Read elsewhere', schema: brackets },
        });
        // What the pool said stands: nothing here has looked at the text.
        assert.deepEqual(
          answer.json<{ schema: unknown }>().schema,
          { exports: { 'from-elsewhere': {} } },
          answer.payload,
        );
      }
      assert.deepEqual(asked, new Array(changes.length).fill([brackets, world.owner.id]));
    } finally {
      await service.close();
    }
  });

  it('is a task of a worker process', async () => {
    const tasks: string[] = [];
    const options = {
      moduleWorkers: 1,
      moduleQueue: 4,
      moduleWorkerMemoryMiB: 128,
      moduleTimeoutMs: 60_000,
      moduleTimeoutPerMiBMs: 0,
      trustedRoots: [],
    };
    const workers = createModuleWorkers(options, ({ kind }, outcome) => void tasks.push(`${kind} ${outcome}`));
    try {
      const read = await workers.readSchema('exports: [a]');
      assert.deepEqual(read, { schemaJson: '{"exports":{"a":{}}}', warnings: [] });
      await assert.rejects(workers.readSchema(brackets), {
        code: 'invalid_field',
        message: /nested more than 64 deep/,
      });
      assert.deepEqual(tasks, ['schema done', 'schema done']);
    } finally {
      await workers.close();
    }
  });
});
