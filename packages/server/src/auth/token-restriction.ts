import type { OwnPlugin, UserId } from '@tenon/protocol';
import type { TokenRestriction } from '../db/trust-records.ts';
import { DomainError } from '../http/domain-errors.ts';

/*
 * What a token that is restricted to one plugin or one guest may do. Everything that is not listed here is forbidden. Each request is
 * checked when it is authorized, and changes of plugins again in their transaction.
 */

/** The plugin in the path of a request. */
export interface PluginPath {
  readonly userId?: string | undefined;
  readonly pluginName?: string | undefined;
}

/** The permissions of tokens that are restricted to one plugin. They concern this plugin, or its extension point. */
const ofPlugin: ReadonlySet<string> = new Set(['readExtensionPoints', 'readPlugins', 'publish', 'changePlugins']);

/** The permissions of tokens that are restricted to one guest. Changes of a plugin would concern its other guests. */
const ofGuest: ReadonlySet<string> = new Set(['readExtensionPoints', 'readPlugins', 'publish']);

/** Returns the one plugin of a restriction. */
export function toOwnPlugin({ extensionPointId, pluginName }: TokenRestriction): OwnPlugin | null {
  return extensionPointId === null || pluginName === null ? null : { extensionPointId, name: pluginName };
}

/** Whether a token is restricted to one plugin or one guest. */
export function isRestricted({ extensionPointId, guestId }: TokenRestriction): boolean {
  return extensionPointId !== null || guestId !== null;
}

/**
 * Whether a request is within the restriction of its token.
 *
 * @param permission the name of the permission that the request needs
 * @param extensionPointId the extension point of the path
 * @param plugin the plugin of the path
 */
export function isWithinRestriction(
  actor: TokenRestriction & { readonly userId: UserId },
  permission: string,
  extensionPointId?: string,
  plugin: PluginPath = {},
): boolean {
  if (!isRestricted(actor)) return true;
  const { pluginName } = actor;
  const isListed = (pluginName === null ? ofGuest : ofPlugin).has(permission);
  const isOwnPoint =
    extensionPointId !== undefined && (pluginName === null || actor.extensionPointId === extensionPointId);
  const isOwnPlugin = plugin.userId === actor.userId && (pluginName === null || plugin.pluginName === pluginName);
  return isListed && isOwnPoint && (permission === 'readExtensionPoints' || isOwnPlugin);
}

/** @throws DomainError `forbidden` unless {@link isWithinRestriction} */
export function requireWithinRestriction(...request: Parameters<typeof isWithinRestriction>): void {
  if (!isWithinRestriction(...request)) throw outsideRestriction();
}

/**
 * Requires that a token may change a plugin. Call it in the transaction that makes the change.
 *
 * @throws DomainError `forbidden`
 */
export function requirePluginAllowed(
  { extensionPointId, pluginName, guestId }: TokenRestriction,
  permission: string,
  key: { readonly extensionPointId: string; readonly name: string },
): void {
  const isOwn = extensionPointId === null || (extensionPointId === key.extensionPointId && pluginName === key.name);
  if (isOwn && (guestId === null || ofGuest.has(permission))) return;
  throw outsideRestriction();
}

/**
 * Returns the guest that a publish is for.
 *
 * @param requested the guest that the request names
 * @throws DomainError `forbidden` if the token is restricted to another one
 */
export function guestWithinRestriction(
  { guestId }: TokenRestriction,
  requested: string | undefined,
): string | undefined {
  if (guestId === null) return requested;
  if (requested === undefined || requested === guestId) return guestId;
  throw new DomainError('forbidden', `The token is restricted to the guest ${guestId}.`);
}

/** The error for a request that the token's restriction to a plugin or a guest excludes. */
export function outsideRestriction(): DomainError {
  return new DomainError(
    'forbidden',
    'The token is restricted to one plugin or one guest, and this request needs a token without that restriction.',
  );
}
