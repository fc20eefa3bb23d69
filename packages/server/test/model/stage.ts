import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { checkInterface } from '@tenon/extension-schema/interface-check';
import {
  type AppId,
  type ContentAddress,
  type ExtensionPointId,
  type GuestId,
  newId,
  noProvenancePolicy,
  type UserId,
} from '@tenon/protocol';
import { inviteGuest, removeGuest, removeGuestUser } from '../../src/apps/guests.ts';
import { acceptInvitation } from '../../src/apps/invitations.ts';
import {
  type Actor,
  authorizeApp,
  authorizeExtensionPoint,
  type ExtensionPointAccess,
  type PermissionName,
} from '../../src/auth/access.ts';
import { toActor } from '../../src/auth/authenticate.ts';
import { authorizeContent } from '../../src/auth/content-access.ts';
import { makeToken } from '../../src/auth/tokens.ts';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import { createStoredContents } from '../../src/blobs/stored-contents.ts';
import { createCache } from '../../src/cache/cache.ts';
import { noLimits, type TokenRecord } from '../../src/db/records.ts';
import type { Store } from '../../src/db/store.ts';
import type { Deps } from '../../src/deps.ts';
import { DomainError } from '../../src/http/domain-errors.ts';
import { readBindings } from '../../src/plugins/bindings.ts';
import { blockPublisher, unblockPublisher } from '../../src/plugins/blocked-publishers.ts';
import { dryRun } from '../../src/plugins/dry-run.ts';
import { updateExtensionPoint } from '../../src/plugins/extension-points.ts';
import {
  blockPlugin,
  deletePlugin,
  pinBinding,
  rollBack,
  unblockPlugin,
  unpinBinding,
} from '../../src/plugins/host-control.ts';
import type { ModuleChecker } from '../../src/plugins/module-checker.ts';
import { publish } from '../../src/plugins/publish.ts';
import { releaseDueVersions } from '../../src/plugins/release-versions.ts';
import { decideVersion } from '../../src/plugins/versions.ts';
import { withEffects } from '../../src/with-effects.ts';
import { accountServices } from '../helpers/account-services.ts';
import { anyModule } from '../helpers/any-module.ts';
import {
  type Content,
  exportsOf,
  firstHolders,
  type GuestKey,
  guestKeys,
  type Operation,
  type Person,
  people,
} from './operations.ts';

/** The service as it is, but for the network and the files of plugins: the domain on a real store. */
export interface Stage {
  /** Begins a sequence: an extension point, guests and their holders that are untouched. */
  begin(): Promise<Sequence>;
}

export interface Sequence {
  /** Does what is asked; `undefined`, or the code of the refusal. */
  perform(operation: Operation, nowMs: number): Promise<string | undefined>;
  /** Dry runs an operation: the changes that it would make, or the code of the error. `undefined` if the operation has no dry run. */
  dryRun(operation: Operation, nowMs: number): Promise<readonly string[] | string | undefined>;
  /** The version that each plugin binds under each guest, by `<name> <guest_id>`. */
  bound(): Promise<ReadonlyMap<string, number | null>>;
  /** A2's answer for a guest key. */
  list(guest: GuestKey): Promise<{ readonly json: string; readonly etag: string }>;
  /** The guest keys whose lists had change events since the last call, once per event. */
  changes(): Promise<string[]>;
  /** Whether a person may read the bytes by their address. */
  mayRead(person: Person, content: Content): Promise<boolean>;
  pluginId(of: Person, name: string): string;
  addressOf(content: Content): ContentAddress;
}

/** Bytes are of no account here: none are kept. */
const noBlobs: BlobStore = {
  async put() {},
  size: async () => undefined,
  stat: async () => undefined,
  open: async () => undefined,
  delete: async () => false,
  async *list() {},
  deleteUnfinished: async () => 0,
  async ping() {},
  async pingWrite() {},
  async close() {},
};

/** Modules are no more than their names here, and the comparison with the schema is the real one. */
const checker: ModuleChecker = {
  ...anyModule,
  async check(bytes, demands) {
    const content = Number(Buffer.from(bytes).toString().split('/').at(-1)) as Content;
    const named = exportsOf[content].map((name) => ({ name, kind: 'function' as const }));
    const module = { sizeBytes: bytes.length, initialMemoryPages: 0, proposals: [], imports: [], exports: named };
    const mismatches = demands ? checkInterface(module, JSON.parse(demands.schemaJson), demands.limits) : [];
    return { interfaceJson: JSON.stringify(module), mismatches };
  },
};

