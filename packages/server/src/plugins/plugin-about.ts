import { maxReadmeBytes, type PluginAbout, type PluginAboutInput, parseHomepage } from '@tenon/protocol';
import { changedFields } from '../audit/record.ts';
import type { Actor, ExtensionPointAccess } from '../auth/access.ts';
import type { Deps } from '../deps.ts';
import { DomainError, invalidField, notFound } from '../http/domain-errors.ts';
import { requirePublisherNotBlocked } from './blocked-publishers.ts';
import { changePlugin } from './plugin-changes.ts';
import { findPlugin, type PluginTarget } from './plugins.ts';

const nothing: PluginAbout = { description: null, homepage: null, readme: null };

/** Reads what a plugin's publisher says about it. @throws DomainError `not_found` */
export async function readPluginAbout(
  { store: { read } }: Pick<Deps, 'store'>,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PluginTarget,
): Promise<PluginAbout> {
  return (await read.pluginAbout(await findPlugin(read, actor, access, target))) ?? nothing;
}

/**
 * Changes what the publisher says about a plugin. Absent fields keep their values.
 *
 * @throws DomainError `not_found`, `forbidden` for others than the publisher, `plugin_blocked`, `invalid_field`
 */
export function changePluginAbout(
  deps: Deps,
  access: ExtensionPointAccess,
  target: PluginTarget,
  input: PluginAboutInput,
): Promise<PluginAbout> {
  const change = { ...input, ...(input.homepage != null && { homepage: requireHomepage(input.homepage) }) };
  if (input.readme != null && Buffer.byteLength(input.readme) > maxReadmeBytes) {
    throw invalidField('/readme', `must have at most ${maxReadmeBytes} bytes in UTF-8`);
  }
  return changePlugin(
    deps,
    access,
    target,
    async ({ tx, plugin, roles, recordAudit }) => {
      if (!roles.includes('publisher')) {
        throw new DomainError('forbidden', "Only the plugin's publisher can change this. The team can remove it.");
      }
      if (plugin.block !== null) throw new DomainError('plugin_blocked', 'The team has blocked the plugin.');
      requirePublisherNotBlocked(plugin.publisherBlock);
      const before = (await tx.pluginAbout(plugin)) ?? nothing;
      const after: PluginAbout = { ...before, ...change };
      const fields = Object.keys(changedFields(before, after));
      if (fields.length === 0) return undefined;
      await tx.setPluginAbout(plugin, after);
      await recordAudit('plugin.describe', { details: { fields } });
      return undefined;
    },
    async (read, key) => (await read.pluginAbout(key)) ?? nothing,
  );
}

function requireHomepage(text: string): string {
  const url = parseHomepage(text);
  if (url === undefined) throw invalidField('/homepage', 'must be an http or https URL without a user name');
  return url;
}

/** Removes what the publisher says about a plugin. For the publisher and the team. @throws DomainError `not_found` */
export async function removePluginAbout(deps: Deps, access: ExtensionPointAccess, target: PluginTarget): Promise<void> {
  await changePlugin(
    deps,
    access,
    target,
    async ({ tx, plugin, recordAudit }) => {
      const before = (await tx.pluginAbout(plugin)) ?? nothing;
      const fields = Object.keys(changedFields(before, nothing));
      if (fields.length === 0) throw notFound('description');
      await tx.setPluginAbout(plugin, nothing);
      await recordAudit('plugin.describe', { details: { fields } });
      return undefined;
    },
    async () => {},
  );
}
