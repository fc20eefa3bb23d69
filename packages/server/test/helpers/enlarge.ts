import { join } from 'node:path';
import {
  type AppId,
  type ExtensionPointId,
  type GuestId,
  newId,
  noProvenancePolicy,
  type UserId,
} from '@tenon/protocol';
import { noLimits, type UserRecord, type VersionRecord } from '../../src/db/records.ts';
import { openSqliteStore } from '../../src/db/sqlite/store.ts';
import type { Store, Transaction } from '../../src/db/store.ts';
import { statements } from '../../src/queries.ts';
import { auditEvent, createRecords, versionRecord } from './records.ts';

/** How much an application and the accounts of its users have. */
export const counts = {
  guests: 10_000,
  plugins: 2_000,
  /** The bindings of one plugin. */
  bindings: 300,
  /** The guests that one user holds. */
  held: 3_000,
  versions: 300,
  awaitingApproval: 100,
  invitations: 2_000,
  users: 1_000,
  members: 200,
  extensionPoints: 200,
  apps: 200,
  credentials: 200,
  auditEvents: 10_000,
} as const;

/** The application to enlarge, its owner, and a guest who has published the plugin "mortgage" for the extension point. */
interface Acme {
  readonly owner: { readonly userId: string };
  readonly guest: { readonly userId: string };
  readonly app: { readonly id: string };
  readonly extensionPoint: { readonly id: string };
}

const nowMs = Date.now();
const dayMs = 86_400_000;
const note = 'Their contact is on leave until March. Renewal is in autumn. '.repeat(3);

/** A schema of about 20 kB: 40 exports. */
const largeSchema = JSON.stringify({
  version: 'v1-draft',
  exports: Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`evaluate_${at}`, { description: `Evaluates a cell. ${'x'.repeat(450)}` }]),
  ),
});

/** Enlarges a server's data, which no process may have open. */
export async function enlarge(dataDir: string, acme: Acme): Promise<void> {
  const store = await openSqliteStore(statements, { file: join(dataDir, 'tenon.db') });
  try {
    const inOne = (work: (tx: Transaction, records: ReturnType<typeof createRecords>) => Promise<void>) =>
      store.write((tx) => work(tx, createRecords({ ...store, write: (each) => each(tx) } as Store)));
    const [owner, guest] = await Promise.all(
      [acme.owner, acme.guest].map(({ userId }) => store.read.user(userId as UserId)),
    );
    const app = await store.read.app(acme.app.id as AppId);
    if (owner === undefined || guest === undefined || app === undefined) throw new Error('The application is missing');
    const guestIds: GuestId[] = [];
    await inOne(async (tx, records) => {
      const users: UserRecord[] = [];
      await repeat(counts.users, async (name) => {
        users.push(await records.user({ name: `User ${name}`, email: `user-${name}@customers.example` }));
      });
      for (const user of users.slice(0, counts.members)) await records.member(app, user, 'viewer');
      await repeat(counts.guests, async (name, at) => {
        const row = {
          id: newId('guest'),
          appId: app.id,
          guestKey: `customers/scale-${name}`,
          label: `Customer ${name}`,
          note,
          ring: null,
          createdAtMs: nowMs,
        };
        await tx.insertGuest(row);
        guestIds.push(row.id);
        await records.hold(row, users[at % users.length] ?? guest);
        if (at < counts.held) await records.hold(row, guest);
        const invitation = { name: `User ${name}`, email: `user-${name}@customers.example`, createdAtMs: nowMs };
        const isOpen = at < counts.invitations;
        await records.invitation(row, owner, {
          ...invitation,
          status: isOpen ? 'pending' : 'accepted',
          expiresAtMs: nowMs + dayMs,
          settledAtMs: isOpen ? null : nowMs,
        });
      });
    });
    await inOne((tx) => addPlugins(tx, acme, guestIds));
    await inOne(async (tx, records) => {
      for (const user of [owner, guest]) {
        await repeat(counts.apps, async (name) => {
          const other = await records.app({ name: `Sheet ${name}` });
          if (user === owner) await records.member(other, user);
          else await records.hold(await records.guest(other, 'customers/one'), user);
        });
        await repeat(counts.credentials, async (name) => {
          const times = { createdAtMs: nowMs, expiresAtMs: nowMs + dayMs };
          await records.token(user, { name: `laptop ${name}`, ...times });
          await records.apiKey(user, { name: `pipeline ${name}`, ...times });
          await records.session(user, { userAgent: 'Mozilla/5.0 (X11; Linux) Gecko/20100101', ...times });
        });
      }
      await repeat(counts.extensionPoints, (name) =>
        tx.insertExtensionPoint({
          id: newId('extensionPoint'),
          appId: app.id,
          name: `Cells ${name}`,
          schemaJson: largeSchema,
          requiresApproval: false,
          limits: noLimits,
          provenance: noProvenancePolicy,
          simulationsRevision: 0,
          minVersionAgeSeconds: 0,
          rollOut: null,
          imports: {},
          createdAtMs: nowMs,
          updatedAtMs: nowMs,
        }),
      );
      const base = { appId: app.id, by: 'user', userId: owner.id, userName: owner.name } as const;
      await tx.insertAuditEvents(
        Array.from({ length: counts.auditEvents }, (_, at) =>
          auditEvent({
            ...base,
            atMs: nowMs - at * 60_000,
            accountId: at % 2 === 0 ? owner.id : guest.id,
            ...(at % 50 === 0
              ? { action: 'extension_point.update', targetId: acme.extensionPoint.id, details: schemaChange(at) }
              : { targetId: app.id, targetName: app.name, details: { before: note, after: note } }),
          }),
        ),
      );
    });
  } finally {
    await store.close();
  }
}

