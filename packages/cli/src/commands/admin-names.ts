import { displayNamePattern } from '@tenon/protocol';
import { usageError } from '../errors.ts';

const maxNameLength = 200;

/** The API's own rule for names (`displayName` in the protocol), which nothing checks below it. */
export function assertName(name: string): string {
  if (name.length <= maxNameLength && new RegExp(displayNamePattern, 'u').test(name)) return name;
  throw usageError(
    `A name has 1 to ${maxNameLength} characters, of which one is visible, and no bidirectional control characters.`,
  );
}
