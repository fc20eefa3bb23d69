import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import type { BindingList, ContentAddress, ExtensionPoint, SchemaTrial } from '@tenon/protocol';
import type { ExtensionPointAccess } from '../src/auth/access.ts';
import { DamagedContentError, type StoredContents } from '../src/blobs/stored-contents.ts';
import type { ModuleRequirements } from '../src/plugins/module-checker.ts';
import { trySchema } from '../src/plugins/schema-trial.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { wat } from './helpers/wat.ts';
import { makeGuest, makeWorld, ok, publishAs, tinyModule, type World } from './helpers/world.ts';

const api = '/api/v1';
const greeting = wat('(module (func (export "greet")) (func (export "count")))');

/** An extension point with a schema and limits. */
async function point(world: World, schema: unknown, limits?: unknown): Promise<string> {
  const path = `${api}/apps/${world.appId}/extension-points`;
  const json = { name: 'Checked', schema, limits };
  return (await ok<ExtensionPoint>(world.service, 'POST', path, { token: world.owner.token, json })).id;
}

function publish({ service, guest }: World, pointId: string, bytes: Buffer, name = 'plugin') {
  return service.call('PUT', `${api}/artifacts/${pointId}/plugin/${guest.id}/${name}`, {
    token: guest.token,
    body: bytes,
    headers: { 'content-type': 'application/wasm' },
  });
}

async function change({ service, owner }: World, pointId: string, json: unknown): Promise<void> {
  await ok(service, 'PUT', `${api}/extension-points/${pointId}`, { token: owner.token, json });
}

describe('PUT /api/v1/artifacts/… against a schema', () => {
  let service: TestService;
  let world: World;
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
  });
  after(() => service.close());

  it('accepts a module that fits', async () => {
    const id = await point(world, { exports: ['greet'], version: 'v1-draft', imports: ['kv_read'] });
    const fitting = wat(`(module
      (import "extism:host/user" "kv_read" (func (param i64) (result i64)))
      (import "extism:host/env" "alloc" (func (param i64) (result i64)))
      (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))
      (memory (export "memory") 1)
      (func (export "greet") (result i32) (i32.const 0)))`);
    assert.equal((await publish(world, id, fitting)).statusCode, 201);
  });

  it('lists all mismatches with the intended names, and binds nothing', async () => {
    const id = await point(world, { version: 'v1-draft', exports: ['greet', 'memory'], imports: ['kv_read'] });
    const unfit = wat(`(module
      (import "extism:host/user" "kv_raed" (func (param i64) (result i64)))
      (import "env" "abort" (func))
      (memory (export "memory") 1)
      (func (export "gret")))`);
    const found = assertProblem(await publish(world, id, unfit), 422, 'interface_mismatch');
    assert.deepEqual(found.errors, [
      { pointer: '/exports/greet', detail: 'The module does not export the function "greet"; it exports "gret".' },
      { pointer: '/exports/memory', detail: 'The module exports "memory" as a memory; it must be a function.' },
      {
        pointer: '/imports/extism:host~1user/kv_raed',
        detail:
          'The module imports "kv_raed" from "extism:host/user", which the extension point does not offer; did you mean "kv_read"?',
      },
      {
        pointer: '/imports/env/abort',
        detail: 'The module imports "abort" from "env", which the extension point does not offer.',
      },
    ]);
    assert.match(found.detail, /^The module does not fit the extension point\. .*"gret".* And 1 more\.$/);
    const list = `${api}/extension-points/${id}/bindings/${world.guestKey}`;
    assert.deepEqual(await ok<BindingList>(service, 'GET', list, { token: world.owner.token }), {});
  });

  it('does not check exports and imports that the schema omits', async () => {
    const id = await point(world, {});
    assert.equal((await publish(world, id, wat('(module (import "a" "b" (func)))'))).statusCode, 201);
  });

  it('checks modules against the limits, with the limits in the message', async () => {
    const simd = wat('(module (memory 3) (func (param v128)))');
    const limits = { maxModuleBytes: simd.length, maxInitialMemoryPages: 3, proposals: ['simd'] };
    const id = await point(world, {}, limits);
    assert.equal((await publish(world, id, simd)).statusCode, 201);
    for (const [limit, message] of [
      [{ maxModuleBytes: simd.length - 1 }, /bytes; the extension point allows/],
      [{ maxInitialMemoryPages: 2 }, /3 pages of 64 KiB at the start; the extension point allows at most 2/],
      [{ proposals: ['threads'] }, /the proposal "simd"/],
      [{ proposals: [] }, /the proposal "simd"/],
    ] as const) {
      await change(world, id, { limits: { ...limits, ...limit } });
      const found = assertProblem(await publish(world, id, simd, 'other'), 422, 'interface_mismatch');
      assert.equal(found.errors?.length, 1);
      assert.match(found.detail, message);
    }
    await change(world, id, { limits: { maxModuleBytes: null, maxInitialMemoryPages: null, proposals: null } });
    assert.equal((await publish(world, id, simd, 'other')).statusCode, 201);
  });

  it('forbids WASI if the extension point does', async () => {
    const wasi = wat('(module (import "wasi_snapshot_preview1" "proc_exit" (func (param i32))))');
    const id = await point(world, {}, { allowWasi: false });
    const found = assertProblem(await publish(world, id, wasi), 422, 'interface_mismatch');
    assert.equal(found.errors?.[0]?.pointer, '/imports/wasi_snapshot_preview1/proc_exit');
  });

  it('accepts the known WebAssembly proposals', async () => {
    const path = `${api}/extension-points/${world.extensionPointId}`;
    const json = { limits: { proposals: ['simdd'] } };
    const found = assertProblem(
      await service.call('PUT', path, { token: world.owner.token, json }),
      422,
      'invalid_field',
    );
    assert.equal(found.errors?.[0]?.pointer, '/limits/proposals/0');
    assert.match(found.errors?.[0]?.detail ?? '', /must be one of .*"simd"/);
  });

  it('rejects unknown limits', async () => {
    const { extensionPointId, owner, appId } = world;
    const json = { name: 'Misspelt', limits: { 'allowWasi/': false, maxBytes: 1 } };
    for (const [method, path] of [
      ['PUT', `${api}/extension-points/${extensionPointId}`],
      ['POST', `${api}/apps/${appId}/extension-points`],
      ['POST', `${api}/extension-points/${extensionPointId}/schema/trial`],
    ] as const) {
      const found = assertProblem(await service.call(method, path, { token: owner.token, json }), 422, 'invalid_field');
      const pointers = found.errors?.map(({ pointer }) => pointer);
      assert.deepEqual(pointers, ['/limits/allowWasi~1', '/limits/maxBytes'], path);
    }
  });

  it('rejects already published bytes if the schema has changed since', async () => {
    const id = await point(world, { exports: ['greet'] });
    assert.equal((await publish(world, id, greeting)).statusCode, 201);
    await change(world, id, { schema: { exports: ['greet', 'render'] } });
    assertProblem(await publish(world, id, greeting), 422, 'interface_mismatch');
  });
});

