import {
  type BindingList,
  bindingList,
  isId,
  type Plugin,
  plugin as pluginSchema,
  version as versionSchema,
} from '@tenon/protocol';
import { path } from '../api.ts';
import { readVerified } from '../download.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { count, printable } from '../text.ts';
import { findPlugin, type PluginChoice } from './plugin-reference.ts';
import { type PluginSession, pluginExtensionPoint } from './plugin-session.ts';

/** A published module that hosts load, and where it comes from. */
export interface BoundModule {
  readonly bytes: Uint8Array;
  readonly contentAddress: string;
  /** The plugin's id. */
  readonly plugin: string;
  /** `undefined` for a binding list, which has no version numbers. */
  readonly version: number | undefined;
}

export interface BoundChoice extends PluginChoice {
  /** A name or an id; default: that of `tenon.toml`. */
  readonly plugin?: string | undefined;
  /** A guest key, for the application's team, or the id of a guest. */
  readonly guest?: string | undefined;
}

/**
 * Fetches the version of a plugin that hosts load: for a guest key from its binding list, as hosts do; else the version that is bound
 * under the guest, or under all guests of the plugin.
 *
 * @throws CliError `not_bound` without such a version
 */
export async function fetchBoundModule(session: PluginSession, choice: BoundChoice): Promise<BoundModule> {
  const { guest } = choice;
  if (guest !== undefined && !isId('guest', guest)) return fetchForGuestKey(session, choice, guest);
  const place = await findPlugin(session, choice, choice.plugin, 'publisher');
  const found = await session.api.get(place.path, pluginSchema);
  const number = boundVersion(found, guest);
  const { contentAddress } = await session.api.get(`${place.path}/versions/${number}`, versionSchema);
  const bytes = await download(session, `${place.path}/versions/${number}/content`, contentAddress);
  return { bytes, contentAddress, plugin: found.id, version: number };
}

async function fetchForGuestKey(session: PluginSession, choice: BoundChoice, guestKey: string): Promise<BoundModule> {
  const reference = choice.plugin ?? session.project?.settings.name;
  if (reference === undefined)
    throw usageError('No plugin is named.', 'Name it with --plugin. To list them: tenon bindings');
  const [extensionPoint, name] = await placeInList(session, choice, reference);
  const bindings: BindingList = await session.api.get(
    path`/api/v1/extension-points/${extensionPoint}/bindings/${guestKey}`,
    bindingList,
  );
  const binding = Object.hasOwn(bindings, name) ? bindings[name] : undefined;
  if (binding === undefined) {
    const names = Object.keys(bindings);
    throw new CliError(
      'not_bound',
      `No plugin "${printable(name)}" is bound to the guest key "${printable(guestKey)}".`,
      {
        exitCode: exitCodes.conflict,
        hint:
          names.length === 0
            ? 'No plugin is bound to it.'
            : `Bound to it: ${names.slice(0, 20).map(printable).join(', ')}`,
      },
    );
  }
  const { contentAddress, id } = binding;
  const bytes = await download(session, path`/api/v1/c/${contentAddress}`, contentAddress);
  return { bytes, contentAddress, plugin: id, version: undefined };
}

/** The extension point and the name, from a plugin's id or name. */
async function placeInList(session: PluginSession, choice: BoundChoice, reference: string): Promise<[string, string]> {
  if (!reference.includes('/')) return [await pluginExtensionPoint(session, choice), reference];
  const place = await findPlugin(session, choice, reference, 'team');
  return [place.extensionPoint, place.name];
}

/** @throws CliError unless exactly one version is bound */
function boundVersion({ name, status }: Plugin, guest: string | undefined): number {
  const bindings = status.bindings.filter(({ guestId }) => guest === undefined || guestId === guest);
  const versions = [...new Set(bindings.flatMap(({ version }) => (version === null ? [] : version)))];
  const [version] = versions;
  if (version === undefined) {
    const where = guest === undefined ? '' : ` under the guest ${guest}`;
    throw new CliError('not_bound', `No version of ${printable(name)} is bound${where}. ${printable(status.detail)}`, {
      exitCode: exitCodes.conflict,
      hint: "To call the module of the plugin's folder: --local",
    });
  }
  if (versions.length === 1) return version;
  const shown = bindings.slice(0, 20).map(({ guestId, version }) => `  ${guestId}  version ${version ?? 'none'}`);
  throw usageError(
    `${printable(name)} is bound in ${count(versions.length, 'version')}.`,
    ['Name a guest with --guest:', ...shown].join('\n'),
  );
}

async function download(session: PluginSession, from: string, contentAddress: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await readVerified(session, await session.api.download(from), contentAddress, (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
}
