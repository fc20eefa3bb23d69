import type * as wire from '@tenon/protocol';
import { pluginId } from '@tenon/protocol';
import type { MassYanked } from './mass-yank.ts';
import type { PublishedVersion } from './mass-yank-queries.ts';
import { toVersionSummary } from './plugin-wire.ts';

export function toPublishedVersion(version: PublishedVersion): wire.PublishedVersion {
  const { appId, appName, extensionPointId, extensionPointName, userId, userName, name } = version;
  return {
    pluginId: pluginId(extensionPointId, userId, name),
    name,
    app: { id: appId, name: appName },
    extensionPoint: { id: extensionPointId, name: extensionPointName },
    user: { id: userId, name: userName },
    version: toVersionSummary(version),
    credentialId: version.credentialId,
    trustRuleId: version.trustRuleId,
  };
}

export function toMassYank({ versions, revoked, ...counts }: MassYanked, isDryRun: boolean): wire.MassYank {
  return { versions: versions.map(toPublishedVersion), ...counts, revoked: [...revoked], isDryRun };
}
