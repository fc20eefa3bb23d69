/** The unpadded base64url SHA-256 of a plugin's bytes: 43 characters. The same bytes have the same address. */
export type ContentAddress = string & { readonly __brand: 'ContentAddress' };

/** A regular expression's source that a content address matches whole. */
export const contentAddressPattern = '^[A-Za-z0-9_-]{43}$';

const contentAddress = new RegExp(contentAddressPattern);

/** Whether a text is a well-formed content address. Says nothing on whether such bytes exist. */
export function isContentAddress(text: string): text is ContentAddress {
  return contentAddress.test(text);
}

/**
 * A regular expression's source that a plugin's name matches whole. Names such as `constructor` and `10` are legal, so what
 * is keyed by name is a `Map` or has a null prototype.
 */
export const pluginNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$';

const pluginName = new RegExp(pluginNamePattern);

/** Whether a text may name a plugin: 1 to 100 letters, digits, `.`, `_` and `-`, a letter or digit first. */
export function isPluginName(text: string): boolean {
  return pluginName.test(text);
}

/**
 * What a semantic version matches whole, as its specification suggests it:
 * https://semver.org/spec/v2.0.0.html#is-there-a-suggested-regular-expression-regex-to-check-a-semver-string
 */
const semverPattern =
  '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)' +
  '(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?' +
  '(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$';

const semver = new RegExp(semverPattern);

/** The most characters of a semantic version. */
export const maxSemverLength = 100;

/** Whether a text is a semantic version (SemVer 2.0.0) of 100 characters at the most. */
export function isSemver(text: string): boolean {
  return text.length <= maxSemverLength && semver.test(text);
}

/**
 * A regular expression's source (flag `u`) that a name for people matches: it has a visible character and no bidirectional control
 * (embedding, override, isolate), which reorders the text around it. Joiners inside a name are legal: scripts and emoji need them.
 */
export const displayNamePattern =
  '^(?=[\\s\\S]*[^\\s\\p{C}\\p{M}\\u115f\\u1160\\u2800\\u3164\\uffa0])[^\\u202a-\\u202e\\u2066-\\u2069]*$';

/** The most characters of a note or a reason. */
export const maxReasonLength = 500;

/** The most bytes that a guest key's UTF-8 may have. */
export const maxGuestKeyBytes = 512;

/**
 * What is wrong with a guest key, in words that complete "A guest key …"; `undefined` when nothing is.
 *
 * A guest key is 1 to 512 bytes of well-formed UTF-8 without C0 or C1 control characters, and none of its segments between
 * slashes is empty, `.` or `..` (URL parsers would take those away from a path).
 */
export function guestKeyFault(key: string): string | undefined {
  if (key === '') return 'must not be empty';
  if (!key.isWellFormed()) return 'must be well-formed Unicode (it has a lone surrogate)';
  if (new TextEncoder().encode(key).length > maxGuestKeyBytes)
    return `must be at most ${maxGuestKeyBytes} bytes of UTF-8`;
  if (/[\u0000-\u001f\u007f-\u009f]/.test(key)) return 'must not contain control characters';
  for (const segment of key.split('/')) {
    if (segment === '') return 'must not contain an empty segment between slashes, nor begin or end with a slash';
    if (segment === '.' || segment === '..') return 'must not contain a segment "." or ".."';
  }
  return undefined;
}

/** A plugin's id on the wire: `<extension_point_id>/plugin/<user_id>/<plugin_name>`. */
export function pluginId(extensionPointId: string, userId: string, name: string): string {
  return `${extensionPointId}/plugin/${userId}/${name}`;
}
