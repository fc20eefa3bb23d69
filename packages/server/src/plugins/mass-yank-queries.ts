import type { AppId, TrustRuleId, UserId, VersionState } from '@tenon/protocol';
import type { AuditCredentialId } from '../db/audit-records.ts';
import { areOfSamePlugin, type Db, hasRow } from '../db/db.ts';
import { inChunks, paged, setOf } from '../db/page-queries.ts';
import type { Page } from '../db/query-types.ts';
import { columns, type TokenRecord, type VersionRecord } from '../db/records.ts';

/** Selects versions by how they were published. At least one of credential, rule, and publisher is given. */
export interface PublishSelection {
  /** Only in this application. */
  readonly appId?: AppId | undefined;
  readonly credentialId?: AuditCredentialId | undefined;
  readonly trustRuleId?: TrustRuleId | undefined;
  readonly userId?: UserId | undefined;
  /** The earliest time of the publish. */
  readonly sinceMs: number;
}

/** A version with its application, extension point, publisher, and credential. */
export type PublishedVersion = VersionRecord & {
  readonly appId: AppId;
  readonly appName: string;
  readonly extensionPointName: string;
  readonly userName: string;
  readonly credentialId: AuditCredentialId | null;
  readonly trustRuleId: TrustRuleId | null;
};

/** The states in which hosts have a version, or may get it without a decision of the team. */
export const offeredStates = ['published', 'cooling_down'] as const satisfies readonly VersionState[];

/** The states that a mass yank changes. */
const openStates = [...offeredStates, 'awaiting_approval', 'testing', 'failed'] as const;

export const massYankQueries = {
  /** Returns the selected versions, by id. */
  publishedVersions: (db: Db, selection: PublishSelection, page: Page): Promise<PublishedVersion[]> =>
    paged(selected(db, selection), 'versions.id', page).execute() as Promise<PublishedVersion[]>,

  /** Returns those of the selected versions that hosts have or may get, by id. */
  openVersions: (db: Db, selection: PublishSelection, limit: number): Promise<PublishedVersion[]> =>
    paged(selected(db, selection).where('versions.state', 'in', openStates), 'versions.id', {
      limit,
    }).execute() as Promise<PublishedVersion[]>,

  /** Whether a credential has published a version in an application. */
  hasPublished: (db: Db, appId: AppId, credentialId: AuditCredentialId): Promise<boolean> =>
    hasRow(
      db
        .selectFrom('versions')
        .select('id')
        .where('credentialId', '=', credentialId)
        .where('credentialId', 'is not', null)
        .where('appId', '=', appId),
    ),

  /** Returns the tokens that a rule of trusted publishing has issued, and that are still valid or kept. */
  tokensOfTrustRule: (db: Db, trustRuleId: TrustRuleId): Promise<TokenRecord[]> =>
    db.selectFrom('tokens').select(columns.tokens).where('trustRuleId', '=', trustRuleId).execute(),

  /** Returns other versions that hosts have or may get, and that have the bytes, publisher and extension point of one of the given. */
  async openCopies(db: Db, versions: readonly PublishedVersion[], limit: number): Promise<PublishedVersion[]> {
    if (versions.length === 0) return [];
    const keyOf = (one: Pick<VersionRecord, 'contentAddress' | 'userId' | 'extensionPointId'>) =>
      `${one.contentAddress} ${one.userId} ${one.extensionPointId}`;
    const [keys, known] = [new Set(versions.map(keyOf)), new Set(versions.map(({ id }) => id))];
    // Without joins, an index finds the rows whatever the planner knows of the tables.
    const candidates = await inChunks(versions, (chunk) =>
      db
        .selectFrom('versions')
        .select(['id', 'contentAddress', 'userId', 'extensionPointId', 'state'])
        .where('contentAddress', 'in', setOf(chunk.map(({ contentAddress }) => contentAddress)))
        .where('appId', 'in', setOf([...new Set(chunk.map(({ appId }) => appId))]))
        .where('userId', 'in', setOf([...new Set(chunk.map(({ userId }) => userId))]))
        .execute(),
    );
    const isOffered = ({ state }: { readonly state: VersionState }) => offeredStates.some((one) => one === state);
    const copies = candidates.filter((one) => isOffered(one) && keys.has(keyOf(one)) && !known.has(one.id));
    if (copies.length === 0) return [];
    const found = joined(db).where('versions.id', 'in', setOf(copies.slice(0, limit).map(({ id }) => id)));
    return found.execute() as Promise<PublishedVersion[]>;
  },
};

function joined(db: Db) {
  return db
    .selectFrom('versions')
    .innerJoin('plugins', (join) => join.on(areOfSamePlugin('plugins', 'versions')))
    .innerJoin('extension_points', 'extension_points.id', 'versions.extensionPointId')
    .innerJoin('apps', 'apps.id', 'versions.appId')
    .innerJoin('users', 'users.id', 'versions.userId')
    .select(columns.versions)
    .select(['versions.appId', 'versions.credentialId', 'versions.trustRuleId'])
    .select(['apps.name as appName', 'extension_points.name as extensionPointName', 'users.name as userName'])
    .where('plugins.deletedAtMs', 'is', null)
    .where('extension_points.deletedAtMs', 'is', null)
    .where('apps.deletedAtMs', 'is', null);
}

function selected(db: Db, { appId, credentialId, trustRuleId, userId, sinceMs }: PublishSelection) {
  let versions = joined(db).where('versions.createdAtMs', '>=', sinceMs);
  if (appId !== undefined) versions = versions.where('versions.appId', '=', appId);
  if (credentialId !== undefined) versions = versions.where('versions.credentialId', '=', credentialId);
  if (trustRuleId !== undefined) versions = versions.where('versions.trustRuleId', '=', trustRuleId);
  return userId === undefined ? versions : versions.where('versions.userId', '=', userId);
}
