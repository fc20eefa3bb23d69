import { isPluginName, isSemver } from './names.ts';

/*
 * OCI allows neither upper case in the name of a repository, nor most sequences of separators, so some plugin names are encoded:
 * https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#pulling-manifests
 */

/** Names that are the same in OCI. */
const plainName = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/;

const escapedPrefix = 'x--';
const numberPrefix = 'y--';

/** Clients limit the name of a registry and a repository to 255 characters together. The ids before the plugin take 93. */
const maxComponentLength = 125;

const separators = '._-';

/** All characters of plugin names. The first one means nothing at the start of a number, so it must not be a character of a name. */
const alphabet = '\0._-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Returns the last component of a plugin's OCI repository. A name that OCI allows is unchanged. In another name, after `x--`, `-` and a
 * lower-case letter stand for the upper-case letter, and `-0`, `-1`, `-2` for `.`, `_`, `-`. If that is too long, the component is `y--` and
 * the name as a number in base 36.
 */
export function toOciName(pluginName: string): string {
  if (plainName.test(pluginName)) return pluginName;
  const escaped = escapedPrefix + pluginName.replaceAll(/[^a-z0-9]/g, escapeCharacter);
  if (escaped.length <= maxComponentLength) return escaped;
  let number = 0n;
  for (const character of pluginName) number = number * BigInt(alphabet.length) + BigInt(alphabet.indexOf(character));
  return numberPrefix + number.toString(36);
}

/** Returns the plugin name of a component; `undefined` for a text that {@link toOciName} doesn't return. */
export function fromOciName(component: string): string | undefined {
  if (component.length > maxComponentLength) return undefined;
  const name = decode(component);
  return isPluginName(name) && toOciName(name) === component ? name : undefined;
}

function decode(component: string): string {
  const rest = component.slice(escapedPrefix.length);
  if (component.startsWith(escapedPrefix))
    return rest.replaceAll(/-(.)/g, (_escape, unit: string) => unescapeUnit(unit));
  if (!component.startsWith(numberPrefix) || !/^[0-9a-z]+$/.test(rest)) return component;
  const base = BigInt(alphabet.length);
  let name = '';
  let number = 0n;
  for (const digit of rest) number = number * 36n + BigInt(Number.parseInt(digit, 36));
  for (; number > 0n; number /= base) name = (alphabet[Number(number % base)] ?? '') + name;
  return name;
}

function escapeCharacter(character: string): string {
  const separator = separators.indexOf(character);
  return `-${separator === -1 ? character.toLowerCase() : separator}`;
}

function unescapeUnit(unit: string): string {
  return /[a-z]/.test(unit) ? unit.toUpperCase() : (separators[Number(unit)] ?? '');
}

/** Returns the name of a plugin's OCI repository, without the registry. */
export function ociRepositoryOf(appId: string, extensionPointId: string, userId: string, pluginName: string): string {
  return `${appId}/${extensionPointId}/${userId}/${toOciName(pluginName)}`;
}

/** How OCI clients name a version. */
export interface OciVersionNames {
  /** The registry and the repository. */
  readonly repository: string;
  /** `null` for a version that has no tag. */
  readonly tag: string | null;
  /** Of the manifest. */
  readonly digest: string;
}

/**
 * Returns the references that OCI clients take.
 *
 * @param isBlocked whether the plugin is blocked: then it has no tags
 */
export function ociReferencesOf(
  { repository, tag, digest }: OciVersionNames,
  isBlocked: boolean,
): { readonly byTag: string | undefined; readonly byDigest: string } {
  return {
    byTag: tag === null || isBlocked ? undefined : `${repository}:${tag}`,
    byDigest: `${repository}@${digest}`,
  };
}

/** Returns the OCI tags of a published version: its number, then its semantic version. */
export function ociTagsOf({ number, semver }: { readonly number: number; readonly semver: string | null }): string[] {
  return semver === null ? [String(number)] : [String(number), ociTagOfSemver(semver)];
}

/** Returns the OCI tag of a semantic version. Tags must not contain `+`, and semantic versions contain no `_`. */
export function ociTagOfSemver(semver: string): string {
  return semver.replace('+', '_');
}

/** Returns the version that a tag names, by its number or its semantic version; `undefined` for a tag of another form. */
export function parseOciTag(
  tag: string,
):
  | { readonly number: number; readonly semver: null }
  | { readonly number: undefined; readonly semver: string }
  | undefined {
  if (/^[1-9]\d{0,8}$/.test(tag)) return { number: Number(tag), semver: null };
  const semver = tag.replace('_', '+');
  return isSemver(semver) && ociTagOfSemver(semver) === tag ? { number: undefined, semver } : undefined;
}
