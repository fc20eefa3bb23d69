import type { Static } from 'typebox';
import { dryRunQuery } from './dry-run.ts';
import { id, nullable, timestamp } from './fields.ts';
import { pluginNamePattern } from './names.ts';
import { pageQuery } from './pages.ts';
import { Type } from './type.ts';
import { reasonInput, versionSummary } from './versions.ts';

/* The response to a stolen credential: what it published, and one request that withdraws all of it. */

const selection = {
  credentialId: Type.Optional(
    Type.String({ maxLength: 100, description: 'published with this token or browser session, `tok_…` or `ses_…`' }),
  ),
  trustRuleId: Type.Optional(
    Type.String({ maxLength: 100, description: 'published with a token of this rule of trusted publishing' }),
  ),
  userId: Type.Optional(Type.String({ maxLength: 100, description: 'published by this user' })),
  since: Type.Optional(timestamp('published at this time or later; default: ever')),
};

export const publishedVersionQuery = Type.Object({ ...pageQuery.properties, ...selection });
export type PublishedVersionQuery = Static<typeof publishedVersionQuery>;

export const massYankQuery = Type.Object(dryRunQuery);

export const massYankInput = Type.Object({ ...selection, ...reasonInput.properties });
export type MassYankInput = Static<typeof massYankInput>;

/** A version, with how it was published. */
export const publishedVersion = Type.Object({
  pluginId: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  name: Type.String({ pattern: pluginNamePattern, description: "the plugin's name" }),
  app: Type.Object({ id: id('app', 'the application'), name: Type.String() }),
  extensionPoint: Type.Object({ id: id('extensionPoint', 'the extension point'), name: Type.String() }),
  user: Type.Object({ id: id('user', 'the publisher'), name: Type.String() }),
  version: versionSummary,
  credentialId: nullable(
    Type.String({ description: 'the token or session that published it; `null` for versions of earlier releases' }),
  ),
  trustRuleId: nullable(Type.String({ description: 'the rule of trusted publishing that issued the token' })),
});
export type PublishedVersion = Static<typeof publishedVersion>;

export const massYank = Type.Object({
  versions: Type.Array(publishedVersion, {
    description: 'the withdrawn versions, in their states before; the first 1,000',
  }),
  versionCount: Type.Integer({ description: 'how many versions are withdrawn' }),
  pluginCount: Type.Integer({ description: 'how many plugins they belong to' }),
  appCount: Type.Integer({ description: 'how many applications have these plugins' }),
  revoked: Type.Array(Type.String(), { description: 'the ids of the revoked tokens and sessions' }),
  isDryRun: Type.Boolean({ description: 'whether the request changed nothing' }),
});
export type MassYank = Static<typeof massYank>;
