import type { Migration } from '../migrate.ts';

/** Restrictions of tokens, the rules of trusted publishing, and the identity tokens that were exchanged. */
export const trustedPublishing: Migration = {
  name: 'trusted publishing',
  async up(db, { text, bigint, json }) {
    await db.schema
      .createTable('trust_rules')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('userId', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('appId', text, (column) => column.notNull().references('apps.id').onDelete('cascade'))
      .addColumn('extensionPointId', text, (column) => column.references('extension_points.id').onDelete('cascade'))
      .addColumn('pluginName', text)
      .addColumn('guestId', text, (column) => column.references('guests.id').onDelete('cascade'))
      .addColumn('provider', text, (column) => column.notNull())
      .addColumn('issuer', text, (column) => column.notNull())
      .addColumn('claims', json, (column) => column.notNull())
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .addColumn('lastUsedAtMs', bigint)
      .execute();
    const index = (name: string) => db.schema.createIndex(name).on('trust_rules');
    await index('trust_rules_by_user').columns(['userId', 'id']).execute();
    await index('trust_rules_by_app').columns(['appId', 'id']).execute();
    await index('trust_rules_by_extension_point').column('extensionPointId').execute();
    await index('trust_rules_by_guest').column('guestId').execute();
    await index('trust_rules_by_issuer').columns(['issuer', 'id']).execute();
    await db.schema
      .createTable('used_id_tokens')
      .addColumn('key', text, (column) => column.notNull().primaryKey())
      .addColumn('expiresAtMs', bigint, (column) => column.notNull())
      .execute();
    await db.schema.createIndex('used_id_tokens_by_end').on('used_id_tokens').column('expiresAtMs').execute();
    // SQLite adds one column per statement.
    const tokens = db.schema.alterTable('tokens');
    await tokens
      .addColumn('extensionPointId', text, (column) => column.references('extension_points.id').onDelete('cascade'))
      .execute();
    await tokens.addColumn('pluginName', text).execute();
    await tokens.addColumn('guestId', text, (column) => column.references('guests.id').onDelete('cascade')).execute();
    await tokens.addColumn('networks', json).execute();
    await tokens
      .addColumn('trustRuleId', text, (column) => column.references('trust_rules.id').onDelete('cascade'))
      .execute();
    await tokens.addColumn('claims', json).execute();
    const indexOfTokens = (name: string) => db.schema.createIndex(name).on('tokens');
    await indexOfTokens('tokens_by_extension_point').column('extensionPointId').execute();
    await indexOfTokens('tokens_by_guest').column('guestId').execute();
    await indexOfTokens('tokens_by_trust_rule').columns(['trustRuleId', 'expiresAtMs']).execute();
  },
};