export function openStage(bare: Store): Stage {
  let nowMs = 0;
  const store = withEffects(bare, {
    requiresAudit: false,
    changes: { clock: () => nowMs, random: randomBytes, keep: 1000 },
  });
  const deps: Deps = {
    store,
    blobs: noBlobs,
    contents: createStoredContents({ store, blobs: noBlobs }),
    checker,
    cache: createCache(store),
    clock: () => nowMs,
    random: randomBytes,
    ...accountServices(),
  };
  let sequences = 0;

  return {
    async begin() {
      const place = ++sequences;
      const { appId, extensionPointId, guestIds, actors } = await setUp(deps);
      const actor = (person: Person): Actor => actors.get(person) as Actor;
      const app = await authorizeApp(deps, actor('olga'), 'changeGuests', appId);
      const join = async (guest: GuestKey, person: Person): Promise<void> => {
        const invitation = { guestKey: guest, deliveryMethod: 'link' };
        const code = await inviteGuest(deps, actor('olga'), app, invitation);
        guestIds.set(guest, (await acceptInvitation(deps, actor(person), code)).guest?.id as GuestId);
      };

      const bytesOf = (content: Content) => Buffer.from(`${place}/${content}`);
      const guestId = (key: GuestKey) => guestIds.get(key) as GuestId;
      const at = (person: Person, purpose: PermissionName) =>
        authorizeExtensionPoint(deps, actor(person), purpose, extensionPointId);
      const parts: Parts = { deps, actor, at, guestId, bytesOf, join, appId };
      const access = await at('olga', 'readBindings');
      let reported = 0;
      return {
        async perform(operation, atMs) {
          nowMs = atMs;
          return codeOf(async () => void (await performOn(parts, operation)));
        },
        async dryRun(operation, atMs) {
          if (!dryRunKinds.has(operation.kind)) return undefined;
          nowMs = atMs;
          return codeOf(async () => {
            const { bindings } = await dryRun(deps, (trial) => performOn({ ...parts, deps: trial }, operation));
            return bindings
              .filter((one) => one.before !== one.after)
              .map(({ pluginName, guestId, before, after }) => changeText(`${pluginName} ${guestId}`, before, after));
          });
        },
        async bound() {
          const ofGuests = [...guestIds.values()].map((id) => store.read.bindingsOfGuest(id, {}));
          const bindings = (await Promise.all(ofGuests)).flat();
          return new Map(bindings.map(({ name, guestId, versionNumber }) => [`${name} ${guestId}`, versionNumber]));
        },
        list: (guest) => readBindings(deps, access, guest),
        async changes() {
          const changes = await store.read.changes(appId, reported, 1000);
          for (const { serial } of changes) assert.equal(serial, ++reported, 'news is numbered without a gap');
          return changes.map(({ guestKey }) => String(guestKey));
        },
        async mayRead(person, content) {
          return authorizeContent(deps, actor(person), addressOf(bytesOf(content))).then(
            () => true,
            () => false,
          );
        },
        pluginId: (of, name) => `${extensionPointId}/plugin/${actor(of).userId}/${name}`,
        addressOf: (content) => addressOf(bytesOf(content)),
      };
    },
  };
}

const dryRunKinds: ReadonlySet<Operation['kind']> = new Set([
  'decide',
  'rollBack',
  'pin',
  'unpin',
  'block',
  'unblock',
  'delete',
  'blockPublisher',
  'unblockPublisher',
] as const);

/** A change of a binding, as text. */
export function changeText(binding: string, before: number | null, after: number | null): string {
  return `${binding}: ${before} becomes ${after}`;
}

async function codeOf<T>(run: () => Promise<T>): Promise<T | string> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}

/** People, and an application of Olga's with all that a sequence begins with, in one transaction. */
async function setUp(deps: Deps) {
  const [appId, extensionPointId] = [newId('app'), newId('extensionPoint')];
  const tokens = new Map(people.map((person) => [person, makeToken(deps, newId('user'), tokenFields).record]));
  const idOf = (person: Person): UserId => (tokens.get(person) as TokenRecord).userId;
  const guestIds = new Map(guestKeys.map((key) => [key, newId('guest')]));
  const made = { createdAtMs: 0, updatedAtMs: 0 };
  await deps.store.write(async (tx) => {
    for (const [name, token] of tokens) {
      await tx.insertUser({
        id: token.userId,
        name,
        email: null,
        createdAtMs: 0,
        lastSeenAtMs: 0,
        suspendedAtMs: null,
        deletedAtMs: null,
      });
      await tx.insertToken(token);
    }
    await tx.insertApp({ id: appId, name: 'App', requiresPasskey: false, ...made });
    await tx.putMember({ appId, userId: idOf('olga'), role: 'owner', createdAtMs: 0 });
    const settings = {
      schemaJson: '{"exports":{}}',
      requiresApproval: false,
      limits: noLimits,
      provenance: noProvenancePolicy,
      simulationsRevision: 0,
      minVersionAgeSeconds: 0,
      rollOut: null,
      imports: {},
    };
    await tx.insertExtensionPoint({ id: extensionPointId, appId, name: 'Point', ...settings, ...made });
    for (const [guestKey, id] of guestIds)
      await tx.insertGuest({ id, appId, guestKey, label: null, note: null, ring: null, createdAtMs: 0 });
    for (const [key, person] of firstHolders) {
      await tx.putGuestUser({ guestId: guestIds.get(key) as GuestId, userId: idOf(person), acceptedAtMs: 0 });
    }
  });
  const actors = new Map(
    [...tokens].map(([person, token]): [Person, Actor] => [person, toActor({ ...token, passkeyId: null })]),
  );
  return { appId, extensionPointId, guestIds, actors };
}

