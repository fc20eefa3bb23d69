import { sql } from 'kysely';
import type { StoreFault } from '../../domain/housekeeping/ports.ts';
import type { Db } from './schema.ts';

/** How many faults of a kind are told. */
const maxFaults = 100;

/**
 * Looks for rows that contradict each other where no constraint of the schema keeps them apart. Each question is one statement,
 * so that it sees one moment, whoever writes meanwhile.
 */
export async function checkRows(db: Db): Promise<StoreFault[]> {
  const [bindings, guests, plugins, bytes] = await Promise.all([
    foreignBindings(db),
    versionsOfForeignGuests(db),
    pluginsWithoutNewest(db),
    pluginsOfOtherBytes(db),
  ]);
  return [...bindings, ...guests, ...plugins, ...bytes];
}

/** Bindings whose version, the bound or the pinned one, is another plugin's, or bound without being published. */
async function foreignBindings(db: Db): Promise<StoreFault[]> {
  const { rows } = await sql<{ guest: string; name: string; version: string; state: string; own: number }>`
    select b.guest_id as guest, b.name as name, v.id as version, v.state as state,
      v.extension_point_id = b.extension_point_id and v.user_id = b.user_id and v.name = b.name as own
    from bindings b join versions v on v.id in (b.version_id, b.pinned_version_id)
    where v.extension_point_id <> b.extension_point_id or v.user_id <> b.user_id or v.name <> b.name
      or (v.id = b.version_id and v.state <> 'published' and not exists (
        select 1 from plugins p where p.extension_point_id = b.extension_point_id and p.user_id = b.user_id
          and p.name = b.name and p.pending_rebind_json is not null))
    limit ${sql.lit(maxFaults)}
  `.execute(db);
  return rows.map(({ guest, name, version, state, own }) => ({
    subject: `binding ${name} of ${guest}`,
    detail: own ? `binds ${version}, which is ${state}` : `names ${version}, which is another plugin's`,
  }));
}

/** Versions that are said to be published under a guest of another application. */
async function versionsOfForeignGuests(db: Db): Promise<StoreFault[]> {
  const { rows } = await sql<{ version: string; guest: string }>`
    select v.id as version, g.id as guest
    from version_guests vg join versions v on v.id = vg.version_id join guests g on g.id = vg.guest_id
    where g.app_id <> v.app_id
    limit ${sql.lit(maxFaults)}
  `.execute(db);
  return rows.map(({ version, guest }) => ({
    subject: `version ${version}`,
    detail: `is published under ${guest}, which is of another application`,
  }));
}

async function pluginsWithoutNewest(db: Db): Promise<StoreFault[]> {
  const { rows } = await sql<{ name: string; user: string; point: string; number: number }>`
    select p.name as name, p.user_id as user, p.extension_point_id as point, p.last_number as number
    from plugins p left join versions v on v.extension_point_id = p.extension_point_id and v.user_id = p.user_id
      and v.name = p.name and v.number = p.last_number
    join extension_points e on e.id = p.extension_point_id join apps a on a.id = e.app_id
    where v.id is null and p.deleted_at_ms is null and e.deleted_at_ms is null and a.deleted_at_ms is null
    limit ${sql.lit(maxFaults)}
  `.execute(db);
  return rows.map(({ name, user, point, number }) => ({
    subject: `plugin ${point}/plugin/${user}/${name}`,
    detail: `has no version ${number}, which is its newest`,
  }));
}

/** Plugins whose application or bytes, which quotas count, are not those of their extension point and versions. */
async function pluginsOfOtherBytes(db: Db): Promise<StoreFault[]> {
  const { rows } = await sql<{ name: string; user: string; point: string; bytes: number; sum: number }>`
    select p.name as name, p.user_id as user, p.extension_point_id as point, p.bytes as bytes,
      cast(coalesce(sum(v.size), 0) as bigint) as sum
    from plugins p left join versions v on v.extension_point_id = p.extension_point_id and v.user_id = p.user_id
      and v.name = p.name
    join extension_points e on e.id = p.extension_point_id join apps a on a.id = e.app_id
    where p.deleted_at_ms is null and e.deleted_at_ms is null and a.deleted_at_ms is null
    group by p.name, p.user_id, p.extension_point_id, p.bytes, p.app_id, e.app_id
    having p.bytes <> coalesce(sum(v.size), 0) or p.app_id <> e.app_id
    limit ${sql.lit(maxFaults)}
  `.execute(db);
  return rows.map(({ name, user, point, bytes, sum }) => ({
    subject: `plugin ${point}/plugin/${user}/${name}`,
    detail: `counts ${bytes} bytes for quotas, and its versions have ${sum}; or it counts for another application`,
  }));
}