/** The audited details of a change of the schema. */
function schemaChange(at: number) {
  const schema = (text: string) => ({ exports: { evaluate: { description: text.repeat(100) } } });
  return { before: { schema: schema(`text ${at}, `) }, after: { schema: schema(`texts ${at}, `) } };
}

/** Adds plugins of one user, a few bindings of each, and many versions and bindings of one. */
async function addPlugins(tx: Transaction, acme: Acme, guestIds: readonly GuestId[]): Promise<void> {
  const extensionPointId = acme.extensionPoint.id as ExtensionPointId;
  const key = (name: string) => ({ extensionPointId, userId: acme.guest.userId as UserId, name });
  const [published] = await tx.versions(key('mortgage'), { limit: 1 });
  if (published === undefined) throw new Error('The plugin has no version');
  const { contentAddress, size } = published;
  const publish = async (version: VersionRecord, guests: readonly GuestId[], isBound = true) => {
    await tx.insertVersion(version);
    await tx.putVersionGuests(version.id, guests);
    await tx.putBindingKeys(key(version.name), guests);
    if (!isBound) return;
    const keys = guests.map((id) => ({ id, guestKey: id }));
    await tx.moveBindings(key(version.name), keys, { versionId: version.id, nowMs, notifiesEachList: false });
  };
  await repeat(counts.plugins, (name, at) => {
    const awaits = at < counts.awaitingApproval;
    const state = awaits ? 'awaiting_approval' : 'published';
    const fields = { contentAddress, size, state, createdAtMs: nowMs, note: note.slice(0, 100) } as const;
    const guests = guestIds.slice(at, at + (awaits ? counts.bindings : 2));
    return publish(versionRecord(key(`plugin-${name}`), fields), guests, !awaits);
  });
  await repeat(counts.versions, (name, at) =>
    publish(
      versionRecord(key('mortgage'), {
        contentAddress,
        size,
        number: published.number + at + 1,
        semver: `2.${at}.0`,
        note: `Release ${name}. ${note}`.slice(0, 200),
        createdAtMs: nowMs,
      }),
      guestIds.slice(0, counts.bindings),
      at === counts.versions - 1,
    ),
  );
}

async function repeat(count: number, work: (name: string, at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < count; at++) await work(String(at + 1).padStart(5, '0'), at);
}
