import { createHash, randomBytes } from 'node:crypto';
import {
  type ContentAddress,
  type ExtensionPointId,
  type GuestId,
  type MemberRole,
  newId,
  noProvenancePolicy,
} from '@tenon/protocol';
import type { AuditEventRecord } from '../../src/db/audit-records.ts';
import {
  type ApiKeyRecord,
  type AppRecord,
  type AuthorizationCodeRecord,
  type BindingRecord,
  type BoundRecord,
  type DeviceGrantRecord,
  type ExtensionPointRecord,
  type GuestRecord,
  type GuestUserRecord,
  type HeldGuest,
  type InvitationRecord,
  type KnownBrowserRecord,
  noLimits,
  type OneTimeLinkRecord,
  type PasswordRecord,
  type PluginKey,
  type SessionRecord,
  type TokenRecord,
  type UserRecord,
  type VersionRecord,
} from '../../src/db/records.ts';
import type { SimulationRecord } from '../../src/db/simulation-records.ts';
import type { SimulationRunRecord } from '../../src/db/simulation-run-records.ts';
import type { BindingKey, Store, Transaction } from '../../src/db/store.ts';
import { unrestricted } from '../../src/db/trust-records.ts';

/** A time that is none of the defaults: milliseconds since the Unix epoch, with all of them significant. */
export const someTimeMs = Date.UTC(2026, 4, 17, 9, 30, 15, 123);

/** The address of some text's UTF-8. */
export function addressOf(text: string): ContentAddress {
  return createHash('sha256').update(text).digest('base64url') as ContentAddress;
}

/** Something that passes for the hash of a secret that no one else has. */
export function someHash(): string {
  return randomBytes(32).toString('base64url');
}

/** A version that was published at once; what isn't given is made up, and unlike any other. */
export function versionRecord(
  { extensionPointId, userId, name }: PluginKey,
  fields: Partial<VersionRecord> = {},
): VersionRecord {
  return {
    extensionPointId,
    userId,
    name,
    id: newId('version'),
    number: 1,
    contentAddress: addressOf(someHash()),
    size: 8,
    semver: null,
    note: null,
    createdAtMs: someTimeMs,
    state: 'published',
    stateReason: null,
    stateAtMs: someTimeMs,
    stateRole: null,
    verdict: 'none_configured',
    releaseAtMs: null,
    manifestDigest: null,
    provenance: 'absent',
    ...fields,
  };
}

/** A simulation with a test module, a mock host and a mock input. */
export function simulationRecord(
  extensionPointId: ExtensionPointId,
  fields: Partial<SimulationRecord> = {},
): SimulationRecord {
  return {
    id: newId('simulation'),
    extensionPointId,
    name: 'basics',
    revision: 1,
    testModule: addressOf(someHash()),
    testModuleSize: 8,
    mockHost: addressOf(someHash()),
    mockHostSize: 9,
    mockInputBase64: 'aGk=',
    fixturesJson: null,
    bytes: 19,
    createdAtMs: someTimeMs,
    updatedAtMs: someTimeMs,
    ...fields,
  };
}

/** A test that is due. */
export function simulationRunRecord(fields: Partial<SimulationRunRecord> = {}): SimulationRunRecord {
  return {
    id: newId('simulationRun'),
    versionId: newId('version'),
    userId: newId('user'),
    state: 'queued',
    verdict: null,
    detail: null,
    attempts: 0,
    createdAtMs: someTimeMs,
    dueAtMs: someTimeMs,
    startedAtMs: null,
    reportsJson: '[]',
    ...fields,
  };
}

/** Something that the operator did; what isn't given is made up, and unlike any other. */
export function auditEvent(fields: Partial<AuditEventRecord> = {}): AuditEventRecord {
  return {
    id: newId('auditEvent'),
    atMs: someTimeMs,
    action: 'app.update',
    appId: null,
    accountId: null,
    by: 'operator',
    userId: null,
    userName: null,
    viaId: null,
    viaName: null,
    address: null,
    targetId: newId('app'),
    targetName: null,
    details: {},
    guestKeys: null,
    ...fields,
  };
}

/** A claim that is neither pinned nor rolled back. */
export const unheld = {
  pinnedVersionId: null,
  pinnedNumber: null,
  selectedVersionId: null,
  selectedNumber: null,
} as const;

/** Puts records into a store and hands them back; what isn't given is made up, and unlike any other. */
/** A guest as the queries for its users return it. */
export function withoutTeamFields({ note, ring, ...held }: GuestRecord): HeldGuest {
  return held;
}

/** A credential that was not used, as lists have it. */
export function unused<Record extends object>(record: Record) {
  return { ...record, lastUsedAddress: null };
}

