import type { GuestId } from '@tenon/protocol';
import type { Queries } from '../../domain/ports.ts';
import { setOf } from './paging.ts';
import type { Db } from './schema.ts';

/** What decides what each of a plugin's claims binds, in one query: each version is found by an index, however many there are. */
export function bindingFactsQueries(db: Db): Pick<Queries, 'bindingFacts'> {
  return {
    async bindingFacts({ extensionPointId, userId, name }, { guestIds, after, limit } = {}) {
      let facts = db
        .selectFrom('plugins')
        .innerJoin('bindings', (join) =>
          join
            .onRef('bindings.extension_point_id', '=', 'plugins.extension_point_id')
            .onRef('bindings.user_id', '=', 'plugins.user_id')
            .onRef('bindings.name', '=', 'plugins.name'),
        )
        .innerJoin('guests', 'guests.id', 'bindings.guest_id')
        .leftJoin('versions as pinned', 'pinned.id', 'bindings.pinned_version_id')
        .leftJoin('versions as selected', 'selected.id', 'bindings.selected_version_id')
        .select((eb) => [
          'bindings.guest_id as guestId',
          'guests.guest_key as guestKey',
          'bindings.version_id as versionId',
          'bindings.updated_at_ms as updatedAtMs',
          'plugins.blocked_at_ms as blockedAtMs',
          'plugins.deleted_at_ms as deletedAtMs',
          'pinned.id as pinnedId',
          'pinned.state as pinnedState',
          'selected.state as selectedState',
          'selected.id as selectedId',
          'selected.number as selectedNumber',
          eb
            .selectFrom('versions')
            .innerJoin('version_guests', (join) =>
              join
                .onRef('version_guests.version_id', '=', 'versions.id')
                .onRef('version_guests.guest_id', '=', 'bindings.guest_id'),
            )
            .select('versions.id')
            .whereRef('versions.extension_point_id', '=', 'plugins.extension_point_id')
            .whereRef('versions.user_id', '=', 'plugins.user_id')
            .whereRef('versions.name', '=', 'plugins.name')
            .where('versions.state', '=', 'published')
            .orderBy('versions.number', 'desc')
            .limit(1)
            .as('newest'),
        ])
        .where('plugins.extension_point_id', '=', extensionPointId)
        .where('plugins.user_id', '=', userId)
        .where('plugins.name', '=', name)
        .orderBy('bindings.guest_id');
      if (guestIds !== undefined) facts = facts.where('bindings.guest_id', 'in', setOf(guestIds));
      if (after !== undefined) facts = facts.where('bindings.guest_id', '>', after as GuestId);
      const rows = await (limit === undefined ? facts : facts.limit(limit)).execute();
      return rows.map(({ guestId, guestKey, versionId, updatedAtMs, newest, ...row }) => ({
        guestId,
        guestKey,
        versionId,
        selectedVersionId: row.selectedId,
        selectedNumber: row.selectedNumber,
        updatedAtMs,
        isBlocked: row.blockedAtMs !== null || row.deletedAtMs !== null,
        pinned: row.pinnedId === null ? null : { id: row.pinnedId, isPublished: row.pinnedState === 'published' },
        selected: row.selectedState === 'published' ? row.selectedId : null,
        newest,
      }));
    },
  };
}
