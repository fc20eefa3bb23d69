import { sql } from 'kysely';
import type { StoreFault } from './blob-records.ts';
import type { Db } from './db.ts';

/** The maximum number of reported faults of each kind. */
const maxFaults = 100;

/** Finds contradictions between rows that no constraint of the schema prevents. Each check is one statement, so it sees one snapshot. */
export async function checkRows(db: Db): Promise<StoreFault[]> {
  const [bindings, guests, plugins, bytes] = await Promise.all([
    foreignBindings(db),
    versionsOfForeignGuests(db),
    pluginsWithoutNewestVersion(db),
    pluginsWithWrongTotals(db),
  ]);
  return [...bindings, ...guests, ...plugins, ...bytes];
}

/** Bindings whose bound or pinned version belongs to another plugin, and bindings that bind an unpublished version. */
async function foreignBindings(db: Db): Promise<StoreFault[]> {
  const { rows } = await sql<{ guest: string; name: string; version: string; state: string; own: number }>`
    select b."guestId" as guest, b.name as name, v.id as version, v.state as state,
      v."extensionPointId" = b."extensionPointId" and v."userId" = b."userId" and v.name = b.name as own
    from bindings b join versions v on v.id in (b."versionId", b."pinnedVersionId")
    where v."extensionPointId" <> b."extensionPointId" or v."userId" <> b."userId" or v.name <> b.name
      or (v.id = b."versionId" and v.state <> 'published' and not exists (
        select 1 from plugins p where p."extensionPointId" = b."extensionPointId" and p."userId" = b."userId"
          and p.name = b.name and p."pendingRebind" is not null))
    limit ${sql.lit(maxFaults)}
  `.execute(db);
  return rows.map(({ guest, name, version, state, own }) => ({
    subject: `binding ${name} of ${guest}`,
    detail: own ? `binds ${version}, which is ${state}` : `references ${version} of another plugin`,
  }));
}

/** Versions that are published under a guest of another application. */
async function versionsOfForeignGuests(db: Db): Promise<StoreFault[]> {
  const { rows } = await sql<{ version: string; guest: string }>`
    select v.id as version, g.id as guest
    from version_guests vg join versions v on v.id = vg."versionId" join guests g on g.id = vg."guestId"
    where g."appId" <> v."appId"
    limit ${sql.lit(maxFaults)}
  `.execute(db);
  return rows.map(({ version, guest }) => ({
    subject: `version ${version}`,
    detail: `is published under ${guest} of another application`,
  }));
}

async function pluginsWithoutNewestVersion(db: Db): Promise<StoreFault[]> {
  const { rows } = await sql<{ name: string; user: string; point: string; number: number }>`
    select p.name as name, p."userId" as user, p."extensionPointId" as point, p."lastNumber" as number
    from plugins p left join versions v on v."extensionPointId" = p."extensionPointId" and v."userId" = p."userId"
      and v.name = p.name and v.number = p."lastNumber"
    join extension_points e on e.id = p."extensionPointId" join apps a on a.id = e."appId"
    where v.id is null and p."deletedAtMs" is null and e."deletedAtMs" is null and a."deletedAtMs" is null
    limit ${sql.lit(maxFaults)}
  `.execute(db);
  return rows.map(({ name, user, point, number }) => ({
    subject: `plugin ${point}/plugin/${user}/${name}`,
    detail: `its newest version, ${number}, is missing`,
  }));
}

/** Plugins whose application or total size, which quotas use, differs from that of their extension point and versions. */
async function pluginsWithWrongTotals(db: Db): Promise<StoreFault[]> {
  const { rows } = await sql<{ name: string; user: string; point: string; bytes: number; sum: number }>`
    select p.name as name, p."userId" as user, p."extensionPointId" as point, p.bytes as bytes,
      cast(coalesce(sum(v.size + v."attestationBytes"), 0) as bigint) as sum
    from plugins p left join versions v on v."extensionPointId" = p."extensionPointId" and v."userId" = p."userId"
      and v.name = p.name
    join extension_points e on e.id = p."extensionPointId" join apps a on a.id = e."appId"
    where p."deletedAtMs" is null and e."deletedAtMs" is null and a."deletedAtMs" is null
    group by p.name, p."userId", p."extensionPointId", p.bytes, p."appId", e."appId"
    having p.bytes <> coalesce(sum(v.size + v."attestationBytes"), 0) or p."appId" <> e."appId"
    limit ${sql.lit(maxFaults)}
  `.execute(db);
  return rows.map(({ name, user, point, bytes, sum }) => ({
    subject: `plugin ${point}/plugin/${user}/${name}`,
    detail: `has wrong totals for quotas: ${bytes} bytes instead of ${sum}, or another application`,
  }));
}