export function createRecords(store: Store) {
  const records = {
    async user(fields: Partial<UserRecord> = {}): Promise<UserRecord> {
      const user: UserRecord = {
        id: newId('user'),
        name: 'Ada',
        email: null,
        createdAtMs: someTimeMs,
        lastSeenAtMs: 0,
        suspendedAtMs: null,
        deletedAtMs: null,
        ...fields,
      };
      await store.write((tx) => tx.insertUser(user));
      return user;
    },

    async password(user: UserRecord, hash = `$argon2id$${someHash()}`): Promise<PasswordRecord> {
      const password = { userId: user.id, hash, updatedAtMs: someTimeMs };
      await store.write((tx) => tx.putPassword(password));
      return password;
    },

    async session(user: UserRecord, fields: Partial<SessionRecord> = {}): Promise<SessionRecord> {
      const session: SessionRecord = {
        id: newId('session'),
        userId: user.id,
        secretHash: someHash(),
        userAgent: 'Browser/1.0',
        address: '192.0.2.7',
        createdAtMs: someTimeMs,
        lastUsedAtMs: someTimeMs,
        expiresAtMs: someTimeMs + 1,
        confirmedAtMs: someTimeMs,
        passkeyId: null,
        ...fields,
      };
      await store.write((tx) => tx.insertSession(session));
      return session;
    },

    async knownBrowser(user: UserRecord): Promise<KnownBrowserRecord> {
      const browser = { secretHash: someHash(), userId: user.id, createdAtMs: someTimeMs };
      await store.write((tx) => tx.insertKnownBrowser(browser));
      return browser;
    },

    async oneTimeLink(fields: Partial<OneTimeLinkRecord> = {}): Promise<OneTimeLinkRecord> {
      const link: OneTimeLinkRecord = {
        id: newId('oneTimeLink'),
        purpose: 'set_up',
        codeHash: someHash(),
        userId: null,
        isForFirstUser: false,
        createdAtMs: someTimeMs,
        expiresAtMs: someTimeMs + 1,
        usedAtMs: null,
        ...fields,
      };
      await store.write((tx) => tx.insertOneTimeLink(link));
      return link;
    },

    async authorizationCode(
      user: UserRecord,
      fields: Partial<AuthorizationCodeRecord> = {},
    ): Promise<AuthorizationCodeRecord> {
      const code: AuthorizationCodeRecord = {
        codeHash: someHash(),
        userId: user.id,
        clientId: 'tenon-cli',
        redirectUri: 'http://127.0.0.1:49152/callback',
        codeChallenge: someHash(),
        scopes: ['read', 'publish'],
        deviceName: null,
        sessionId: null,
        createdAtMs: someTimeMs,
        expiresAtMs: someTimeMs + 1,
        tokenId: null,
        usedAtMs: null,
        ...fields,
      };
      await store.write((tx) => tx.insertAuthorizationCode(code));
      return code;
    },

    async deviceGrant(fields: Partial<DeviceGrantRecord> = {}): Promise<DeviceGrantRecord> {
      const grant: DeviceGrantRecord = {
        id: newId('deviceGrant'),
        deviceCodeHash: someHash(),
        userCodeHash: someHash(),
        clientId: 'tenon-cli',
        scopes: ['read', 'publish'],
        deviceName: null,
        address: '192.0.2.7',
        status: 'pending',
        userId: null,
        sessionId: null,
        createdAtMs: someTimeMs,
        expiresAtMs: someTimeMs + 1,
        ...fields,
      };
      await store.write((tx) => tx.insertDeviceGrant(grant));
      return grant;
    },

    async app(fields: Partial<AppRecord> = {}): Promise<AppRecord> {
      const times = { createdAtMs: someTimeMs, updatedAtMs: someTimeMs };
      const app = { id: newId('app'), name: 'App', requiresPasskey: false, ...times, ...fields };
      await store.write((tx) => tx.insertApp(app));
      return app;
    },

    async member(app: AppRecord, user: UserRecord, role: MemberRole = 'owner') {
      const member = { appId: app.id, userId: user.id, role, createdAtMs: someTimeMs };
      await store.write((tx) => tx.putMember(member));
      return member;
    },

    async extensionPoint(app: AppRecord, fields: Partial<ExtensionPointRecord> = {}): Promise<ExtensionPointRecord> {
      const extensionPoint: ExtensionPointRecord = {
        id: newId('extensionPoint'),
        appId: app.id,
        name: 'Point',
        schemaJson: '{"exports":{}}',
        requiresApproval: false,
        limits: noLimits,
        provenance: noProvenancePolicy,
        simulationsRevision: 0,
        minVersionAgeSeconds: 0,
        rollOut: null,
        imports: {},
        createdAtMs: someTimeMs,
        updatedAtMs: someTimeMs,
        ...fields,
      };
      await store.write((tx) => tx.insertExtensionPoint(extensionPoint));
      return extensionPoint;
    },

    async guest(app: AppRecord, guestKey: string = newId('guest')): Promise<GuestRecord> {
      const guest = {
        id: newId('guest'),
        appId: app.id,
        guestKey,
        label: null,
        note: null,
        ring: null,
        createdAtMs: someTimeMs,
      };
      await store.write((tx) => tx.insertGuest(guest));
      return guest;
    },

    async hold(guest: GuestRecord, user: UserRecord, acceptedAtMs = someTimeMs): Promise<GuestUserRecord> {
      const guestUser = { guestId: guest.id, userId: user.id, acceptedAtMs };
      await store.write((tx) => tx.putGuestUser(guestUser));
      return guestUser;
    },

    async invitation(
      guest: GuestRecord,
      createdBy: UserRecord,
      fields: Partial<InvitationRecord> = {},
    ): Promise<InvitationRecord> {
      const invitation: InvitationRecord = {
        id: newId('invitation'),
        appId: guest.appId,
        guestId: guest.id,
        role: null,
        codeHash: someHash(),
        status: 'pending',
        email: null,
        name: null,
        createdBy: createdBy.id,
        createdAtMs: someTimeMs,
        expiresAtMs: someTimeMs + 1,
        settledAtMs: null,
        signedUpUserId: null,
        ...fields,
      };
      await store.write((tx) => tx.insertInvitation(invitation));
      return invitation;
    },

    async version(key: PluginKey, fields: Partial<VersionRecord> = {}): Promise<VersionRecord> {
      const version = versionRecord(key, fields);
      await store.write((tx) => tx.insertVersion(version));
      return version;
    },

    /** A version under a guest, published there and bound. */
    async binding(version: VersionRecord, guestId: GuestId, updatedAtMs = someTimeMs): Promise<BoundRecord> {
      const { extensionPointId, userId, name, id: versionId, number: versionNumber, contentAddress } = version;
      const binding = { extensionPointId, userId, name, guestId, versionId, updatedAtMs };
      await store.write(async (tx) => {
        await putBinding(tx, binding);
        await tx.putVersionGuests(versionId, [guestId]);
      });
      return { ...binding, versionNumber, contentAddress, ...unheld };
    },

    async token(user: UserRecord, fields: Partial<TokenRecord> = {}): Promise<TokenRecord> {
      const token: TokenRecord = {
        id: newId('token'),
        userId: user.id,
        name: 'laptop',
        secretHash: someHash(),
        scopes: ['read', 'publish'],
        appId: null,
        sessionId: null,
        createdAtMs: someTimeMs,
        expiresAtMs: someTimeMs + 1,
        lastUsedAtMs: null,
        ...unrestricted,
        ...fields,
      };
      await store.write((tx) => tx.insertToken(token));
      return token;
    },

    async apiKey(user: UserRecord, fields: Partial<ApiKeyRecord> = {}): Promise<ApiKeyRecord> {
      const apiKey: ApiKeyRecord = {
        id: newId('apiKey'),
        userId: user.id,
        name: 'pipeline',
        secretHash: someHash(),
        tokenId: null,
        createdAtMs: someTimeMs,
        expiresAtMs: someTimeMs + 1,
        lastUsedAtMs: null,
        ...fields,
      };
      await store.write((tx) => tx.insertApiKey(apiKey));
      return apiKey;
    },

    /** An application with an owner, an extension point, and a guest that a publisher holds. */
    async stage() {
      const owner = await records.user({ name: 'Owner' });
      const publisher = await records.user({ name: 'Publisher' });
      const app = await records.app();
      await records.member(app, owner);
      const extensionPoint = await records.extensionPoint(app);
      const guest = await records.guest(app);
      await records.hold(guest, publisher);
      const key = (name: string, user = publisher): PluginKey => ({
        extensionPointId: extensionPoint.id,
        userId: user.id,
        name,
      });
      return { owner, publisher, app, extensionPoint, guest, key };
    },
  };
  return records;
}

export type Records = ReturnType<typeof createRecords>;

/** Claims a plugin's name under a guest, and has the claim bind a version, or none. */
export async function putBinding(
  tx: Transaction,
  binding: BindingKey & Pick<BindingRecord, 'versionId' | 'updatedAtMs'>,
): Promise<void> {
  const { extensionPointId, userId, name, guestId, versionId, updatedAtMs: nowMs } = binding;
  const key = { extensionPointId, userId, name };
  await tx.putBindingKeys(key, [guestId]);
  const [fact] = await tx.bindingFacts(key, { guestIds: [guestId] });
  if (fact === undefined || fact.versionId === versionId) return;
  await tx.moveBindings(key, [{ id: guestId, guestKey: fact.guestKey }], { versionId, nowMs, notifiesEachList: true });
}