describe('PUT /api/v1/artifacts/… while the extension point changes', () => {
  /** A service in which something happens while a publish's module is being checked. */
  async function withCheck(during: (world: World, requirements: ModuleRequirements | undefined) => Promise<void>) {
    let world: World | undefined;
    const service = await openService({
      replace: ({ deps }) => ({
        deps: {
          ...deps,
          checker: {
            ...deps.checker,
            async check(bytes, requirements, jobOptions) {
              const checked = await deps.checker.check(bytes, requirements, jobOptions);
              if (world !== undefined) await during(world, requirements);
              return checked;
            },
          },
        },
      }),
    });
    const made = await makeWorld(service);
    world = made;
    return made;
  }

  it('checks again with the current schema', async () => {
    const seen: string[] = [];
    const world = await withCheck(async (its, requirements) => {
      seen.push(requirements?.schemaJson ?? '');
      if (seen.length === 1) await change(its, its.extensionPointId, { schema: { exports: ['render'] } });
    });
    try {
      assertProblem(await publish(world, world.extensionPointId, tinyModule(2)), 422, 'interface_mismatch');
      assert.deepEqual(seen, ['{"exports":{"evaluate":{}}}', '{"exports":{"render":{}}}']);
    } finally {
      await world.service.close();
    }
  });

  it('checks again for changed limits too, and for no other change', async () => {
    let checks = 0;
    const world = await withCheck(async (its) => {
      checks++;
      if (checks === 1) await change(its, its.extensionPointId, { name: 'Other' });
      if (checks === 2) await change(its, its.extensionPointId, { limits: { allowWasi: false } });
    });
    try {
      assert.equal((await publish(world, world.extensionPointId, tinyModule(2))).statusCode, 201);
      assert.equal(checks, 1);
      assert.equal((await publish(world, world.extensionPointId, tinyModule(3))).statusCode, 200);
      assert.equal(checks, 3);
    } finally {
      await world.service.close();
    }
  });

  it('fails if the schema keeps changing', async () => {
    let checks = 0;
    const world = await withCheck((its) =>
      change(its, its.extensionPointId, { limits: { maxModuleBytes: 1000 + ++checks } }),
    );
    try {
      assertProblem(await publish(world, world.extensionPointId, tinyModule(2)), 409, 'conflict');
      assert.equal(checks, 3);
    } finally {
      await world.service.close();
    }
  });
});