const tokenFields = {
  name: 'test',
  scopes: ['read', 'publish', 'manage'],
  appId: null,
  expiresAtMs: Number.MAX_SAFE_INTEGER,
} as const;

interface Parts {
  readonly deps: Deps;
  readonly appId: AppId;
  actor(person: Person): Actor;
  at(
    person: Person,
    purpose: PermissionName,
  ): Promise<ExtensionPointAccess & { readonly extensionPoint: { readonly id: ExtensionPointId } }>;
  guestId(key: GuestKey): GuestId;
  bytesOf(content: Content): Buffer;
  join(guest: GuestKey, person: Person): Promise<void>;
}

/** Lets the person in as the route does, then calls the use case that the route calls. */
async function performOn(
  { deps, appId, actor, at, guestId, bytesOf, join }: Parts,
  operation: Operation,
): Promise<unknown> {
  const target =
    'name' in operation && 'of' in operation ? { userId: actor(operation.of).userId, name: operation.name } : undefined;
  const plugin = () => target as NonNullable<typeof target>;
  switch (operation.kind) {
    case 'publish': {
      const { by, name, guest, content } = operation;
      const to = { userId: actor(by).userId, name, guestId: guest === null ? undefined : guestId(guest) };
      return publish(deps, actor(by), await at(by, 'publish'), to, { bytes: bytesOf(content) });
    }
    case 'decide': {
      const { by, number, action } = operation;
      const isHosts = action === 'approve' || action === 'reject' || action === 'release';
      const access = await at(by, isHosts ? 'decideOnPlugins' : 'changePlugins');
      return decideVersion(deps, access, plugin(), String(number), action, 'why');
    }
    case 'rollBack':
      return rollBack(deps, await at(operation.by, 'changePlugins'), plugin(), operation.number);
    case 'pin':
    case 'unpin': {
      const access = await at(operation.by, 'decideOnPlugins');
      const binding = { guestId: guestId(operation.guest), name: operation.name };
      if (operation.kind === 'unpin') return unpinBinding(deps, access, binding);
      return pinBinding(deps, access, binding, operation.number);
    }
    case 'block':
      return blockPlugin(deps, await at(operation.by, 'decideOnPlugins'), plugin(), 'why');
    case 'unblock':
      return unblockPlugin(deps, await at(operation.by, 'decideOnPlugins'), plugin());
    case 'delete':
      return deletePlugin(deps, await at(operation.by, 'changePlugins'), plugin());
    case 'removeGuest':
    case 'removeUser': {
      const access = await authorizeApp(deps, actor('olga'), 'changeGuests', appId);
      if (operation.kind === 'removeGuest') return removeGuest(deps, access, guestId(operation.guest));
      return removeGuestUser(deps, access, guestId(operation.guest), actor(operation.user).userId);
    }
    case 'blockPublisher':
    case 'unblockPublisher': {
      const access = await authorizeApp(deps, actor(operation.by), 'decideOnPlugins', appId);
      const { userId } = actor(operation.of);
      if (operation.kind === 'blockPublisher') return blockPublisher(deps, access, userId, 'why');
      return unblockPublisher(deps, access, userId);
    }
    case 'wait':
      return releaseDueVersions(deps);
    case 'join':
      return join(operation.guest, operation.user);
    case 'settings':
    case 'schema': {
      const access = await at('olga', 'changeExtensionPoints');
      const { kind, ...fields } = operation;
      return updateExtensionPoint(
        deps,
        access,
        'exported' in fields ? { schema: { exports: { [fields.exported]: {} } } } : fields,
      );
    }
  }
}

function addressOf(bytes: Uint8Array): ContentAddress {
  return createHash('sha256').update(bytes).digest('base64url') as ContentAddress;
}
