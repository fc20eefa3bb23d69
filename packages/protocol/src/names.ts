/** The unpadded base64url SHA-256 of a plugin's bytes: 43 characters. The same bytes have the same address. */
export type ContentAddress = string & { readonly __brand: 'ContentAddress' };

/** The source of a regular expression that matches a content address. */
export const contentAddressPattern = '^[A-Za-z0-9_-]{43}$';

const contentAddress = new RegExp(contentAddressPattern);

/** Whether a text is a well-formed content address, which need not exist. */
export function isContentAddress(text: string): text is ContentAddress {
  return contentAddress.test(text);
}

/**
 * The source of a regular expression that matches a plugin name. Names such as `constructor` and `10` are valid, so use a `Map` or an
 * object without prototype for data keyed by name.
 */
export const pluginNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$';

const pluginName = new RegExp(pluginNamePattern);

/** Whether a text is a valid plugin name: 1 to 100 letters, digits, `.`, `_` and `-`; the first is a letter or digit. */
export function isPluginName(text: string): boolean {
  return pluginName.test(text);
}

/**
 * The regular expression that the specification of semantic versions suggests:
 * https://semver.org/spec/v2.0.0.html#is-there-a-suggested-regular-expression-regex-to-check-a-semver-string
 */
const semverPattern =
  '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)' +
  '(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?' +
  '(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$';

const semver = new RegExp(semverPattern);

/** The maximum length of a semantic version. */
export const maxSemverLength = 100;

/** Whether a text is a semantic version (SemVer 2.0.0) of at most {@link maxSemverLength} characters. */
export function isSemver(text: string): boolean {
  return text.length <= maxSemverLength && semver.test(text);
}

/**
 * The source of a regular expression (flag `u`) that matches a display name. It requires a visible character, and forbids bidirectional
 * controls (embedding, override, isolate), which reorder the surrounding text. Joiners are allowed, since scripts and emoji need them.
 */
export const displayNamePattern =
  '^(?=[\\s\\S]*[^\\s\\p{C}\\p{M}\\u115f\\u1160\\u2800\\u3164\\uffa0])[^\\u202a-\\u202e\\u2066-\\u2069]*$';

const displayName = new RegExp(displayNamePattern, 'u');

/** Whether a text is valid as a display name. Its maximum length depends on its use. */
export function isDisplayName(text: string): boolean {
  return displayName.test(text);
}

/** The maximum length of a note or a reason. */
export const maxReasonLength = 500;

/** The maximum lengths of the texts of an invitation and of its guest. */
export const invitationTextLengths = { name: 200, email: 320, label: 200, note: maxReasonLength } as const;

/** The maximum size of a guest key in UTF-8. */
export const maxGuestKeyBytes = 512;

/**
 * Returns the fault of a guest key as a phrase that completes "A guest key …"; `undefined` for a valid key.
 *
 * A guest key is 1 to 512 bytes of well-formed UTF-8 with a visible character and without control characters (C0, C1, bidirectional). No
 * segment between slashes may be empty, `.` or `..`, which URL parsers remove from a path.
 */
export function guestKeyFault(key: string): string | undefined {
  if (key === '') return 'must not be empty';
  if (!key.isWellFormed()) return 'must be well-formed Unicode (it has a lone surrogate)';
  if (new TextEncoder().encode(key).length > maxGuestKeyBytes)
    return `must be at most ${maxGuestKeyBytes} bytes of UTF-8`;
  if (/[\u0000-\u001f\u007f-\u009f]/.test(key)) return 'must not contain control characters';
  if (!displayName.test(key)) return 'must contain a visible character and no bidirectional control characters';
  for (const segment of key.split('/')) {
    if (segment === '') return 'must not contain an empty segment between slashes, nor begin or end with a slash';
    if (segment === '.' || segment === '..') return 'must not contain a segment "." or ".."';
  }
  return undefined;
}

/** Returns a plugin's id: `<extension_point_id>/plugin/<user_id>/<plugin_name>`. */
export function pluginId(extensionPointId: string, userId: string, name: string): string {
  return `${extensionPointId}/plugin/${userId}/${name}`;
}