describe('POST /api/v1/extension-points/:extensionPointId/schema/trial', () => {
  let service: TestService;
  let world: World;
  const losses = new Set<ContentAddress>();
  before(async () => {
    service = await openService({
      replace: ({ deps }) => ({ deps: { ...deps, contents: losing(deps.contents, losses) } }),
    });
    world = await makeWorld(service);
  });
  after(() => service.close());

  const trial = (id: string, json: unknown, { token }: TestUser = world.owner) =>
    ok<SchemaTrial>(service, 'POST', `${api}/extension-points/${id}/schema/trial`, { token, json });
  const named = ({ objects }: SchemaTrial) => objects.map(({ name, version }) => `${name} ${version}`).sort();

  /** What a server of an earlier release has kept of its versions. */
  const forgetInterfaces = (): void => {
    const database = new DatabaseSync(join(service.dataDir, 'tenon.db'));
    database.exec('update versions set interfaceJson = null');
    database.close();
  };

  it('reports which bound plugins would break, where and why, and changes nothing', async () => {
    const id = await point(world, { exports: ['greet'] });
    await publish(world, id, greeting, 'both');
    await publish(world, id, wat('(module (func (export "greet")))'), 'one');
    const tried = await trial(id, { schema: 'exports: [greet, count]' });
    assert.deepEqual(tried.schema, { exports: { greet: {}, count: {} } });
    assert.deepEqual([tried.checked, tried.breaking, tried.unreadable], [2, 1, []]);
    assert.deepEqual(tried.objects, [
      {
        pluginId: `${id}/plugin/${world.guest.id}/one`,
        userName: 'Gustav',
        name: 'one',
        version: 1,
        guestIds: [world.guestId],
        hasMoreGuests: false,
        mismatches: [
          {
            code: 'missing_export',
            pointer: '/exports/count',
            detail: 'The module does not export the function "count".',
          },
        ],
        isBrokenAlready: false,
      },
    ]);
    const path = `${api}/extension-points/${id}`;
    const { schema } = await ok<ExtensionPoint>(service, 'GET', path, { token: world.owner.token });
    assert.deepEqual(schema, { exports: { greet: {} } });
  });

  it('tries limits, alone and together with a schema', async () => {
    const id = await point(world, { exports: ['greet'] }, { maxInitialMemoryPages: 5 });
    await publish(world, id, wat('(module (memory 5) (func (export "greet")))'), 'large');
    await publish(world, id, greeting, 'small');
    const tried = await trial(id, { limits: { maxInitialMemoryPages: 4 } });
    assert.deepEqual(named(tried), ['large 1']);
    assert.deepEqual([tried.limits.maxInitialMemoryPages, tried.limits.allowWasi], [4, true]);
    assert.equal((await trial(id, {})).breaking, 0);
    const both = await trial(id, { schema: { exports: ['render'] }, limits: { maxInitialMemoryPages: 4 } });
    assert.deepEqual(named(both), ['large 1', 'small 1']);
    assert.equal(both.objects.find(({ name }) => name === 'large')?.mismatches.length, 2);
  });

  it('checks only bound versions, and no yanked or replaced ones', async () => {
    const id = await point(world, {});
    const path = `${api}/artifacts/${id}/plugin/${world.guest.id}`;
    const bare = wat('(module)');
    await publish(world, id, bare, 'replaced');
    await publish(world, id, greeting, 'replaced');
    await publish(world, id, bare, 'yanked');
    const json = { reason: 'it is wrong' };
    await ok(service, 'POST', `${path}/yanked/versions/1/yank`, { token: world.guest.token, json });
    const tried = await trial(id, { schema: { exports: ['greet'] } });
    assert.deepEqual([tried.checked, tried.breaking], [1, 0]);
  });

  it('reports each guest under which a version is bound', async () => {
    const id = await point(world, {});
    const user = await service.user('Twain');
    const first = await makeGuest(service, world.owner, world.appId, 'twain/1', user);
    const second = await makeGuest(service, world.owner, world.appId, 'twain/2', user);
    await publishAs(service, user, id, 'twice', greeting);
    const { objects } = await trial(id, { schema: { exports: ['render'] } });
    assert.deepEqual(objects[0]?.guestIds.toSorted(), [first, second].sort());
  });

  it('distinguishes what is already broken from what the change would break', async () => {
    const id = await point(world, { exports: ['greet'] });
    await publish(world, id, greeting, 'fits');
    await publish(world, id, wat('(module (func (export "greet")))'), 'fits_not');
    await change(world, id, { schema: { exports: ['greet', 'count'] } });
    const { objects } = await trial(id, { schema: { exports: ['render'] } });
    assert.deepEqual(objects.map(({ name, isBrokenAlready }) => [name, isBrokenAlready]).sort(), [
      ['fits', false],
      ['fits_not', true],
    ]);
  });

  it('derives the interface of older versions from their bytes, and stores it', async () => {
    const id = await point(world, {});
    await publish(world, id, greeting, 'old');
    await publish(world, id, wat('(module (func (export "other")))'), 'older');
    forgetInterfaces();
    const schema = { exports: ['greet'] };
    assert.deepEqual(named(await trial(id, { schema })), ['older 1']);
    const kept = await service.services.deps.store.read.boundVersions(id as never, {});
    assert.ok(kept.every(({ interfaceJson }) => interfaceJson !== null));
    losses.add(kept[0]?.contentAddress as ContentAddress);
    assert.deepEqual(named(await trial(id, { schema })), ['older 1'], 'the bytes are not asked for again');
    losses.clear();
  });

  it('reports versions that could not be checked', async () => {
    const id = await point(world, {});
    await publish(world, id, greeting, 'lost');
    await publish(world, id, wat('(module (func (export "greet") (nop)))'), 'there');
    forgetInterfaces();
    const versions = await service.services.deps.store.read.boundVersions(id as never, {});
    losses.add(versions.find(({ name }) => name === 'lost')?.contentAddress as ContentAddress);
    const tried = await trial(id, { schema: { exports: ['greet'] } });
    losses.clear();
    assert.deepEqual([tried.checked, tried.breaking], [1, 0]);
    assert.deepEqual(
      tried.unreadable.map(({ name, detail }) => [name, detail]),
      [['lost', 'The bytes are missing or damaged.']],
    );
  });

  it('reports the first 1,000 versions that could not be checked, and that there are more', async () => {
    const id = await point(world, {});
    await publish(world, id, greeting, 'lost');
    const { deps } = service.services;
    const [version] = await deps.store.read.boundVersions(id as never, {});
    assert.ok(version);
    losses.add(version.contentAddress);
    const access = { extensionPoint: await deps.store.read.extensionPoint(id as never) } as ExtensionPointAccess;
    const tryWith = (bound: number) => {
      const pages = [...Array(Math.floor(bound / 100)).fill(100), bound % 100];
      const boundVersions = async () => Array(pages.shift()).fill({ ...version, interfaceJson: null });
      const read = Object.assign(Object.create(deps.store.read), { boundVersions });
      return trySchema({ ...deps, store: { ...deps.store, read } }, access, {});
    };
    const [all, cut] = [await tryWith(1000), await tryWith(1001)];
    losses.clear();
    assert.deepEqual([all.unreadable.length, all.hasMoreUnreadable], [1000, false]);
    assert.deepEqual([cut.unreadable.length, cut.hasMoreUnreadable], [1000, true]);
  });

  it('compares modules whose interface is too large to store', async () => {
    const id = await point(world, { exports: ['exported7'] });
    const exports = Array.from({ length: 4_000 }, (_, at) => `(export "exported${at}" (func 0))`).join(' ');
    await publish(world, id, wat(`(module (func) ${exports})`), 'wide');
    assert.equal((await trial(id, { schema: { exports: ['exported3999'] } })).breaking, 0);
    const [broken] = (await trial(id, { schema: { exports: ['exported4000'] } })).objects;
    assert.match(broken?.mismatches[0]?.detail ?? '', /it exports "exported400"/);
    assert.equal(broken?.isBrokenAlready, false);
  });

  it('checks more plugins than one batch', async () => {
    const id = await point(world, {});
    for (let number = 0; number < 101; number++) await publish(world, id, tinyModule(number), `p${number}`);
    const tried = await trial(id, { schema: { exports: ['render'] } });
    assert.deepEqual([tried.checked, tried.breaking, tried.objects.length], [101, 101, 101]);
    assert.equal(new Set(named(tried)).size, 101);
  });

  it('rejects an invalid schema, with every fault', async () => {
    const path = `${api}/extension-points/${world.extensionPointId}/schema/trial`;
    const json = { schema: 'exports:\n  a: {input: 1}\n  b-c: {}\n' };
    const response = await service.call('POST', path, { token: world.owner.token, json });
    assert.deepEqual(
      assertProblem(response, 422, 'invalid_field').errors?.map(({ pointer }) => pointer),
      ['/schema/exports/a/input', '/schema/exports/b-c'],
    );
  });
});

/** Contents of which some are lost. */
function losing(contents: StoredContents, losses: ReadonlySet<ContentAddress>): StoredContents {
  return {
    async find(address) {
      if (losses.has(address)) throw new DamagedContentError(address, 'missing');
      return contents.find(address);
    },
  };
}
